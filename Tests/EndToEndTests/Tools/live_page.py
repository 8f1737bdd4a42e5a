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

import json
import sys
import tempfile
import time

from chromium import Browser

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
