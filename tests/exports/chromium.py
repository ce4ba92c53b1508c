"""A headless Chromium, driven over its DevTools protocol: just enough for tests of one page."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from websockets.sync.client import connect

SWITCHES = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]


class Page:
    """The one page of a browser, with everything it complained about and asked the network for."""

    def __init__(self, program: str) -> None:
        """Start the browser and take hold of its page."""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._profile = tempfile.mkdtemp(prefix="broccoli-chromium-")
        command = [program, *SWITCHES, f"--user-data-dir={self._profile}", "about:blank"]
        self._browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port, path = self._endpoint()
        # The compression of large messages would take longer than sending them.
        self._stack = ExitStack()
        socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=None, compression=None)
        self._socket = self._stack.enter_context(socket)
        self._session: str | None = None
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")

    def __enter__(self) -> Page:
        """Return the page."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the browser."""
        self._stack.close()
        self._browser.terminate()
        self._browser.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _endpoint(self) -> tuple[str, str]:
        """Return the port and path that the browser writes down once it listens."""
        file = Path(self._profile) / "DevToolsActivePort"
        for _ in range(300):
            if file.exists() and len(lines := file.read_text().split()) == 2:
                return lines[0], lines[1]
            if self._browser.poll() is not None:
                raise RuntimeError(f"Chromium ended with {self._browser.returncode}")
            time.sleep(0.1)
        raise RuntimeError("Chromium does not listen")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401
        """Call a method of the protocol and return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._event(answer)

    def _event(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(parameters["args"]))
            case "Log.entryAdded":
                self.complaints.append(json.dumps(parameters["entry"]))
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])

    def open(self, path: Path, width: int = 1200, height: int = 900, *, dark: bool = False) -> None:
        """Open a file in a window of this size."""
        self.complaints.clear()
        self.requests.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri())
        for _ in range(300):
            if self.value("document.readyState") == "complete":
                break
            time.sleep(0.1)
        self.frame()

    def frame(self) -> None:
        """Wait until what was changed is drawn."""
        self.value(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        )

    def value(self, expression: str) -> Any:  # noqa: ANN401
        """Return the value of an expression in the page, or of the promise that it is."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        down = "keyDown" if text else "rawKeyDown"
        self.call(
            "Input.dispatchKeyEvent", type=down, key=key, code=key, windowsVirtualKeyCode=code, text=text
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)
        self.frame()

    def point(self, selector: str) -> None:
        """Move the mouse to the middle of an element."""
        box = self.value(
            f"(() => {{ const e = document.querySelector({selector!r});"
            " e.scrollIntoView({block: 'center'});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        self.frame()

    def screenshot(self, path: Path) -> None:
        """Save a picture of the whole page."""
        height = self.value("document.documentElement.scrollHeight")
        width = self.value("document.documentElement.clientWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        answer = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))
