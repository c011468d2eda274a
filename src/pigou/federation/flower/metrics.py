"""What replies report beside arrays: an average needs the same names from everybody, and numbers.

Flower's strategies break off where replies differ; one client must not be able to do that to all.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Final

from flwr.app import Message, MetricRecord, RecordDict

from pigou.errors import PigouError, Shown, require

# The names of the arrays' record and of the metrics' record; each metric, and how many numbers.
Layout = tuple[str, str, tuple[tuple[str, int], ...]]
NONE: Final[Layout] = ("", "", ())


def layout(content: RecordDict) -> Layout:
    """How a reply is laid out; an error if its metrics are no finite numbers."""
    metrics = _only_metrics(content)
    for key, value in metrics.items():
        numbers = value if isinstance(value, list) else [value]
        finite = all(map(math.isfinite, numbers))
        require(finite, "metrics", "must be finite", Shown(f"{key[:80]} = {value!r:.80}"))
    sizes = ((k, len(v) if isinstance(v, list) else -1) for k, v in metrics.items())
    arrays = next(iter(content.array_records), "")
    return arrays, next(iter(content.metric_records)), tuple(sorted(sizes))


def usual(layouts: Iterable[Layout]) -> Layout:
    """The one that most replies have; of equals, the first."""
    found = Counter(layouts).most_common(1)
    return found[0][0] if found else NONE


def comparable(replies: Iterable[Message], key: str) -> list[Message]:
    """The replies that an evaluation can average, and errors for the log."""
    listed = list(replies)
    layouts = {place: _weighable(reply, key) for place, reply in enumerate(listed)}
    most = usual(found for found in layouts.values() if found is not None)
    return [r for place, r in enumerate(listed) if r.has_error() or layouts[place] == most]


def _weighable(reply: Message, key: str) -> Layout | None:
    if reply.has_error():
        return None
    try:
        weight = _only_metrics(reply.content).get(key)
        return layout(reply.content) if isinstance(weight, int | float) and weight > 0 else None
    except PigouError:
        return None


def _only_metrics(content: RecordDict) -> MetricRecord:
    found = list(content.metric_records.values())
    require(len(found) == 1, "message", "must hold exactly one MetricRecord", len(found))
    return found[0]
