"""The command line: one file per command."""

from pigou.cli.app import main

__all__ = ["main"]
