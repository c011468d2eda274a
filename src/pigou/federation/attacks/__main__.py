"""``python -m pigou.federation.attacks``: print the tables of docs/explanation/limits.md."""

import sys

from pigou.federation.attacks.tables import tables

if __name__ == "__main__":
    sys.stdout.buffer.write("\n\n".join([*tables(), ""]).encode("utf-8"))
