"""A backend with none of the API's paths: tickets and their events.

usage: tickets.py    prints "listening URL", and ends with SIGTERM
"""

import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Tickets(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(201, b"ticket 7")

    def do_GET(self):
        if not self.path.startswith("/tickets/"):
            self.answer(404, b"no ticket")
        elif not self.path.endswith("/events"):
            self.answer(200, b"open")
        else:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for number in range(1, 6):
                self.wfile.write(b"id: %d\nevent: tick\ndata: {\"n\": %d}\n\n" % (number, number))
                time.sleep(0.05)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Tickets)
# A client that leaves before the end is expected.
server.handle_error = lambda *_: None
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(f"listening http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
