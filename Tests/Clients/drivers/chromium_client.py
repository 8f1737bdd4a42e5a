"""`EventSource` of headless Chromium. The page hands on what it gets."""

import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

import driver

PAGE = """<!doctype html><meta charset=utf-8><title>events</title><script>
const {url, names} = JSON.parse(decodeURIComponent(location.hash.slice(1)));
let sending = Promise.resolve();
const tell = told => { sending = sending.then(() => fetch('/told', {method: 'POST', body: JSON.stringify(told)})); };
const source = new EventSource(url);
for (const name of names) {
  source.addEventListener(name, event => {
    if (event instanceof MessageEvent) tell({event: event.type, data: event.data, id: event.lastEventId});
  });
}
// A source that is not closed opens the stream again by itself.
source.addEventListener('error', event => {
  if (!(event instanceof MessageEvent) && source.readyState == EventSource.CLOSED) tell({failed: 'EventSource has closed itself'});
});
</script>"""
# A page has to name each event that it wants.
NAMES = ["message", "progress", "result", "ping", "enrichment_degraded", "completed", "complete", "error", "failed"]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200 if self.path == "/" else 404, PAGE.encode() if self.path == "/" else b"")

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "failed" in told:
            driver.tell("failed", error=told["failed"])
        else:
            driver.event(told["event"], told["data"], told["id"])
        self.answer(200, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
                   "--no-first-run", "--disable-background-networking", "--remote-debugging-port=0",
                   "--user-data-dir=" + profile]
        browser = subprocess.Popen([shutil.which("chromium") or "chromium-browser", *options, "about:blank"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            address = next(line.split()[-1].decode() for line in browser.stderr if b"DevTools listening on" in line)
            url, _, _ = driver.order()
            told = urllib.parse.quote(json.dumps({"url": url, "names": NAMES}))
            page = "http://127.0.0.1:%d/#%s" % (server.server_port, told)
            host = urllib.parse.urlsplit(address).netloc
            opening = http.client.HTTPConnection(host)
            opening.request("PUT", "/json/new?" + urllib.parse.quote(page, safe=""))
            opening.getresponse().read()
            sys.stdin.read()
        finally:
            browser.terminate()
            browser.wait()


main()
