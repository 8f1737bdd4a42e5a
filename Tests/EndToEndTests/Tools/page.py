"""Opens a page from disk in headless Chromium and prints, as JSON, what it did there.

usage: page.py FILE

  title      the page's title when it had settled
  console    what was written to the console, errors and violations of the page's policy among them
  requests   every address that was asked for, but for the page itself
  scripts    how many script elements the document has in the end
  text       the document as it stood then
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

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
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--virtual-time-budget=3000",
    "--dump-dom",
]


def requests(log, page):
    """Of Chromium's own log of the network; what it asks for itself, without any page, has no http(s) initiator."""
    text = pathlib.Path(log).read_text(encoding="utf-8", errors="replace")
    try:
        found = json.loads(text)
    except json.JSONDecodeError:  # Cut off at its end.
        found = json.loads(text.rstrip().rstrip(",") + "]}")
    urls = set()
    for event in found["events"]:
        params = event.get("params") or {}
        if "url" in params and str(params.get("initiator", "")).startswith(("file:", "null", '"null"')):
            urls.add(params["url"])
    return sorted(url for url in urls if url != page and not url.startswith("data:"))


def main(path):
    page = pathlib.Path(path).resolve().as_uri()
    chromium = "chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = folder + "/net.json"
        done = subprocess.run(
            [chromium, *FLAGS, f"--user-data-dir={folder}/user", f"--log-net-log={log}", page],
            capture_output=True,
            timeout=50,
            check=True,
        )
        dom = done.stdout.decode("utf-8", "replace")
        noise = done.stderr.decode("utf-8", "replace")
        title = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
        print(
            json.dumps(
                {
                    "title": title.group(1) if title else "",
                    "console": [line for line in noise.splitlines() if "CONSOLE" in line],
                    "requests": requests(log, page),
                    "scripts": len(re.findall(r"<script", dom)),
                    "text": dom,
                }
            )
        )


main(sys.argv[1])
