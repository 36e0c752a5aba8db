# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Drives Chromium without a window, through the pipe of its protocol for developers: no port, no network."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

import tap

PATIENCE = float(os.environ.get("LNS_TEST_PATIENCE", "10"))


def program():
    """Chromium's path, or skips."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    raise tap.Skip("Chromium is not installed")


class Page:
    """A page of Chromium at PATH, of SIZE pixels, in the colours SCHEME (light or dark). What its console says is in `said`, what it
    asked the network for in `asked`."""

    def __init__(self, path, size=(1200, 800), scheme="light"):
        self.said, self.asked, self.number, self.rest = [], [], 0, b""
        self.folder = tempfile.TemporaryDirectory(prefix="lanescope-browser-", ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()  # what it reads, what it writes
        command = [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                   f"--user-data-dir={self.folder.name}", f"--window-size={size[0]},{size[1]}", "about:blank"]

        def give():  # the protocol wants its ends as descriptors 3 and 4
            reads, writes = os.dup(ours[0]), os.dup(theirs[1])
            reads, writes = os.dup2(reads, 20), os.dup2(writes, 21)
            os.dup2(reads, 3)
            os.dup2(writes, 4)
        self.process = subprocess.Popen(command, preexec_fn=give, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.folder.name, "LC_ALL": "C.UTF-8"})
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.of = ours[1], theirs[0]
        self.session = None
        target = self.call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in target if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=f"file://{path}")
        self.wait("document.readyState === 'complete'")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        self.call("Browser.close")
        self.process.wait()
        os.close(self.to)
        os.close(self.of)
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            piece = os.read(self.of, 1 << 20)
            assert piece, "Chromium ended"
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        """The result of METHOD; notes what happens meanwhile."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.note(answer)

    def note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.said.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.said.append(str(parameters["args"]))
        elif method == "Log.entryAdded":
            self.said.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])

    def value(self, expression):
        """What EXPRESSION of JavaScript gives."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, (expression, result["exceptionDetails"])
        return result["result"].get("value")

    def wait(self, expression):
        for _ in range(int(PATIENCE * 150)):
            if self.value(expression):
                return
            self.settle()
        raise AssertionError(f"never came: {expression}")

    def settle(self):
        """Until the page has been drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def drag(self, start, end, modifiers=0):
        """SHIFT is modifier 8."""
        self.mouse("Moved", *start)
        self.mouse("Pressed", *start, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        self.mouse("Moved", (start[0] + end[0]) / 2, (start[1] + end[1]) / 2, button="left", buttons=1, modifiers=modifiers)
        self.mouse("Moved", *end, button="left", buttons=1, modifiers=modifiers)
        self.mouse("Released", *end, button="left", clickCount=1, modifiers=modifiers)
        self.settle()

    def wheel(self, x, y, dy, modifiers=0):
        self.mouse("Wheel", x, y, deltaX=0, deltaY=dy, modifiers=modifiers)
        self.settle()

    def key(self, key, text=None):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
