"""``python -m benchmarks [NAME …]``: run the benchmarks of this folder, or those named."""

import os
import platform
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
from benchmarks.table import Ratio, markdown

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"__main__", "table"}


def main(chosen: list[str]) -> int:
    """Print one table over all benchmarks; 2 if a name is not one of them, 0 otherwise."""
    known = sorted({path.stem for path in HERE.glob("*.py")} - NOT_BENCHMARKS)
    unknown = [name for name in chosen if name not in known]
    if unknown:
        print(
            f"benchmarks: no {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr
        )
        return 2
    rows: list[Ratio] = []
    for name in chosen or known:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += import_module(f"benchmarks.{name}").ratios()
    print(f"{machine()}\n\n{markdown(rows)}")
    return 0


def machine() -> str:
    """What the numbers were measured on; ratios move less with it than times do."""
    python = platform.python_version()
    cores = os.cpu_count()
    return f"Python {python}, NumPy {np.__version__}, {platform.machine()}, {cores} cores"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
