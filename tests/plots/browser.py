"""Chromium without a window, driven through its DevTools protocol: what a page logs, asks for, shows and answers."""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60.0  # seconds until it must have started or answered


def chromium() -> str | None:
    """The browser's path, None where there is none."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class Page:
    """One page.

    Attributes:
        problems: errors and warnings of the console, exceptions, and breaches of the page's own policy.
        requests: addresses that it asked for.
    """

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=PATIENCE, suppress_origin=True)
        self._number = 0
        self.problems: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser and wait for its answer."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                assert "error" not in message, message
                return dict(message["result"])
            self._note(message)

    def open(self, file: Path) -> None:
        """Load a file and wait until it is whole."""
        self.call("Page.navigate", url=file.as_uri())
        end = time.monotonic() + PATIENCE
        while self.value("location.href") != file.as_uri() or self.value("document.readyState") != "complete":
            assert time.monotonic() < end, "the page did not load"
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, script: str) -> Any:
        """The value of an expression, a promise's when it is kept."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def resize(self, width: int, *, dark: bool = False, height: int = 844) -> None:
        """Set the window's width in CSS pixels, and the reader's colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, file: Path) -> None:
        """Keep a picture of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """Leave the browser."""
        self._socket.close()

    def _note(self, message: dict[str, Any]) -> None:
        found = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(str(found["exceptionDetails"].get("exception", found)))
            case "Runtime.consoleAPICalled" if found["type"] in ("error", "warning", "assert"):
                self.problems.append(str(found["args"]))
            case "Log.entryAdded" if found["entry"]["level"] in ("error", "warning"):
                self.problems.append(found["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(found["request"]["url"])


@contextmanager
def opened(folder: Path) -> Iterator[Page]:
    """A browser with an empty page. It ends with the block.

    Args:
        folder: an empty one, for its profile.
    """
    program = chromium()
    assert program is not None
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"],
        stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        page = Page(_address(folder, process))
        yield page
        page.close()
    finally:
        process.kill()
        process.wait()
        log.close()


def _address(folder: Path, process: "subprocess.Popen[bytes]") -> str:
    from urllib.request import urlopen

    port = folder / "DevToolsActivePort"
    end = time.monotonic() + PATIENCE
    while not (port.exists() and port.read_text().count("\n")):
        assert process.poll() is None, (
            f"chromium ended with {process.returncode}: {(folder / 'log').read_text()[-800:]}"
        )
        assert time.monotonic() < end, "chromium did not start"
        time.sleep(0.05)
    number = port.read_text().split()[0]
    with urlopen(f"http://127.0.0.1:{number}/json") as answer:
        pages = [each for each in json.load(answer) if each["type"] == "page"]
    return str(pages[0]["webSocketDebuggerUrl"])
