"""A Talaria that looks up batches of books by barcode, on a port of its own choosing. It says `listening http://127.0.0.1:PORT`.

usage: batches.py [--unknown N] [--withheld N] [--admitted N]

  --unknown N    it does not know each Nth book that it is asked for (default: none)
  --withheld N   the results leave out N more books of each batch
  --admitted N   the failures that its completed event counts, whatever they are (default: the unknown ones)

It keeps the contract of v2 otherwise. It ends with SIGTERM.
"""

import argparse
import http.server
import itertools
import json
import os
import signal
import time

JOB_SECONDS = 0.2


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    numbers = itertools.count(1)
    asked = itertools.count(1)
    jobs = {}
    options = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        barcodes = body.get("barcodes") or [book["isbn"] for book in body["books"]]
        unknown = [code for code in barcodes if self.options.unknown and next(self.asked) % self.options.unknown == 0]
        job = "enrichment_%08d" % next(self.numbers)
        self.jobs[job] = (barcodes, unknown)
        data = {
            "jobId": job, "authToken": "t" * 32, "token": "t" * 32, "processedCount": 0, "totalCount": len(barcodes),
            "sseUrl": f"/api/v2/enrichments/{job}/stream", "statusUrl": f"/api/v2/enrichments/{job}",
        }
        self.whole(202, {"success": True, "data": data, "metadata": self.metadata()})

    def do_GET(self):
        parts = self.path.split("?")[0].split("/")
        job = parts[4] if len(parts) > 4 else ""
        if job not in self.jobs:
            self.refuse(404)
        elif parts[-1] == "stream":
            self.stream(job)
        else:
            self.whole(200, {"success": True, "data": {"jobId": job, "books": self.books(job)}, "metadata": self.metadata()})

    def do_DELETE(self):
        job = self.path.split("/")[-1]
        if job not in self.jobs:
            return self.refuse(404)
        data = {"jobId": job, "status": "canceled", "message": "It is over.", "cleanup": {"r2ObjectsDeleted": 0, "kvCacheCleared": True}}
        self.whole(200, {"success": True, "data": data, "metadata": self.metadata()})

    # Jobs

    def found(self, job):
        barcodes, unknown = self.jobs[job]
        return [code for code in barcodes if code not in unknown]

    def books(self, job):
        found = self.found(job)
        return [
            {"title": "Book " + code, "author": "Somebody", "isbn": code, "enrichmentStatus": "success"}
            for code in found[:len(found) - self.options.withheld]
        ]

    def stream(self, job):
        barcodes, unknown = self.jobs[job]
        failed = len(unknown) if self.options.admitted is None else self.options.admitted
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        state = {"jobId": job, "status": "processing", "progress": 0.5, "processedCount": 0, "totalCount": len(barcodes)}
        self.event("progress", "processing", state)
        time.sleep(JOB_SECONDS)
        summary = {"totalProcessed": len(barcodes), "successCount": len(barcodes) - failed, "failureCount": failed}
        self.event("final", "completed", {
            "jobId": job, "type": "job_complete", "pipeline": "batch_enrichment", "summary": summary,
            "expiresAt": "2030-01-01T00:00:00.000Z"})

    # Bytes

    def event(self, suffix, name, data):
        milliseconds = time.time_ns() // 1_000_000
        self.wfile.write(f"id: {milliseconds}-{suffix}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode())

    @staticmethod
    def metadata():
        return {"timestamp": "2026-01-01T00:00:00.000Z"}

    def refuse(self, status):
        error = {"code": "NOT_FOUND", "message": "There is no such job.", "retryable": False}
        self.whole(status, {"success": False, "error": error})

    def whole(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unknown", type=int, default=0)
    parser.add_argument("--withheld", type=int, default=0)
    parser.add_argument("--admitted", type=int)
    Handler.options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # A parent may have blocked it for us.
    server = Server(("127.0.0.1", 0), Handler)
    print(f"listening http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main()
