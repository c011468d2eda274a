"""The paper as printed: its formulas, verbatim, and what is wrong with them (section 6)."""

from pigou.paper.pricing import PaperPricing

__all__ = ["PaperPricing"]
