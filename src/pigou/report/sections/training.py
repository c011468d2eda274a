"""Accuracy and loss, and what the noise costs everybody together."""

from pigou.report.charts import training as charts
from pigou.report.markup import chart, paragraph
from pigou.report.reading import absent, noisy
from pigou.report.section import Section
from pigou.report.words import number
from pigou.runs import RunRecord

NOTHING = "No round was closed: there is nothing to draw."


def training(record: RunRecord) -> Section:
    """How good the shared model became."""
    title = "Accuracy and loss"
    if not any(each.rounds for each in record.treatments):
        return Section.of("training", title, paragraph(NOTHING))
    return Section.of(
        "training",
        title,
        chart(
            "accuracy",
            charts.accuracy(record),
            "Share of test samples that the shared model gets right, before the first round "
            "(round 0) and after each.",
        ),
        chart(
            "loss",
            charts.loss(record),
            "What training makes small, measured on the training data of all clients. Lower is "
            "better.",
        ),
    )


def cost(record: RunRecord) -> Section:
    """What the noise costs, against the least that it could."""
    shown, title = noisy(record), "What the noise costs everybody together"
    if not shown:
        return Section.of("cost", title, paragraph("No round with noise was run."))
    intro = (
        "Noise protects whoever adds it and makes the model worse for all. The social cost adds up "
        "everybody's loss of accuracy and of privacy, each weighed as that client weighs it. The "
        f"least possible, for these clients and weights, is {number(shown[-1].optimum)}."
    )
    caption = (
        "Social cost of each round's noise, if it were the noise of the whole run, over the least "
        "possible. 1 is as good as it gets."
    )
    if any(bool(absent(each).any()) for each in shown):
        caption += (
            " The least possible counts everybody: a round in which clients are missing may fall "
            "below 1."
        )
    return Section.of(
        "cost",
        title,
        paragraph(intro),
        chart("social-cost", charts.social_cost(record), caption),
        chart(
            "error",
            charts.error(record),
            "Standard error of the shared model in each of its numbers. Lines: of the noise that "
            "was added, which only a simulation knows. Crosses: as the server sees it, from how "
            "far uploads lie apart.",
        ),
    )
