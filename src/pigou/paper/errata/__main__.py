"""``python -m pigou.paper.errata``: print docs/errata.md."""

import sys

from pigou.paper.errata import ERRATA, evidence
from pigou.paper.errata.page import markdown

if __name__ == "__main__":
    page = markdown(evidence(number) for number in ERRATA)
    sys.stdout.buffer.write(page.encode("utf-8"))
