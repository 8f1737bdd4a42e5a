"""Checks pages from disk with axe-core in headless Chromium, and prints what it found as JSON.

usage: axe.py FILE...

Each page is checked 1280 and 390 pixels wide, light and dark. Prints {"FILE": [violation, ...]}: for each violation its rule, what
it demands, the first element, and how the page was shown. The engine is the file axe.min.js of the package
axe-playwright-python.
"""

import importlib.util
import json
import pathlib
import sys
import tempfile
import time

from chromium import Browser

LOOKS = [(1280, "light"), (390, "dark")]

RUN = """axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(rule => ({
  rule: rule.id, help: rule.help, count: rule.nodes.length, first: rule.nodes[0].html.slice(0, 200),
  why: rule.nodes[0].failureSummary})))"""


def engine():
    folder = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    return next(pathlib.Path(folder).rglob("axe.min.js")).read_text(encoding="utf-8")


def load(browser, url):
    browser.ask("Page.navigate", {"url": url})
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if browser.value(f"document.readyState === 'complete' && location.href === {json.dumps(url)}"):
            return
        time.sleep(0.05)
    raise SystemExit(f"{url} did not load")


def main(paths):
    source, found = engine(), {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder + "/user")
        try:
            browser.ask("Page.enable")
            # The pages forbid every script but their own; this one comes from the test.
            browser.ask("Page.setBypassCSP", {"enabled": True})
            for path in paths:
                found[path] = []
                for width, scheme in LOOKS:
                    browser.look(width, scheme)
                    load(browser, pathlib.Path(path).resolve().as_uri())
                    browser.value("document.querySelectorAll('details').forEach(d => { d.open = true }); 0")
                    browser.value(source + ";0")
                    answer = browser.ask(
                        "Runtime.evaluate", {"expression": RUN, "awaitPromise": True, "returnByValue": True}
                    )
                    shown = f"{width} {scheme}"
                    found[path] += [{**violation, "shown": shown} for violation in answer["result"]["value"]]
        finally:
            browser.process.kill()
            browser.process.wait()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
