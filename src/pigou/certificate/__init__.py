"""Check any outcome from outside, with code that shares nothing with its solver (section 7)."""

from pigou.certificate.certify import certify
from pigou.certificate.results import GAIN_TOLERANCE, Budget, Certificate, Deviation

__all__ = ["GAIN_TOLERANCE", "Budget", "Certificate", "Deviation", "certify"]
