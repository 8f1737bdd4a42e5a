"""A page in headless Chromium that uploads a photo and follows its stream, as the developer of a page would.

    browser.py BASE fetch|eventsource

With https, the browser accepts the certificate that the server has. Prints one JSON object: what the page saw, or why it failed. Ends with 69 when there is no Chromium.
"""

import base64
import hashlib
import http.server
import json
import queue
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

PAGE = """<!doctype html><meta charset=utf-8><title>journey</title><script>
const [base, how] = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const device = crypto.randomUUID();

async function photo() {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [640, 480];
  const pen = canvas.getContext('2d');
  for (let x = 0; x < 640; x += 32) { pen.fillStyle = `hsl(${x} 60% 50%)`; pen.fillRect(x, 0, 28, 480); }
  return new Promise(done => canvas.toBlob(done, 'image/jpeg', 0.85));
}

async function upload() {
  const form = new FormData();
  form.append('photos[]', await photo(), 'shelf.jpg');
  const answer = await fetch(base + '/v3/jobs/scans',
    {method: 'POST', headers: {'X-Device-ID': device}, body: form});
  if (answer.status != 202) throw new Error('upload ' + answer.status);
  return (await answer.json()).data;
}

async function byFetch(job) {
  const answer = await fetch(base + job.sseUrl, {headers: {
    'X-Device-ID': device, Authorization: 'Bearer ' + job.authToken, Accept: 'text/event-stream'}});
  const seen = {status: answer.status, type: answer.headers.get('content-type'), events: [], pieces: 0};
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) break;
    seen.pieces += 1;
    text += value;
  }
  for (const block of text.split('\\n\\n')) {
    const name = /^event: (.*)$/m.exec(block);
    if (name) seen.events.push(name[1]);
  }
  seen.last = JSON.parse(/^event: completed\\ndata: (.*)$/m.exec(text)[1]).jobId == job.jobId;
  return seen;
}

function byEventSource(job) {
  return new Promise((done, fail) => {
    const seen = {events: []};
    const url = `${base}${job.sseUrl}?token=${job.authToken}&device=${device}`;
    const source = new EventSource(url);
    source.onerror = () => { source.close(); fail(new Error('event source: ' + JSON.stringify(seen))); };
    source.onopen = () => { seen.opened = true; };
    for (const name of ['progress', 'ping', 'completed', 'error-event']) {
      source.addEventListener(name, event => {
        seen.events.push(name);
        seen.id = event.lastEventId;
        if (name != 'completed') return;
        source.close();
        seen.last = JSON.parse(event.data).jobId == job.jobId;
        done(seen);
      });
    }
  });
}

async function journey() {
  const job = await upload();
  const seen = await (how == 'fetch' ? byFetch(job) : byEventSource(job));
  const gone = await fetch(`${base}/v3/jobs/scans/${job.jobId}/cleanup`,
    {method: 'DELETE', headers: {'X-Device-ID': device, Authorization: 'Bearer ' + job.authToken}});
  return {...seen, cleanup: gone.status};
}

journey().catch(error => ({error: String(error)}))
  .then(seen => fetch('/seen', {method: 'POST', body: JSON.stringify(seen)}));
</script>"""


def key_digest(base):
    """The digest of the server's public key, in the form of Chromium's list."""
    host, port = base.removeprefix("https://").split(":")
    certificate = ssl.get_server_certificate((host, int(port)))
    key = subprocess.run(["openssl", "x509", "-pubkey", "-noout"], input=certificate.encode(), check=True,
                         capture_output=True).stdout.splitlines()
    return base64.b64encode(hashlib.sha256(base64.b64decode(b"".join(key[1:-1]))).digest()).decode()


def main():
    base, how = sys.argv[1:3]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("there is no chromium", file=sys.stderr)
        return 69
    results = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = PAGE.encode() if self.path == "/" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    accepted = ["--ignore-certificate-errors-spki-list=" + key_digest(base)] if base.startswith("https:") else []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    from urllib.parse import quote

    page = f"http://127.0.0.1:{server.server_port}/#{quote(json.dumps([base, how]))}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-proxy-server", "--no-first-run", "--disable-background-networking", *accepted,
             f"--user-data-dir={profile}", page],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            print(json.dumps(results.get(timeout=60)))
        except queue.Empty:
            print("the page told nothing within a minute", file=sys.stderr)
            return 70
        finally:
            browser.terminate()
            try:
                browser.wait(timeout=10)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
