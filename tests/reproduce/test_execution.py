"""Which parts are made, in which order, and what is checked before the first one."""

from dataclasses import dataclass, field

import pytest

from pigou.errors import InvalidArgument, PigouError
from pigou.reproduce.execution import asked_for, make
from pigou.reproduce.part import Chapter, Part, Progress, Request
from pigou.reproduce.parts import PARTS


@dataclass
class Diary:
    """What was done, in order."""

    lines: list[str] = field(default_factory=list)

    def part(self, name: str, *, refuses: bool = False) -> Part:
        def check(_: Request) -> None:
            self.lines.append(f"check {name}")
            if refuses:
                raise PigouError(f"{name} needs data")

        def made(_: Request) -> Chapter:
            self.lines.append(f"make {name}")
            return Chapter(name, name, ())

        return Part(name, made, check)


def names(*asked: str) -> list[str]:
    return [part.name for part in asked_for(asked)]


def test_parts_come_in_the_order_of_the_page_and_once() -> None:
    assert names("errata", "fig2-formulas", "fig1", "fig1") == sorted(
        names("fig1", "fig2-formulas", "errata"), key=[part.name for part in PARTS].index
    )
    assert names("all", "errata") == [part.name for part in PARTS]


def test_claims_need_the_parts_that_make_them() -> None:
    assert {"fig1-formulas", "fig2-formulas", "anarchy", "statements"} == set(names("claims"))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"what must be one of .*received 'fig9'"):
        asked_for(["fig1", "fig9"])


def test_everything_is_checked_before_anything_is_made() -> None:
    diary = Diary()
    make([diary.part("a"), diary.part("b")], Request())
    assert diary.lines == ["check a", "check b", "make a", "make b"]


def test_what_is_missing_is_said_before_hours_of_work() -> None:
    diary = Diary()
    with pytest.raises(PigouError, match="b needs data"):
        make([diary.part("a"), diary.part("b", refuses=True)], Request())
    assert diary.lines == ["check a", "check b"]


def test_a_part_says_how_far_it_is() -> None:
    seen: list[Progress] = []
    make(asked_for(["anarchy"]), Request(quick=True, watch=seen.append))
    assert seen
    assert {step.part for step in seen} == {"anarchy"}
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert seen[-1].done == seen[-1].total
