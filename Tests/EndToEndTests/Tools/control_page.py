"""Controls a run with the buttons of its page in headless Chromium, and prints what came of it as JSON.

usage: control_page.py URL

URL is the address that the run has printed, with the token, of a page that stays after the run.

  viewed      how the controls are displayed without the token
  shown       how they are displayed with it
  beyond      by how much the page is wider than a window of 390 pixels
  told        what the page said after each button
  focus       the button that had the focus after the first one was replaced by another
  violations  what axe-core found, wide and light, narrow and dark
  asked       what the button of the end asked before it did it
  line        what the line at the top said when the run was over
  console     exceptions, and violations of the page's policy
"""

import json
import sys
import tempfile
import time

import axe
from chromium import Browser


def main(url):
    found = {"told": [], "violations": []}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder + "/user")

        def wait(condition, seconds=15):
            end = time.monotonic() + seconds
            while not browser.value(condition):
                if time.monotonic() > end:
                    raise SystemExit(f"never came to: {condition}")
                time.sleep(0.05)

        def load(address):
            browser.ask("Page.navigate", {"url": address})
            wait("document.readyState === 'complete' && document.getElementById('control') !== null")
            wait("document.querySelector('[data-control=stop]') !== null")

        def display():
            return browser.value("getComputedStyle(document.getElementById('control')).display")

        def click(button):
            browser.value("document.getElementById('control-state').textContent = ''; 0")
            chosen = f"document.querySelector('#control [data-key={button}]')"
            browser.value(f"{chosen}.focus(); {chosen}.click(); 0")
            wait("!['', 'sent'].includes(document.getElementById('control-state').textContent)")
            found["told"].append(browser.value("document.getElementById('control-state').textContent"))

        try:
            for domain in ("Page", "Runtime", "Log"):
                browser.ask(domain + ".enable")
            load(url.split("?")[0])
            found["viewed"] = display()
            load(url)
            found["shown"] = display()
            browser.look(390, "light")
            found["beyond"] = browser.value("document.documentElement.scrollWidth - innerWidth")
            click("arrivals")
            wait("document.querySelector('[data-control=resume]') !== null")
            found["focus"] = browser.value("document.activeElement.textContent")
            browser.value("document.querySelector('#control [name=count]').value = 5; 0")
            click("fewer")
            wait("document.querySelector('#control [name=group]').textContent.includes('7 of 12')")
            click("start")
            browser.ask("Page.setBypassCSP", {"enabled": True})
            load(url)
            source = axe.engine()
            for width, scheme in axe.LOOKS:
                browser.look(width, scheme)
                browser.value(source + ";0")
                answer = browser.ask(
                    "Runtime.evaluate", {"expression": axe.RUN, "awaitPromise": True, "returnByValue": True}
                )
                found["violations"] += answer["result"]["value"]
            browser.value("window.confirm = text => { window.asked = text; return true }; 0")
            click("stop")
            found["asked"] = browser.value("window.asked")
            wait("document.getElementById('link').textContent.startsWith('run finished')")
            found["line"] = browser.value("document.getElementById('link').textContent")
            wait("document.querySelector('[data-control=close]') !== null")
            click("close")
        finally:
            browser.process.kill()
            browser.process.wait()
        found["console"] = [
            json.dumps(event["params"])
            for event in browser.events
            if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")
        ]
        print(json.dumps(found))


main(sys.argv[1])
