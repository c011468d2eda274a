"""Names of clients as names of folders."""

from collections.abc import Sequence


def folder_names(clients: Sequence[str]) -> list[str]:
    """Plain names, one per client, each of them once: "St. Anna" is st-anna."""
    taken: list[str] = []
    for client in clients:
        letters = [c if c.isascii() and c.isalnum() else " " for c in client.lower()]
        plain = "-".join("".join(letters).split()) or "client"
        found, k = plain, 1
        while found in taken:
            k += 1
            found = f"{plain}-{k}"
        taken.append(found)
    return taken
