"""The client mod: it clips, adds the noise that the client's conduct chose, and seals the upload.

What leaves is read back and compared: (output minus clipped input) must look like the noise that
was meant, by a chi-square test, or nothing is sent. The noise level itself is never sent.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp.typing import ClientAppCallable
from scipy.special import gammainccinv, gammaincinv

from pigou.errors import PigouError, Shown, require
from pigou.federation.flower import signing
from pigou.federation.flower.book import Book, Open, Release
from pigou.federation.flower.hearing import hear, heard
from pigou.federation.flower.profile import Profile, Who, configured
from pigou.federation.flower.records import (
    PIGOU,
    Model,
    only_arrays,
    trained_names,
    upload_digest,
    view,
    views,
    with_arrays,
    without_note,
)
from pigou.federation.protocol import Announcement
from pigou.privacy import add_noise, clip

UNLIKELY: Final = 1e-9  # chance that noise applied as meant is taken for noise that was not
LOG: Final = logging.getLogger("pigou")

Mod = Callable[[Message, Context, ClientAppCallable], Message]


class BudgetSpent(PigouError):  # noqa: N818
    """An upload that would reveal more than the client allows."""


class NoiseMissing(PigouError):  # noqa: N818
    """An upload that does not carry the noise that it should."""


def noise_mod(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
    """The mod of a client with settings of its own: ``@app.train(mods=[noise_mod])``."""
    return mod_of(configured)(message, context, call_next)


def mod_of(who: Who) -> Mod:
    """The mod of clients that are known in another way."""

    def mod(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
        profile = who(message, context)
        shelf = profile.kept(context)
        told = hear(message.content, profile)
        said = told.announcement
        book = shelf.change(lambda book: _chosen(heard(book, told, profile), said, profile))
        now = book.open[-1]
        if now.play.absent[profile.row] or _spent(book, now, profile):
            return _withdrawn(message, profile, now)
        message.content = without_note(message.content)
        given = with_arrays(only_arrays(message.content)[1], {})  # whatever becomes of the message
        reply = call_next(message, context)
        if reply.has_error():
            return reply
        sealed = _upload(given, reply.content, profile, now)
        upload = upload_digest(views(sealed, trained_names(given)))
        shelf.change(lambda book: _sent(book, now, upload, profile))
        content = {**reply.content, only_arrays(reply.content)[0]: sealed}
        return Message(
            RecordDict({**content, PIGOU: _seal(profile, now, upload)}), reply_to=message
        )

    return mod


def _chosen(book: Book, said: Announcement, profile: Profile) -> Book:
    """The book with this round's play, last: the one chosen before, if it was asked before."""
    billed = book.bill_of(said.run, said.round) is not None
    require(not billed, "round", "must not be one that is billed already", said.round)
    require(said.terms is not None, "announcement", "must carry terms", None)
    inside = type(said.round) is int and 1 <= said.round <= said.rounds
    require(inside, "round", f"must be one of the contract's {said.rounds}", said.round)
    now = book.opened((said.round, said.attempt))
    if now is None:
        now = Open(said, profile.cohort(said, book).decide(said))
    return book.played(now)


def _spent(book: Book, now: Open, profile: Profile) -> bool:
    """Whether one more upload of this play would go beyond the cap: each one is new noise."""
    return bool(profile.cohort(now.announcement, book).exhausted(now.play)[profile.row])


def _sent(book: Book, now: Open, upload: str, profile: Profile) -> Book:
    """The book, as it is by now, with one more upload."""
    said, row = now.announcement, profile.row
    if _spent(book, now, profile):
        raise BudgetSpent("the upload would reveal more than the cap allows: it is not sent")
    if book.contract is not None and book.contract.run == said.run:
        latest = book.opened(now.key) or now
        book = book.played(replace(latest, sent=(*latest.sent, upload)))
    if now.play.copies[row]:
        return book
    release = Release(
        run=said.run,
        round=said.round,
        attempt=said.attempt,
        sigma=float(now.play.sigma[row]),
        upload=upload,
        clip=profile.clip,
    )
    return book.released(release)


