"""The tasks of the trained figures, prepared once per process."""

import warnings
from functools import cache

from pigou.federation.mnist_sources import fetch_mnist
from pigou.reproduce.part import Request
from pigou.reproduce.training_task import prepared
from pigou.runs import Ready

QUICK = Request(quick=True)


@cache
def on_digits() -> Ready:
    """The quick task."""
    return prepared(QUICK)


@cache
def on_mnist() -> Ready:
    """The full task; MNIST is fetched as users fetch it, if it is not there yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of sources that are out of reach
        fetch_mnist(None, None, print)
    return prepared(Request())
