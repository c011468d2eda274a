"""Every kind of report, opened in a browser that has no network."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser import Browser, chromium, is_sound
from tests.reported_runs import KINDS, record_of

from pigou.report import write

QUICK = ("hospitals", "attacked")
ALWAYS = {"chart-accuracy", "chart-loss"}
WITH_NOISE = {"chart-social-cost", "chart-error", "chart-noise-by-client", "chart-noise-by-round"}
WITH_BILLS = {"chart-bills", "chart-budget"}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(chromium(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.parametrize(
    "kind", [k if k in QUICK else pytest.param(k, marks=pytest.mark.long) for k in KINDS]
)
def test_every_chart_draws_and_the_console_is_clean(
    browser: Browser, tmp_path: Path, kind: str
) -> None:
    record = record_of(kind)
    write(record, tmp_path / "report.html")
    with browser.page((tmp_path / "report.html").as_uri()) as page:
        drawn = is_sound(page)
    noisy = [each for each in record.treatments if each.name != "no noise" and each.rounds]
    billed = [each for each in noisy if each.name == "priced"]
    assert drawn >= ALWAYS | (WITH_NOISE if noisy else set()) | (WITH_BILLS if billed else set())
    assert ("chart-attacks" in drawn) == (record.attacks is not None)
    assert ("chart-calibration" in drawn) == (record.calibration is not None)


FAULTS = {
    "an empty chart": ("<main>", '<main><script data-chart="x">1</script>'),
    "a script that fails": ("</body>", "<script>absent()</script></body>"),
    "a picture from elsewhere": ("<main>", '<main><img src="https://example.org/a.png">'),
    "a wide element": ("<main>", '<main><div style="width: 5000px">wide</div>'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_page_is_seen(browser: Browser, tmp_path: Path, fault: str) -> None:
    path = tmp_path / "report.html"
    write(record_of("priced alone"), path)
    text = path.read_text(encoding="utf-8")
    old, new = FAULTS[fault]
    head, found, tail = text.rpartition(old)
    assert found
    path.write_text(head + new + tail, encoding="utf-8")
    with browser.page(path.as_uri()) as page, pytest.raises(AssertionError):
        is_sound(page)
