"""A client's app: it answers the server's queries, and lets nothing leave that is not sealed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import ClientAppCallable, Mod

from pigou.errors import InvalidArgument, PigouError
from pigou.federation.flower import signing
from pigou.federation.flower.hearing import hear, heard
from pigou.federation.flower.mod import NoiseMissing
from pigou.federation.flower.profile import Who, configured
from pigou.federation.flower.records import (
    CODEC,
    PIGOU,
    field,
    note_in,
    only_arrays,
    trained_names,
    upload_digest,
    views,
    with_arrays,
)

QUERY: Final = "pigou"
DEFAULT: Final = "default"


class PigouClient(ClientApp):
    """An app around an app. Arrays leave it only as ``noise_mod`` has sealed them.

    A mod outside of ``noise_mod`` that undid the noise, or a function that was registered without
    it, is an error on the client's side, before anything is sent.
    """

    def __init__(self, app: ClientApp) -> None:
        super().__init__()
        self._app = app

    def __call__(self, message: Message, context: Context) -> Message:
        records = message.content.array_records if message.has_content() else {}
        arrays = {name: with_arrays(record, {}) for name, record in records.items()}
        reply = self._app(message, context)
        if reply.has_content() and reply.content.array_records:
            _require_sealed(reply.content, arrays)
        return reply

    def train(
        self, action: str = DEFAULT, *, mods: list[Mod] | None = None
    ) -> Callable[[ClientAppCallable], ClientAppCallable]:
        """As in the app that is wrapped."""
        return self._app.train(action, mods=mods)

    def evaluate(
        self, action: str = DEFAULT, *, mods: list[Mod] | None = None
    ) -> Callable[[ClientAppCallable], ClientAppCallable]:
        """As in the app that is wrapped."""
        return self._app.evaluate(action, mods=mods)

    def query(
        self, action: str = DEFAULT, *, mods: list[Mod] | None = None
    ) -> Callable[[ClientAppCallable], ClientAppCallable]:
        """As in the app that is wrapped."""
        return self._app.query(action, mods=mods)

    def lifespan(
        self,
    ) -> Callable[[Callable[[Context], Iterator[None]]], Callable[[Context], Iterator[None]]]:
        """As in the app that is wrapped."""
        return self._app.lifespan()


def pigou_client(app: ClientApp) -> PigouClient:
    """The app, taking part in priced runs: ``app = pigou_client(ClientApp())``."""
    return client_of(app, configured)


def client_of(app: ClientApp, who: Who) -> PigouClient:
    """The same for clients that are known in another way."""
    app.query(QUERY)(_answering(who))
    return PigouClient(app)


def _answering(who: Who) -> ClientAppCallable:
    """Before and after a run: take bills, report where asked."""

    def answer(message: Message, context: Context) -> Message:
        profile = who(message, context)
        shelf = profile.kept(context)
        told = hear(message.content, profile)
        said = told.announcement
        book = shelf.change(lambda book: heard(book, told, profile))
        cohort = profile.cohort(said, book)
        reports = cohort.reports(said) if said.round == 0 else []
        own = next((each for each in reports if each.client == profile.name), None)
        report = CODEC.encode(own)
        words = signing.reported(profile.name, said.run, report)
        signature = signing.sign(profile.key, words)
        note = ConfigRecord({"client": profile.name})
        note["report"], note["signature"] = report, signature
        return Message(RecordDict({PIGOU: note}), reply_to=message)

    return answer


def _require_sealed(content: RecordDict, given: Mapping[str, ArrayRecord]) -> None:
    """What leaves is what ``noise_mod`` checked, and arrays that are not trained as they came."""
    try:
        digest = field(note_in(content), "upload", str)
        _, record = only_arrays(content)
        names = trained_names(record)
        sealed = upload_digest(views(record, names)) == digest
    except InvalidArgument as error:
        raise NoiseMissing("arrays may leave only through noise_mod") from error
    if not sealed:
        raise NoiseMissing("the upload was changed after noise was added: it is not sent")
    rest = {name: array for name, array in record.items() if name not in names}
    known = dict(next(iter(given.values()), ArrayRecord()).items())
    if any(known.get(name) != array for name, array in rest.items()):
        raise PigouError("arrays that are not trained must go back as they came")
