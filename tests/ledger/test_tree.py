"""The hash tree: what RFC 6962 says it is, and paths that prove one leaf and no other."""

from hashlib import sha256

from hypothesis import given, settings
from hypothesis import strategies as st

from pigou.ledger import tree


def defined(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, word for word."""
    n = len(leaves)
    if n == 0:
        return sha256(b"").digest()
    if n == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while 2 * k < n:
        k *= 2
    return sha256(b"\x01" + defined(leaves[:k]) + defined(leaves[k:])).digest()


contents = st.lists(st.binary(max_size=5), max_size=40)


@given(contents)
@settings(deadline=None, max_examples=200)
def test_the_root_is_the_one_of_the_standard(leaves: list[bytes]) -> None:
    levels = tree.levels([tree.leaf(content) for content in leaves])
    assert tree.root(levels) == defined(leaves).hex()


@given(contents.filter(bool))
@settings(deadline=None, max_examples=100)
def test_each_path_leads_its_own_leaf_to_the_root(leaves: list[bytes]) -> None:
    hashed = [tree.leaf(content) for content in leaves]
    levels = tree.levels(hashed)
    paths = tree.paths(levels)
    assert len(paths) == len(leaves)
    for leaf, path in zip(hashed, paths, strict=True):
        assert tree.root_from(leaf, path) == tree.root(levels)
        assert len(path) <= len(levels) - 1
        for other in set(hashed) - {leaf}:
            assert tree.root_from(other, path) != tree.root(levels)


def test_a_node_is_no_leaf() -> None:
    """Else two statements could be passed off as one."""
    left, right = tree.leaf(b"a"), tree.leaf(b"b")
    assert tree.root(tree.levels([left, right])) != tree.leaf(left + right).hex()
