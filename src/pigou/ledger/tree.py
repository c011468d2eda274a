"""A hash tree over a round's statements: one signature of its root signs every one of them.

The tree of RFC 6962: leaves and inner nodes are told apart by a first byte, and a node without a
partner moves up as it is. A path names, from the leaf up, the side and the hash of the other half.
"""

from collections.abc import Sequence
from hashlib import sha256

EMPTY = sha256(b"").hexdigest()
LEFT, RIGHT = "L", "R"


def leaf(content: bytes) -> bytes:
    """The hash of one leaf."""
    return sha256(b"\x00" + content).digest()


def levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """The tree, from the leaves up to the root."""
    tree = [list(leaves)]
    while len(tree[-1]) > 1:
        below = tree[-1]
        pairs = zip(below[0::2], below[1::2], strict=False)
        above = [_node(left, right) for left, right in pairs]
        if len(below) % 2:
            above.append(below[-1])
        tree.append(above)
    return tree


def root(tree: Sequence[Sequence[bytes]]) -> str:
    """The hash that stands for all leaves, in hexadecimal."""
    return tree[-1][0].hex() if tree[-1] else EMPTY


def paths(tree: Sequence[Sequence[bytes]]) -> list[tuple[str, ...]]:
    """The way from each leaf to the root."""
    found: list[tuple[str, ...]] = [()] * len(tree[-1])
    for level in reversed(tree[:-1]):
        halves = [half.hex() for half in level]
        below: list[tuple[str, ...]] = []
        for left, right, up in zip(halves[0::2], halves[1::2], found, strict=False):
            below += (RIGHT + right, *up), (LEFT + left, *up)
        if len(level) % 2:
            below.append(found[-1])  # no partner, no step
        found = below
    return found


def root_from(start: bytes, steps: Sequence[str]) -> str:
    """The root that a leaf and its path lead to; ValueError if the path is none."""
    here = start
    for step in steps:
        other = bytes.fromhex(step[1:])
        if step[0] not in (LEFT, RIGHT):
            raise ValueError(f"a path's step begins with {LEFT} or {RIGHT}")
        here = _node(other, here) if step[0] == LEFT else _node(here, other)
    return here.hex()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()
