"""A headless Chromium without a network, for tests of pages: driven over a pipe, no driver needed.

``Browser.page`` loads a page and gives back a ``Page``: everything the console said, every request,
a way to ask the page something, and pictures of it. Where there is no browser, tests that ask for
one are skipped; they fail if PIGOU_TEST_CHROMIUM is 1, which `make test` sets where it found one.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import pytest

Message = dict[str, Any]

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
PROMISED: Final = "PIGOU_TEST_CHROMIUM"
FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # it does not start as root otherwise; it only ever sees our own pages
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)
# The pipe is at descriptors 3 and 4; a small program puts it there and becomes the browser.
BECOME: Final = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(reads, 3)
os.dup2(writes, 4)
os.closerange(5, 64)
os.execv(sys.argv[3], sys.argv[3:])
"""
LOADED: Final = "Page.loadEventFired"
WATCHED: Final = ("Page", "Runtime", "Log", "Network")
DRAWN: Final = """
[...document.querySelectorAll('.chart')].filter(place => {
  const traces = place.querySelectorAll('.trace, .hm, .heatmaplayer image');
  return place.querySelector('svg.main-svg') && traces.length;
}).map(place => place.id)
"""
CHARTS: Final = (
    "[...document.querySelectorAll('script[data-chart]')].map(data => data.dataset.chart)"
)
OVERFLOW: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
NARROW: Final = 360  # pixels: a telephone
IDS: Final = "[...document.querySelectorAll('[id]')].map(element => element.id)"
OFFLINE: Final[Message] = {
    "offline": True,
    "latency": 0,
    "downloadThroughput": 0,
    "uploadThroughput": 0,
}


class BrowserError(AssertionError):
    """The browser refused, or the page's own script failed."""


def chromium() -> str:
    """The browser's path; without one the test is skipped, or fails where one was promised."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        missing = f"no browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get(PROMISED) == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@dataclass(eq=False)
class Page:
    """A loaded page."""

    _send: Callable[..., Message]
    console: list[str] = field(default_factory=list)  # what was logged, and every error
    requests: list[str] = field(default_factory=list)  # every address that was asked for

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; promises are waited for."""
        answer = self._send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 900) -> None:
        """Another window size; the page has been laid out again when this returns."""
        shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._send("Emulation.setDeviceMetricsOverride", **shape)
        self.ask("new Promise(done => setTimeout(done, 300))")  # charts wait for the last resize

    def picture(self, path: Path) -> None:
        """The whole page, as PNG."""
        taken = self._send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def heard(self, message: Message) -> None:
        """Keep what matters of an event."""
        told = message.get("params", {})
        match message.get("method"):
            case "Runtime.consoleAPICalled":
                words = [str(each.get("value", each.get("description"))) for each in told["args"]]
                self.console.append(" ".join(words))
            case "Runtime.exceptionThrown":
                self.console.append(str(told["exceptionDetails"]))
            case "Log.entryAdded":
                self.console.append(told["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])


class Browser:
    """One browser process and its pipe."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [sys.executable, "-c", BECOME, str(theirs_in), str(theirs_out), program]
        self._process = subprocess.Popen(
            [*command, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._sent, self._rest = 0, b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)  # which ends the browser
        os.close(self._in)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @contextmanager
    def page(self, address: str, width: int = 1200) -> Iterator[Page]:
        """The page at this address, loaded without a network."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        heard: list[Message] = []
        page = Page(lambda method, **given: self.send(method, session, page.heard, **given))
        for domain in WATCHED:
            self.send(f"{domain}.enable", session)
        self.send("Network.emulateNetworkConditions", session, **OFFLINE)
        page.resize(width)
        self.send("Page.navigate", session, heard.append, url=address)
        while not any(each.get("method") == LOADED for each in heard):
            heard.append(self._next())
        for each in heard:
            page.heard(each)
        yield page
        self.send("Target.closeTarget", targetId=target)

    def send(
        self,
        method: str,
        session: str | None = None,
        hear: Callable[[Message], None] | None = None,
        **given: Any,
    ) -> Message:
        """Call a method of the DevTools protocol; events that come meanwhile go to ``hear``."""
        self._sent += 1
        call: Message = {"id": self._sent, "method": method, "params": given}
        if session is not None:
            call["sessionId"] = session
        self._write(json.dumps(call).encode() + b"\0")
        while (message := self._next()).get("id") != self._sent:
            if hear is not None:
                hear(message)
        if "error" in message:
            raise BrowserError(f"{method}: {message['error']}")
        answer: Message = message["result"]
        return answer

    def _write(self, line: bytes) -> None:
        try:
            while line:
                line = line[os.write(self._out, line) :]
        except BrokenPipeError as error:
            raise BrowserError("the browser ended") from error

    def _next(self) -> Message:
        while b"\0" not in self._rest:
            part = os.read(self._in, 1 << 20)
            if not part:
                raise BrowserError("the browser ended")
            self._rest += part
        first, _, self._rest = self._rest.partition(b"\0")
        message: Message = json.loads(first)
        return message


def is_sound(page: Page) -> set[str]:
    """The charts that are drawn: all that the page has data for; nothing else went wrong."""
    charts, drawn, names = page.ask(CHARTS), page.ask(DRAWN), page.ask(IDS)
    assert len(set(names)) == len(names)
    assert sorted(drawn) == sorted(charts)
    assert page.ask(OVERFLOW) == 0
    page.resize(NARROW)
    assert page.ask(OVERFLOW) == 0
    assert page.console == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    return set(drawn)
