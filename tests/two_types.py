"""Two-type models for tests: the paper's numbers, and random ones."""

from hypothesis import strategies as st
from tests.strategies import losses

from pigou import AccuracyLoss
from pigou.paper.two_types import TwoTypes

LOSS = AccuracyLoss.bound(16.0, 2.0)


def model(n: int = 10, eta: float = 0.3) -> TwoTypes:
    return TwoTypes(n, eta, 0.25, 0.75, LOSS, 0.5)


@st.composite
def models(draw: st.DrawFn, most: int = 60) -> TwoTypes:
    low = draw(st.floats(0.05, 0.9))
    return TwoTypes(
        draw(st.integers(3, most)),
        draw(st.floats(0.05, 0.95)),
        low,
        draw(st.floats(low + 0.02, 1.0)),
        draw(losses()),
        10.0 ** draw(st.floats(-2.0, 1.0)),
    )
