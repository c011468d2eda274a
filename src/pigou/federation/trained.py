"""What a round of local training gives."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pigou.checks import FloatArray


@dataclass(frozen=True, eq=False)
class Trained:
    """The clients' models after their local steps, and their losses at the shared start."""

    models: NDArray[np.float32]  # (R, clients, dim)
    losses: FloatArray  # (R, clients): F_i where the round began
