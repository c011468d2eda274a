"""What cheats gain, with and without the refund rule."""

import numpy as np
import plotly.graph_objects as go
from scipy.stats import t

from pigou.federation.attacks import Attack
from pigou.report import look
from pigou.report.charts import clients
from pigou.report.glossary import attack_name
from pigou.report.markup import label
from pigou.runs import RunRecord
from pigou.runs.record import AttacksRecord

RULES = {
    False: ("refunds for everybody", "#d55e00", "circle", -0.14),
    True: ("no refund for who fails the audit", "#0072b2", "diamond", 0.14),
}
FAR = 20.0  # times the median gain or loss
COVERED = 0.95  # how often such a bar holds the mean of many runs


def gains(found: AttacksRecord, record: RunRecord) -> go.Figure:
    """A row per attack: the gain of all cheats together, against being honest."""
    shown = [each for each in found.found if not beyond(found, each)]
    names = list(dict.fromkeys(each.name for each in shown))
    size = (record.money, reach(found))
    traces = [
        _points([each for each in shown if each.refund_rule == rule], names, *size, rule)
        for rule in sorted({each.refund_rule for each in found.found})
    ]
    money = look.axis(f"gain, {label(record.currency)}", zeroline=True, zerolinecolor="#555")
    height = clients.height(len(names)) + clients.ROW * len(names) // 2
    return look.figure(traces, money, clients.rows([attack_name(name) for name in names]), height)


def reach(found: AttacksRecord) -> float:
    """Standard errors either way, by Student's distribution for so few runs."""
    return float(t.ppf(0.5 + COVERED / 2.0, found.seeds - 1))


def beyond(found: AttacksRecord, attack: Attack) -> bool:
    """Whether drawing this attack would leave nothing to see of the others."""
    sizes = [abs(each.gain) for each in found.found]
    return abs(attack.gain) > FAR * float(np.median(sizes))


def _points(
    attacks: list[Attack], names: list[str], money: float, errors: float, rule: bool
) -> go.Scatter:
    name, colour, symbol, shift = RULES[rule]
    bars = errors * money * np.array([each.gain_error for each in attacks])
    return go.Scatter(
        x=money * np.array([each.gain for each in attacks]),
        y=[names.index(each.name) + shift for each in attacks],
        error_x={"type": "data", "array": bars, "thickness": 1.5},
        name=name,
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": 9},
    )
