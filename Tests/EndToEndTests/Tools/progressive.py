"""A client and a backend of progressive results, written from the documents alone.

    progressive.py read BASE         uploads a photo, follows its stream and prints what it read as JSON
    progressive.py serve [--lie] [--cancel EVERY]
        listens on a port of its choosing: each job sends `segmented`, `book_progress` and `result` events and then `completed`;
        with --lie it shows a book that is not among those of the job, with --cancel each EVERY-th job ends with `canceled`.
        It ends with SIGTERM.
"""

import argparse
import base64
import http.client
import http.server
import json
import os
import signal
import sys
import threading
import time
import uuid
from urllib.parse import urlsplit

DEVICE = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
PHOTO = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7"
    "gYKBTmCNl4x9lnN+gXz/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EAB0QAAECBwAAAAAAAAAAAAAAABIAERMU"
    "FSVEYpH/2gAIAQEAAD8AC41jKgTGwiXGZf/Z")
BOOKS = [{"title": f"Title {n}", "author": f"Author {n}", "isbn": None, "confidence": 0.9, "enrichmentStatus": "success",
          "coverUrl": None} for n in range(1, 4)]


# The client.

def markers(image):
    """The markers of a JPEG up to the data of its picture; fails for anything else (ITU-T T.81, annex B)."""
    assert image[:2] == b"\xff\xd8" and image[-2:] == b"\xff\xd9", "no JPEG"
    place, found = 2, []
    while True:
        assert image[place] == 0xFF
        while image[place] == 0xFF:
            place += 1
        found.append(image[place])
        if image[place] == 0xDA:
            return found
        place += 1 + int.from_bytes(image[place + 1:place + 3], "big")


def events(answer):
    fields = {}
    while line := answer.readline():
        text = line.decode().rstrip("\r\n")
        if not text and "data" in fields:
            yield fields.get("event", "message"), fields.get("id", ""), json.loads(fields["data"])
            fields = {}
        elif text and not text.startswith(":"):
            name, _, value = text.partition(": ")
            fields[name] = value


def read(base):
    parts = urlsplit(base)
    boundary = uuid.uuid4().hex
    body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"photos[]\"; filename=\"a.jpg\"\r\n"
            "Content-Type: image/jpeg\r\n\r\n").encode() + PHOTO + f"\r\n--{boundary}--\r\n".encode()
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request("POST", "/v3/jobs/scans", body, {
        "X-Device-ID": DEVICE, "Content-Type": f"multipart/form-data; boundary={boundary}"})
    data = json.loads(connection.getresponse().read())["data"]
    stream = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    stream.request("GET", data["sseUrl"], headers={
        "X-Device-ID": DEVICE, "Authorization": f"Bearer {data['authToken']}", "Accept": "text/event-stream"})
    told = {"names": [], "shown": [], "steps": []}
    for name, _, content in events(stream.getresponse()):
        told["names"].append(name)
        if name == "segmented":
            image = base64.b64decode(content["image"], validate=True)
            markers(image)
            told.update(imageBytes=len(image), totalBooks=content["totalBooks"])
        elif name == "book_progress":
            told["steps"].append([content["current"], content["total"]])
        elif name == "result":
            told["shown"].append([content["title"], content["author"]])
        elif name == "completed":
            told["books"] = [[book["title"], book["author"]] for book in content["books"]]
    print(json.dumps(told))


# The backend.

class Job:
    def __init__(self, number, options):
        self.id, self.token = str(uuid.uuid4()), uuid.uuid4().hex * 2
        self.began = time.time()
        self.events = []
        image = base64.b64encode(PHOTO[:2] + b"\xff\xfe\xff\xff" + bytes(65533) + PHOTO[2:]).decode()
        self.add("progress", {"type": "progress", "jobId": self.id, "status": "processing", "progress": 0.1,
                              "processedCount": 0, "totalCount": 3, "message": "Looking..."})
        self.add("segmented", {"image": image, "totalBooks": len(BOOKS)})
        if options.cancel and number % options.cancel == 0:
            self.add("canceled", {"jobId": self.id})
            return
        for index, book in enumerate(BOOKS):
            self.add("book_progress", {"current": index + 1, "total": len(BOOKS), "stage": "enriching_metadata"})
            lie = options.lie and index == 1
            self.add("result", dict(book, title="Of another photo") if lie else book)
        self.add("completed", {
            "type": "completed", "jobId": self.id, "resultsUrl": f"/v3/jobs/scans/{self.id}/results",
            "summary": {"totalDetected": len(BOOKS), "approved": len(BOOKS), "needsReview": 0}, "books": BOOKS})

    def add(self, name, data):
        due = self.began + 0.05 * (len(self.events) + 1)
        ident = f"{int(due * 1000)}-{name}"
        self.events.append((due, ident, f"id: {ident}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    jobs, lock, options = {}, threading.Lock(), None

    def log_message(self, *_):
        pass

    def answer(self, status, body=None):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json" if status < 400 else "application/problem+json")
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, code):
        self.answer(status, {"success": False, "type": "about:blank", "title": code, "status": status, "detail": code,
                             "code": code, "retryable": False})

    def job(self):
        if not self.headers.get("X-Device-ID"):
            return self.refuse(401, "UNAUTHORIZED")
        with self.lock:
            job = self.jobs.get(urlsplit(self.path).path.split("/")[4])
        if job is None:
            return self.refuse(404, "NOT_FOUND")
        if self.headers.get("Authorization") != f"Bearer {job.token}":
            return self.refuse(401, "INVALID_TOKEN")
        return job

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.lock:
            job = Job(len(self.jobs) + 1, self.options)
            self.jobs[job.id] = job
        path = f"/v3/jobs/scans/{job.id}"
        self.answer(202, {
            "success": True, "data": {"jobId": job.id, "authToken": job.token, "sseUrl": path + "/stream", "statusUrl": path},
            "_links": {"self": {"href": path}, "stream": {"href": path + "/stream"}, "cancel": {"href": path}},
            "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()), "requestId": job.id}})

    def do_GET(self):
        if not (job := self.job()):
            return
        if not self.path.endswith("/stream"):
            return self.answer(200, {"success": True, "data": {"jobId": job.id, "status": "completed", "results": BOOKS}})
        last = self.headers.get("Last-Event-ID")
        known = [ident for _, ident, _ in job.events]
        rest = job.events[known.index(last) + 1 if last in known else 0:] or job.events[-1:]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for due, _, data in rest:
            time.sleep(max(0, due - time.time()))
            self.wfile.write(data)
        self.close_connection = True

    def do_DELETE(self):
        if not (job := self.job()):
            return
        with self.lock:
            self.jobs[job.id] = None
        self.answer(204)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # A phone has gone.


def serve(options):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # A parent may have blocked it for us.
    Handler.options = options
    server = Server(("127.0.0.1", 0), Handler)
    print(f"listening http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("read").add_argument("base")
    backend = commands.add_parser("serve")
    backend.add_argument("--lie", action="store_true")
    backend.add_argument("--cancel", type=int)
    options = parser.parse_args()
    read(options.base) if options.command == "read" else serve(options)


if __name__ == "__main__":
    sys.exit(main())
