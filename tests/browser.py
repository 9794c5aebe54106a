"""Headless Chromium, to open pages in: the fixture `chromium` of conftest.py."""

import base64
import fcntl
import json
import os
import select
import time
from pathlib import Path
from typing import Any

SECONDS = 60
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40, "0": 48, "+": 187, "/": 191}  # fmt: skip


class Browser:
    """Chromium, spoken to over a pair of pipes in its own protocol.

    Attributes:
        complaints: errors and warnings of the page: of its scripts, of the network, of its content policy.
        asked: the addresses of everything that was asked for.
    """

    def __init__(self, program: str, profile: Path) -> None:
        (reads, self._to), (self._from, writes) = os.pipe(), os.pipe()
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--disable-background-networking", "--no-first-run", "--remote-debugging-pipe",
                     f"--user-data-dir={profile}"]  # fmt: skip
        reads, writes = (_moved_up(end) for end in (reads, writes))
        self._process = os.posix_spawn(
            program, [program, *arguments], os.environ,
            file_actions=[*((os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)),
                          (os.POSIX_SPAWN_DUP2, reads, 3), (os.POSIX_SPAWN_DUP2, writes, 4)],
        )  # fmt: skip
        os.close(reads)
        os.close(writes)
        self._buffer, self._count, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._seen: set[str] = set()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask something of it, and wait for the answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._from], [], [], SECONDS)[0], "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has stopped"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, p: dict[str, Any]) -> None:
        self._seen.add(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(p["exceptionDetails"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(p["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(p["args"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(p["request"]["url"])

    def open(
        self, page: Path, width: int = 1200, height: int = 900, *, dark: bool = False, scripts: bool = True
    ) -> None:
        """Load a page, in a window of that size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.complaints.clear()
        self.asked.clear()
        self._seen.discard("Page.loadEventFired")
        self.call("Page.navigate", url=page.as_uri())
        while "Page.loadEventFired" not in self._seen:
            self._next()

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + SECONDS
        while not self.run(f"!!({script})"):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.01)

    def press(self, key: str) -> None:
        """Press a key and let it go: ``Tab``, ``Enter``, ``ArrowDown``."""
        code = KEYS[key]
        text = {"Enter": "\r", " ": " ", "/": "/"}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            given = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **given)

    def click(self, x: float, y: float, times: int = 1) -> None:
        """Click with the mouse."""
        for kind in ("mousePressed", "mouseReleased") * times:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, x: float, y: float, dx: float, dy: float) -> None:
        """Press the mouse there, move it by so much, and let go."""
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for part in (0.5, 1):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + part * dx, y=y + part * dy, button="left")
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + dx, y=y + dy, button="left", clickCount=1)

    def wheel(self, x: float, y: float, by: float) -> None:
        """Turn the wheel of the mouse there; up is negative."""
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def write(self, text: str) -> None:
        """Type a text where the cursor is."""
        self.call("Input.insertText", text=text)

    def picture(self, path: Path, height: int = 0) -> None:
        """Write a picture of the page, all of it or so much of its top."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"], "scale": 1}
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        self._session = ""
        self.call("Browser.close")
        os.waitpid(self._process, 0)
        os.close(self._to)
        os.close(self._from)


def _moved_up(fd: int) -> int:
    """The same under a number that is out of the way of 3 and 4."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return high
