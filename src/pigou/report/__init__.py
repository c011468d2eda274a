"""The report of a run: one HTML page that needs nothing else, for people."""

from pigou.report.page import page, write

__all__ = ["page", "write"]
