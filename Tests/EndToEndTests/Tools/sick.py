"""A Talaria that is sick in the ways a request asks for, on a port of its own choosing. It says `listening http://127.0.0.1:PORT`.

usage: sick.py [--die-after SECONDS]

Without a wish it keeps the contract: each upload becomes a job of two books that is completed after 0.2 s. The header
`X-Sick` of a request wishes otherwise, as `upload=503 every=2 retry-after=600`; so one server is enough for many runs.

  upload, stream, results, cleanup   what the operation is answered with: a status, or
        silent       nothing, with the connection left open
        close        the end of the connection
        html         a page, under the status that a success has
        open         (stream) no event, only pings
        no-terminal  (stream) progress, and a clean end, again and again
        retryable, final   (stream) an error event
        expired      (stream) one progress event and the end; then 401 TOKEN_EXPIRED
  books=stripped      the completed event comes without books, which are in the results
  every=N             only each Nth of the devices with these wishes meets it, in the order of their first uploads
  once                only the first answer of each operation of a job or a device is sick
  retry-after=S       with a 429 or a 503

With --die-after it ends so many seconds after its first upload, as if killed. It ends with SIGTERM.
"""

import argparse
import collections
import http.server
import itertools
import json
import os
import signal
import sys
import threading
import time

SUCCESS = {"upload": 202, "stream": 200, "results": 200, "cleanup": 204}
CODES = {401: "UNAUTHORIZED", 404: "NOT_FOUND", 429: "RATE_LIMIT_EXCEEDED", 500: "INTERNAL_ERROR", 503: "CIRCUIT_OPEN"}
JOB_SECONDS = 0.2
BOOKS = [{"title": "Kindred", "author": "Octavia E. Butler", "isbn": None}, {"title": "Beloved", "author": "Toni Morrison", "isbn": None}]


