"""Follows a live page in headless Chromium and prints, as JSON, what it saw there.

usage: live_page.py URL [PICTURES]

It follows the page until it says that the run is over, or for 50 seconds.

  console    what was written to the console: errors, and violations of the page's policy
  requests   every address that was asked for, in order
  seen       a line for each look at the page: its title, what the line at the top says, the charts, how many windows
             the chart of phones has, the scripts, and by how much the page is wider than its window
  last       the same when it was over
  text       the words of the page's head when it was over

With PICTURES it also keeps pictures there: 1280 and 390 wide, light and dark, from while the run goes on.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

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

LOOK = """(() => {
  const plot = document.querySelector('#phones svg.plot');
  return {
    title: document.title,
    line: document.getElementById('link').textContent,
    charts: [...document.querySelectorAll('figure.chart')].map(f => f.id),
    windows: plot ? plot.dataset.values.split('|')[0].split(';').length : 0,
    scripts: document.scripts.length,
    beyond: document.documentElement.scrollWidth - innerWidth,
  };
})()"""


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

    def picture(self, path, width, scheme):
        self.ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        shot = self.ask("Page.captureScreenshot", {"captureBeyondViewport": True})
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))


def main(url, pictures):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder + "/user")
        try:
            for domain in ("Page", "Runtime", "Network", "Log"):
                browser.ask(domain + ".enable")
            browser.ask("Page.navigate", {"url": url})
            seen, taken = [], 0
            end = time.monotonic() + 50
            while time.monotonic() < end:
                time.sleep(0.4)
                look = browser.value(LOOK)
                if not seen or look != seen[-1]:
                    seen.append(look)
                if look["line"].startswith("run finished"):
                    break
                if pictures and look["windows"] > 8 and taken == 0:
                    taken = 1
                    for width in (1280, 390):
                        for scheme in ("light", "dark"):
                            browser.picture(f"{pictures}-{width}-{scheme}.png", width, scheme)
            if pictures:
                for width in (1280, 390):
                    browser.picture(f"{pictures}-end-{width}.png", width, "light")
            narrow = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True}
            browser.ask("Emulation.setDeviceMetricsOverride", narrow)
            time.sleep(1.5)  # A page that came again would have done so by now.
            last = browser.value(LOOK)
            words = browser.value("document.getElementById('head').innerText")
        finally:
            browser.process.kill()
            browser.process.wait()
        events = [(event["method"], event.get("params", {})) for event in browser.events]
        console = [json.dumps(p) for m, p in events if m in ("Runtime.exceptionThrown", "Log.entryAdded")]
        console += [json.dumps(p["args"]) for m, p in events if m == "Runtime.consoleAPICalled"]
        requests = [p["request"]["url"] for m, p in events if m == "Network.requestWillBeSent"]
        print(
            json.dumps(
                {
                    "console": console,
                    "requests": [url for url in requests if not url.startswith("data:")],
                    "seen": seen,
                    "last": last,
                    "text": words,
                }
            )
        )


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
