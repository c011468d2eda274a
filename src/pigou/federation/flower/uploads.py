"""What a client's reply holds, checked as far as it must be before the coordinator sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict

from pigou.errors import InvalidArgument, PigouError, Shown, require
from pigou.federation.flower import signing
from pigou.federation.flower.exchange import Answer
from pigou.federation.flower.inner import weighted
from pigou.federation.flower.members import Members
from pigou.federation.flower.metrics import NONE, Layout, layout
from pigou.federation.flower.records import (
    Model,
    field,
    note_in,
    only_arrays,
    upload_digest,
    views,
    with_arrays,
    without_note,
)
from pigou.federation.intake import Objection, Reason
from pigou.federation.protocol import Update


class Unusable(PigouError):  # noqa: N818
    """A reply that is no upload, and the reason for the record."""

    def __init__(self, objection: Objection) -> None:
        super().__init__(f"{objection[0].value}: {objection[1]}")
        self.objection = objection


@dataclass(frozen=True, eq=False)
class Upload:
    """One client's reply, as it may be billed and aggregated."""

    update: Update
    reply: Message
    layout: Layout


def read(answer: Answer, members: Members, run: str, names: Sequence[str]) -> Upload:
    """The upload of an answer; ``Unusable`` where there is none."""
    if answer.reply is None:
        raise Unusable((Reason.FAILED, answer.why))
    content = answer.reply.content
    try:
        note = note_in(content)
        round_, attempt = field(note, "round", int), field(note, "attempt", int)
        upload, why = field(note, "upload", str), field(note, "note", str)
        words = signing.uploaded(answer.client, run, round_, attempt, upload or why)
        members.check(answer.client, field(note, "signature", bytes), words)
    except PigouError as error:
        raise Unusable((Reason.NOT_SIGNED, str(error))) from error
    if not upload:
        withdrawal = Update(run, round_, attempt, answer.client, None, why)
        return Upload(withdrawal, answer.reply, NONE)
    try:
        arrays = _arrays(content, names)
        found = layout(content)
    except PigouError as error:
        raise Unusable((Reason.NOT_ARRAYS, str(error))) from error
    if not _digest_fits(arrays, upload):
        raise Unusable((Reason.NOT_SIGNED, "its arrays are not the ones that were signed"))
    return Upload(Update(run, round_, attempt, answer.client, arrays), answer.reply, found)


def for_inner(
    upload: Upload, model: ArrayRecord, trained: Sequence[str], key: str, weight: float
) -> Message:
    """What the inner strategy aggregates: the committed weight, and nothing of pigou's."""
    content = upload.reply.content
    name, record = only_arrays(content)
    metric_name, metrics = next(iter(content.metric_records.items()))
    parts: dict[str, ArrayRecord | MetricRecord] = {
        name: with_arrays(model, {each: record[each] for each in trained}),
        metric_name: weighted(metrics, key, weight),
    }
    upload.reply.content = RecordDict({**without_note(content), **parts})
    return upload.reply


def _arrays(content: RecordDict, names: Sequence[str]) -> Model:
    _, record = only_arrays(content)
    missing = [name for name in names if name not in record]
    require(not missing, "arrays", f"must hold {list(names)}", Shown(list(record)))
    return views(record, names)


def _digest_fits(arrays: Model, upload: str) -> bool:
    try:
        return upload_digest(arrays) == upload
    except (TypeError, InvalidArgument):
        return False
