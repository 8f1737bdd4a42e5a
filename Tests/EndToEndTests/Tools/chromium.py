"""Headless Chromium, spoken to by the Chrome DevTools Protocol over pipes. Used by the tools beside it."""

import base64
import json
import os
import pathlib
import subprocess

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]


class Browser:
    """Chromium, spoken to by the pipes that it reads as 3 and writes as 4."""

    def __init__(self, folder):
        (theirs_in, self.out), (self.inn, theirs_out) = os.pipe(), os.pipe()
        # Numbers that neither is yet, so that none is closed on the way to 3 and 4.
        high_in, high_out = os.dup(theirs_in), os.dup(theirs_out)
        while high_in < 10 or high_out < 10:
            high_in, high_out = os.dup(high_in), os.dup(high_out)

        def settle():
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=settle,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        os.close(high_in)
        os.close(high_out)
        self.count = 0
        self.session = None
        self.events = []
        self.rest = b""
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]

    def ask(self, method, params=None):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params or {}}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.inn, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def value(self, expression):
        return self.ask("Runtime.evaluate", {"expression": expression, "returnByValue": True})["result"]["value"]

    def look(self, width, scheme):
        self.ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def picture(self, path, width, scheme):
        self.look(width, scheme)
        shot = self.ask("Page.captureScreenshot", {"captureBeyondViewport": True})
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))