class Talaria:
    """What all connections share."""

    def __init__(self, die_after):
        self.die_after = die_after
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        self.seen = set()
        self.devices = collections.defaultdict(list)
        self.dying = False

    def accept(self):
        with self.lock:
            if self.die_after is not None and not self.dying:
                self.dying = True
                threading.Timer(self.die_after, lambda: os._exit(0)).start()
        return next(self.numbers)

    def ordinal(self, device, wishes):
        """1 for the first device that asked anything with these wishes: runs at the same time do not count each other's."""
        with self.lock:
            devices = self.devices[wishes]
            if device not in devices:
                devices.append(device)
            return devices.index(device) + 1

    def is_first(self, key):
        with self.lock:
            is_first = key not in self.seen
            self.seen.add(key)
        return is_first


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    talaria = None

    def log_message(self, *_):
        pass

    # Requests

    def do_POST(self):
        self.drain()
        number = self.talaria.accept()
        self.operate("upload", number, self.headers.get("X-Device-ID"), lambda: self.accepted(number))

    def do_GET(self):
        number = self.job_number()
        if not number:
            self.problem(404)  # A job that nobody has: the question of a run before its load.
        elif self.path.split("?")[0].endswith("/stream"):
            self.operate("stream", number, number, lambda: self.stream(number))
        else:
            self.operate("results", number, number, lambda: self.whole(200, self.results(number)))

    def do_DELETE(self):
        number = self.job_number()
        self.operate("cleanup", number, number, lambda: self.whole(204, None))

    def operate(self, operation, number, key, well):
        stated = self.headers.get("X-Sick") or ""
        wishes = dict((word.split("=") + [""])[:2] for word in stated.split())
        wish = wishes.get(operation)
        device = self.talaria.ordinal(self.headers.get("X-Device-ID"), stated)
        is_sick = wish is not None and device % int(wishes.get("every", 1)) == 0
        if is_sick and "once" in wishes:
            is_sick = self.talaria.is_first((operation, key))
        self.strips = wishes.get("books") == "stripped"
        try:
            if is_sick:
                self.be_sick(operation, number, wish, wishes.get("retry-after"))
            else:
                well()
        except OSError:
            self.close_connection = True  # The phone has gone.

    def be_sick(self, operation, number, wish, retry_after):
        if wish.isdigit():
            self.problem(int(wish), retry_after=retry_after)
        elif wish == "silent":
            threading.Event().wait()
        elif wish == "close":
            self.close_connection = True
        elif wish == "html":
            self.whole(SUCCESS[operation], b"<!DOCTYPE html><title>Welcome</title>", kind="text/html")
        elif wish == "open":
            self.begin_stream()
            while True:
                self.event("ping", {})
                time.sleep(0.5)
        elif wish == "no-terminal":
            self.begin_stream()
            self.progress(number)
        elif wish in ("retryable", "final"):
            self.begin_stream()
            code = "PROVIDER_TIMEOUT" if wish == "retryable" else "INVALID_FILE"
            self.event("error", {"type": "error", "jobId": self.job_id(number), "code": code, "message": "No.", "retryable": wish == "retryable"})
        elif wish == "expired":
            if self.talaria.is_first(("expired", number)):
                self.begin_stream()
                self.progress(number)
            else:
                self.problem(401, code="TOKEN_EXPIRED")
        else:
            self.problem(500, detail=f"sick.py knows no {wish}")

    # Answers

    def accepted(self, number):
        path = f"/v3/jobs/scans/{self.job_id(number)}"
        data = {"jobId": self.job_id(number), "authToken": f"{number:064x}", "sseUrl": path + "/stream", "statusUrl": path}
        self.whole(202, json.dumps({"success": True, "data": data}).encode())

    def stream(self, number):
        self.begin_stream()
        self.progress(number)
        time.sleep(JOB_SECONDS)
        data = {
            "type": "complete",
            "jobId": self.job_id(number),
            "resultsUrl": f"/v3/jobs/scans/{self.job_id(number)}/results",
            "summary": {"totalDetected": len(BOOKS), "totalUnique": len(BOOKS), "approved": len(BOOKS), "needsReview": 0},
        }
        self.event("completed", data if self.strips else {**data, "books": self.books(number)})

    def results(self, number):
        data = {"jobId": self.job_id(number), "status": "completed", "results": self.books(number)}
        return json.dumps({"success": True, "data": data}).encode()

    def progress(self, number):
        data = {"type": "progress", "jobId": self.job_id(number), "status": "analyzing_image", "progress": 0.1, "processedCount": 0, "totalCount": 1}
        self.event("progress", data)

    def problem(self, status, code=None, detail="As asked for.", retry_after=None):
        code = code or CODES.get(status, "INVALID_REQUEST" if status < 500 else "API_ERROR")
        body = {"success": False, "type": "about:blank", "title": code, "status": status, "detail": detail, "code": code, "retryable": status == 429 or status >= 500}
        headers = {}
        if retry_after is not None:
            headers["Retry-After"] = retry_after
            body["retryAfterMs"] = int(retry_after) * 1000
        self.whole(status, json.dumps(body).encode(), kind="application/problem+json", headers=headers)

    # Bytes

    def whole(self, status, body, kind="application/json", headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body is not None:
            self.wfile.write(body)

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, name, data):
        self.wfile.write(f"id: {time.time_ns() // 1_000_000}-{name}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode())

    def drain(self):
        left = int(self.headers.get("Content-Length") or 0)
        while left > 0:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                return
            left -= len(piece)

    # Jobs

    @staticmethod
    def job_id(number):
        return f"{number:08x}-0000-4000-8000-000000000000"

    @staticmethod
    def books(number):
        return [{**book, "title": f"{book['title']} {number}"} for book in BOOKS]

    def job_number(self):
        try:
            return int(self.path.split("/")[4][:8], 16)
        except (IndexError, ValueError):
            return 0


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--die-after", type=float)
    Handler.talaria = Talaria(parser.parse_args().die_after)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # A parent may have blocked it for us.
    server = Server(("127.0.0.1", 0), Handler)
    print(f"listening http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main()