def _upload(given: ArrayRecord, content: RecordDict, profile: Profile, now: Open) -> ArrayRecord:
    """The model with clipped update and noise; arrays that are not trained as they came.

    Rounded once, after the noise: rounding before it could make an update longer than the clip.
    """
    names, row, play = trained_names(given), profile.row, now.play
    start = views(given, names)
    steps = _nothing(start) if play.copies[row] else _clipped(start, given, content, profile.clip)
    pairs = zip(start, steps, strict=True)
    clean = tuple(np.asarray(part.astype(np.float64) + step) for part, step in pairs)
    sigma, said = float(play.sigma[row]), now.announcement
    normals = profile.noise(int(play.noise_of[row]), said.round, said.attempt)
    noisy = zip(names, start, add_noise(clean, sigma, normals), strict=True)
    with np.errstate(over="ignore"):  # infinities do not pass for noise
        rounded = {name: Array(part.astype(old.dtype)) for name, old, part in noisy}
    sealed = with_arrays(given, rounded)
    require_noise(clean, views(sealed, names), sigma)
    return sealed


def _clipped(start: Model, given: ArrayRecord, content: RecordDict, norm: float) -> Model:
    """clip(w_i - w), of what the app's function has trained."""
    _, record = only_arrays(content)
    same = list(record) == list(given)
    require(same, "arrays", f"must have the names {list(given)}", Shown(list(record)))
    trained = []
    for name, part in zip(trained_names(given), start, strict=True):
        mine = view(record[name])
        fits = mine.shape == part.shape and mine.dtype.kind == "f"
        expected = f"must be numbers of shape {part.shape}"
        require(fits, name, expected, Shown(f"{mine.dtype} of shape {mine.shape}"))
        trained.append(mine.astype(part.dtype, copy=False))
    pairs = zip(trained, start, strict=True)
    return clip([np.asarray(mine - part) for mine, part in pairs], norm)


def _nothing(start: Model) -> Model:
    return tuple(np.zeros_like(part) for part in start)


def require_noise(clean: Model, output: Model, sigma: float) -> None:
    """sum (output - clean)^2 / sigma^2 is chi-square with d degrees of freedom, or nothing leaves.

    Without noise the two must be the same, as far as the output's numbers can say.
    """
    if sigma == 0.0:
        LOG.warning("this upload carries no noise: the client chose none")
        pairs = zip(clean, output, strict=True)
        with np.errstate(over="ignore"):
            same = all(np.array_equal(b.astype(a.dtype), a) for b, a in pairs)
        if not same:
            raise NoiseMissing("the upload is not what was trained and clipped")
        return
    size, found = 0, 0.0
    for before, after in zip(clean, output, strict=True):
        with np.errstate(over="ignore"):  # what is infinite is not the noise that was meant
            away = (after.astype(np.float64) - before.astype(np.float64)).reshape(-1) / sigma
            size, found = size + away.size, found + float(away @ away)
    low, high = (2.0 * f(0.5 * size, 0.5 * UNLIKELY) for f in (gammaincinv, gammainccinv))
    if not low <= found <= high:
        seen = np.sqrt(found / size)
        raise NoiseMissing(
            f"the upload carries {seen:.3g} times the noise that was meant: it is not sent"
        )


def _seal(profile: Profile, now: Open, upload: str, why: str = "") -> ConfigRecord:
    said = now.announcement
    words = signing.uploaded(profile.name, said.run, said.round, said.attempt, upload or why)
    return ConfigRecord(
        {
            "client": profile.name,
            "round": said.round,
            "attempt": said.attempt,
            "upload": upload,
            "note": why,
            "signature": signing.sign(profile.key, words),
        }
    )


def _withdrawn(message: Message, profile: Profile, now: Open) -> Message:
    note = _seal(profile, now, "", "absent")
    return Message(RecordDict({PIGOU: note}), reply_to=message)
