"""Noise that is configured and not applied never leaves the client, however it was lost."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Context, Message, RecordDict
from flwr.clientapp.typing import ClientAppCallable, Mod
from scipy.stats import chi2
from tests.flower.hospitals import Town, grid, honest, model
from tests.flower.inprocess import InProcess, Node

from pigou.errors import PigouError
from pigou.federation.flower import mod as mods
from pigou.federation.flower.keeping import Closing
from pigou.federation.flower.mod import UNLIKELY, NoiseMissing, mod_of, require_noise
from pigou.federation.flower.profile import Profile, configured
from pigou.federation.intake import Reason
from pigou.mechanisms import Pigouvian


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town.of(tmp_path)


def run_with(town: Town, node: Node) -> tuple[list[Closing], InProcess, list[RecordDict]]:
    """A run in which the second client's node is this one, and all that it sent."""
    sent: list[RecordDict] = []

    def seen(number: int, reply: Message) -> Message:
        if number == 101 and reply.has_content():
            sent.append(reply.content)
        return reply

    nodes, rounds = town.nodes(), list[Closing]()
    nodes[1] = node
    where = grid(nodes, tamper=seen)
    town.strategy(mechanism=Pigouvian(rounds=1), watch=rounds.append).start(where, model())
    return rounds, where, sent


def stripping(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
    """Sends what the app trained, whatever noise was added inside."""
    reply = call_next(message, context)
    if reply.content.array_records:
        reply.content["arrays"] = honest(message, context).content["arrays"]
    return reply


def renaming(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
    """Leaves the noise, and slips integers of its own in."""
    reply = call_next(message, context)
    for arrays in reply.content.array_records.values():
        arrays["steps"] = Array(np.array([1, 2]))
    return reply


def no_mod(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
    """A function that was registered without noise_mod."""
    return call_next(message, context)


def silenced(factor: float) -> Mod:
    """noise_mod with a source of noise that gives less, or more, than asked."""

    def who(message: Message, context: Context) -> Profile:
        profile = configured(message, context)
        secret = profile.noise

        def scaled(*where: int) -> Callable[[int], np.ndarray[tuple[int], np.dtype[np.float32]]]:
            draw = secret(*where)
            return lambda size: np.asarray(draw(size) * np.float32(factor))

        fields = {name: getattr(profile, name) for name in profile.__dataclass_fields__}
        return Profile(**{**fields, "noise": scaled})

    return mod_of(who)


CASES: dict[str, Callable[[Town], Node]] = {
    "an outer mod strips it": lambda t: t.hospitals[1].node(mods=(stripping,)),
    "an outer mod changes what is not trained": lambda t: t.hospitals[1].node(mods=(renaming,)),
    "the function has no noise mod": lambda t: t.hospitals[1].node(noise=no_mod),
    "the source gives none": lambda t: t.hospitals[1].node(noise=silenced(0.0)),
    "the source gives half": lambda t: t.hospitals[1].node(noise=silenced(0.5)),
    "the source gives more": lambda t: t.hospitals[1].node(noise=silenced(1.5)),
}


@pytest.mark.parametrize("case", CASES)
def test_an_upload_without_its_noise_is_not_sent(town: Town, case: str) -> None:
    rounds, _, sent = run_with(town, CASES[case](town))
    assert all(not content.array_records for content in sent)
    (refusal,) = rounds[0].closed.refusals
    assert (refusal.client, refusal.reason) == ("St. Anna", Reason.FAILED)
    assert rounds[0].closed.arrived.tolist() == [True, False, True, True]


def test_a_mod_that_computes_noise_and_forgets_to_put_it_in_is_caught(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What LocalDpMod did for nine months."""
    monkeypatch.setattr(mods, "add_noise", lambda clean, sigma, normals: clean)
    rounds, _, sent = run_with(town, town.hospitals[1].node())
    assert not any(rounds[0].closed.arrived)
    assert all(not content.array_records for content in sent)


def test_the_same_run_with_nothing_in_the_way_is_sent(town: Town) -> None:
    rounds, _, sent = run_with(town, town.hospitals[1].node())
    assert rounds[0].closed.arrived.all()
    assert sum(bool(content.array_records) for content in sent) == 1


def test_the_interval_is_that_of_chi_square() -> None:
    rng, size, sigma = np.random.default_rng(0), 1000, 0.3
    clean = (np.zeros((10, 60)), np.zeros(400, np.float32))
    direction = rng.standard_normal(size)
    direction /= np.linalg.norm(direction)
    for tail, sign in ((UNLIKELY / 2, 1), (1 - UNLIKELY / 2, -1)):
        edge = np.sqrt(chi2.ppf(tail, size)) * sigma
        for nudge, fine in ((1 + sign * 1e-4, True), (1 - sign * 1e-4, False)):
            away = direction * edge * nudge
            output = (away[:600].reshape(10, 60), away[600:].astype(np.float32))
            if fine:
                require_noise(clean, output, sigma)
            else:
                with pytest.raises(NoiseMissing):
                    require_noise(clean, output, sigma)


def test_noise_too_small_to_survive_the_rounding_is_not_taken_for_noise() -> None:
    clean = (np.full(1000, 1e6, np.float32),)
    with pytest.raises(NoiseMissing):
        require_noise(clean, clean, 1e-4)


def test_no_noise_means_no_change_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    clean = (np.ones(5),)
    require_noise(clean, clean, 0.0)
    assert "carries no noise" in caplog.text
    with pytest.raises(NoiseMissing):
        require_noise(clean, (np.ones(5) + 1e-9,), 0.0)


def test_arrays_may_not_leave_by_other_functions_either(town: Town) -> None:
    from flwr.clientapp import ClientApp

    from pigou.federation.flower import pigou_client

    app = pigou_client(ClientApp())

    @app.evaluate()
    def evaluate(message: Message, context: Context) -> Message:
        return Message(RecordDict({"all": ArrayRecord([np.ones(3)])}), reply_to=message)

    where = InProcess([Node(app)])
    (reply,) = where.send_and_receive([Message(RecordDict(), 100, "evaluate")])
    assert reply.has_error()
    assert "only through noise_mod" in (reply.error.reason or "")
    assert issubclass(NoiseMissing, PigouError)


def test_an_app_that_trains_in_place_is_clipped_all_the_same(town: Town) -> None:
    """It leaves its own model in the message, where the one that it was given should be."""

    def in_place(message: Message, context: Context) -> Message:
        given, reply = message.content.array_records["arrays"], honest(message, context)
        for name, array in list(given.items()):
            given[name] = Array(np.asarray(array.numpy() + 100))
        reply.content["arrays"] = given
        return reply

    town.hospitals[1].settings["clip"] = 1.0
    _, _, sent = run_with(town, town.hospitals[1].node(in_place))
    (arrays,) = (content.array_records["arrays"] for content in sent if content.array_records)
    away = arrays["kernel"].numpy() - model()["kernel"].numpy()
    sigma = town.hospitals[1].book.releases[0].sigma
    assert np.linalg.norm(away) < 1.0 + 2 * sigma * np.sqrt(away.size)
    np.testing.assert_array_equal(arrays["steps"].numpy(), [7, 9])
