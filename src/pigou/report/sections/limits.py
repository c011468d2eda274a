"""What pricing by deviations cannot do, whatever this run shows (section 9)."""

from pigou.report.markup import Html, bullets, element, joined, link, paragraph
from pigou.report.section import Section
from pigou.runs import RunRecord

LIMITS: tuple[tuple[str, str], ...] = (
    (
        "Copied models.",
        "A client that sends the shared model back loses no privacy, and lies so near the others "
        "that refunds can even pay it. The audit finds a copy without noise; a copy with the "
        "announced noise on top looks honest. Withholding refunds from whoever fails the audit "
        "takes that pay away, not what staying private saves.",
    ),
    (
        "Shared noise.",
        "Clients that add one and the same noise are compared with each other: the more of them, "
        "the less each pays for it; from half of all clients on, noise costs them nothing, and "
        "beyond half they are paid to add it.",
    ),
    (
        "One client posing as several.",
        "Every identity gets its refund. One institution must have one billed key.",
    ),
    (
        "Attacks on the model.",
        "Independent noise with mean zero and an obedient majority are assumed. Uploads made to "
        "damage the model need a robust average as well.",
    ),
    (
        "Other weights.",
        "The least possible cost is the least for the committed weights. Other weights can do "
        "better; the certificate says by how much, as far as it can find out.",
    ),
    (
        "Models of people.",
        "Simulated clients know what privacy is worth to them and act on it without error. People "
        "may not.",
    ),
)


def limits(_: RunRecord) -> Section:
    """The known limits, in words."""
    intro = joined(
        ["What holds for every run of this method. What this run saw of it stands under ",
         link("conducts", "who broke the rules"), " and ", link("audit", "the noise audit"), "."]
    )  # fmt: skip
    return Section.of(
        "limits", "What prices cannot do", paragraph(intro), bullets(map(_one, LIMITS))
    )


def _one(limit: tuple[str, str]) -> Html:
    name, meaning = limit
    return joined([element("strong", name), " ", meaning])
