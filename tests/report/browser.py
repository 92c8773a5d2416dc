"""A headless Chromium, controlled through a pipe by the standard library alone."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Seconds to wait for an answer.
PATIENCE = 60.0


def find_chromium():
    """The path of a browser, or None."""
    named = os.environ.get("FRUGALSVM_CHROMIUM")
    return named or next((found for found in map(shutil.which, NAMES) if found), None)


class Browser:
    """One page of a browser, in the protocol of its developer tools."""

    def __init__(self, executable):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()

        def use_pipes():
            # Chromium reads from 3 and writes to 4; avoid overlaps first.
            source, sink = os.dup(to_child), os.dup(from_child)
            os.dup2(source, 3)
            os.dup2(sink, 4)

        self._process = subprocess.Popen(
            [
                executable, "--headless=new", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                f"--user-data-dir={self._folder.name}", "--remote-debugging-pipe",
                "about:blank",
            ],
            preexec_fn=use_pipes, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_child)
        os.close(from_child)
        self._buffer, self._number, self._session = b"", 0, None
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    def call(self, method, **parameters):
        """Send a command and wait for its answer; other messages are stored."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def _receive(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self._read], [], [], left)[0]
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 16)
            assert part, "the browser has ended"
            self._buffer += part
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, *, width=1280, height=900, scheme="light", media="screen"):
        """Open a file and wait until it is loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(
            one.get("method") == "Page.loadEventFired" for one in self.events
        ):
            self.events.append(self._receive())

    def evaluate(self, expression):
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self, path):
        """Take a screenshot of the whole page."""
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def problems(self):
        """Console errors and dialogs."""
        complaints = []
        for one in self.events:
            method, parameters = one.get("method"), one.get("params", {})
            if method == "Log.entryAdded":
                complaints.append(parameters["entry"]["text"])
            elif method == "Runtime.exceptionThrown":
                complaints.append(parameters["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled":
                complaints.append(f"console.{parameters['type']}")
            elif method == "Page.javascriptDialogOpening":
                complaints.append(f"dialogue: {parameters['message']}")
        return complaints

    def requests(self):
        """Addresses that the page requested."""
        sent = (
            one for one in self.events if one.get("method", "").endswith("WillBeSent")
        )
        return [one["params"]["request"]["url"] for one in sent]
