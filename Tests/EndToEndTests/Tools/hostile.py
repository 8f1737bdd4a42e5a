"""A backend that keeps no contract, on a port of its own choosing. It says `listening http://127.0.0.1:PORT`.

usage: hostile.py MODE LOG

MODE is what it answers to everything:

  html          a page, as a captive portal does that comes up behind the first question
  page          a page, from the first question on
  redirect      somewhere else
  silent        nothing, with the connection left open
  close         nothing, and the end of the connection
  http2-only    what a server says that speaks HTTP/2 alone, without TLS: its settings, and good-bye
  wrong-shape   JSON of another shape
  endless-line  a job like any other, whose stream is one line without an end
  huge          a body of 8 PiB, which it really sends as far as it is read
  unavailable   503, as an overloaded backend does
  unauthorized  401, as a backend that wants a login does
  hanging       a proper answer to the first question, and then nothing, with the connections left open

LOG gets a line a request: the method, the path and the X-Device-ID. It ends with SIGTERM.
"""

import http.server
import json
import signal
import sys
import threading

CHUNK = b"a" * 65536
PAGE = b"<!DOCTYPE html><title>Welcome</title><p>Please accept our terms to go on.</p>"
SHAPE = json.dumps({"success": True, "data": {"jobId": 7, "authToken": None, "sseUrl": []}}).encode()
JOB = "11111111-2222-4333-8444-555555555555"


def accepted():
    path = "/v3/jobs/scans/" + JOB
    return json.dumps(
        {
            "success": True,
            "data": {
                "jobId": JOB,
                "authToken": "token",
                "sseUrl": path + "/stream",
                "statusUrl": path + "/status",
            },
            "_links": {
                "self": {"href": path, "rel": "self", "method": "GET"},
                "stream": {"href": path + "/stream", "rel": "stream", "method": "GET"},
                "cancel": {"href": path + "/cancel", "rel": "cancel", "method": "DELETE"},
            },
            "metadata": {"timestamp": "2026-01-01T00:00:00.000Z", "requestId": JOB},
        }
    ).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mode = None
    log = None
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def answer(self):
        with self.lock:
            self.log.write(f"{self.command} {self.path} {self.headers.get('X-Device-ID')}\n")
            self.log.flush()
        left = int(self.headers.get("Content-Length") or 0)
        while left > 0:
            left -= len(self.rfile.read(min(left, 65536))) or left
        try:
            getattr(self, self.mode.replace("-", "_"))()
        except OSError:
            self.close_connection = True  # The peer has had enough.

    do_GET = do_POST = do_DELETE = do_PUT = answer

    def head(self, status, kind, length):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def whole(self, status, kind, body):
        self.head(status, kind, len(body))
        self.wfile.write(body)

    def forever(self):
        while True:
            self.wfile.write(CHUNK)

    def html(self):
        if "/00000000-" in self.path:  # A job that nobody has.
            self.whole(404, "application/problem+json", b"{}")
        else:
            self.page()

    def page(self):
        self.whole(200, "text/html; charset=utf-8", PAGE)

    def redirect(self):
        self.send_response(308)
        self.send_header("Location", "https://elsewhere.example/v3")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def silent(self):
        threading.Event().wait()

    def close(self):
        self.close_connection = True

    def http2_only(self):
        # An empty SETTINGS frame and a GOAWAY with PROTOCOL_ERROR (RFC 9113 sections 6.5 and 6.8).
        self.wfile.write(bytes.fromhex("000000040000000000" "0000080700000000000000000000000001"))
        self.close_connection = True

    def wrong_shape(self):
        self.whole(202 if self.command == "POST" else 200, "application/json", SHAPE)

    def endless_line(self):
        if self.command == "POST":
            self.whole(202, "application/json", accepted())
        elif self.path.endswith("/stream"):
            self.head(200, "text/event-stream", None)
            self.wfile.write(b"event: progress\ndata: ")
            self.forever()
        else:
            self.whole(200, "application/json", SHAPE)

    def huge(self):
        self.head(202 if self.command == "POST" else 200, "application/json", 1 << 53)
        self.forever()


    def problem(self, status):
        self.whole(status, "application/problem+json", json.dumps({"status": status, "title": "no"}).encode())

    def unavailable(self):
        self.problem(503)

    def unauthorized(self):
        self.problem(401)

    def hanging(self):
        if "/00000000-" in self.path:
            self.problem(404)
        else:
            self.silent()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


def main(mode, log):
    Handler.mode = mode
    Handler.log = open(log, "w", encoding="utf-8")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # A parent may have blocked it for us.
    server = Server(("127.0.0.1", 0), Handler)
    print(f"listening http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main(*sys.argv[1:])
