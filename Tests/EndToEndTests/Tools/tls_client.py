"""A client of a server with TLS, written on Python's ssl module.

    tls_client.py probe BASE AUTHORITY [NAME]
    tls_client.py stream BASE AUTHORITY PHOTO
    tls_client.py many BASE AUTHORITY PROCESS COUNT

`probe` tells what the server presents and which clients it refuses. `stream` uploads a photo, follows its stream and tells
how the connection ends, also without TLS. `many` makes connections one after another, each with a request, and tells the memory of the server's
process in KiB after COUNT of them and after COUNT more. Each prints one JSON object.
"""

import json
import re
import socket
import ssl
import sys
import warnings
from urllib.parse import urlsplit

DEVICE = "6F9619FF-8B86-4D01-B42D-00CF4FC964FF"
# Of a phone of no fleet: only phones get the times of events, which say what is a replay.
TRACE = "00-00000000000000018000000100000001-0200000000000001-01"
warnings.simplefilter("ignore", DeprecationWarning)


def context(authority):
    made = ssl.create_default_context(cafile=authority)
    made.verify_flags |= ssl.VERIFY_X509_STRICT
    return made


class Connection:
    """A TCP connection, with TLS over buffers in memory: an error of the socket stays one. Without a context, no TLS."""

    def __init__(self, base, made, name=None):
        url = urlsplit(base)
        self.socket = socket.create_connection((url.hostname, url.port), timeout=10)
        self.tls = None
        if made:
            self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self.tls = made.wrap_bio(self.incoming, self.outgoing, server_hostname=name or url.hostname)
            try:
                self.pump(self.tls.do_handshake)
            except BaseException:
                self.close()
                raise

    def pump(self, operation, *arguments):
        while True:
            try:
                result = operation(*arguments)
                self.send_outgoing()
                return result
            except ssl.SSLWantReadError:
                self.send_outgoing()
                received = self.socket.recv(65536)
                if received:
                    self.incoming.write(received)
                else:
                    self.incoming.write_eof()
            except ssl.SSLZeroReturnError:
                return b""
            except ssl.SSLError:
                self.send_outgoing()
                raise

    def send_outgoing(self):
        # Even to send nothing fails after a reset, and would lose what was read before it.
        pending = self.outgoing.read()
        if pending:
            self.socket.sendall(pending)

    def sendall(self, data):
        if self.tls:
            self.pump(self.tls.write, data)
        else:
            self.socket.sendall(data)

    def recv(self, count):
        return self.pump(self.tls.read, count) if self.tls else self.socket.recv(count)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def refusal(base, made, name=None):
    """The reason why no connection is made; None if one is."""
    try:
        with Connection(base, made, name) as connection:
            # With TLS 1.3 an alert comes after the client's part of the handshake.
            connection.sendall(b"GET /_sim HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n")
            return None if connection.recv(1) else "closed"
    except ssl.SSLError as error:
        return error.reason or str(error).partition(" (")[0]


def probe(base, authority, name=None):
    made = context(authority)
    made.set_alpn_protocols(["h2", "http/1.1"])
    with Connection(base, made, name) as connection:
        certificate = connection.tls.getpeercert()
        seen = {
            "version": connection.tls.version(),
            "alpn": connection.tls.selected_alpn_protocol(),
            "names": [value for _, value in certificate["subjectAltName"]],
            "days": (ssl.cert_time_to_seconds(certificate["notAfter"])
                     - ssl.cert_time_to_seconds(certificate["notBefore"])) / 86400,
        }
    old = context(authority)
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("DEFAULT@SECLEVEL=0")
    tls12 = context(authority)
    tls12.maximum_version = ssl.TLSVersion.TLSv1_2
    http2 = context(authority)
    http2.set_alpn_protocols(["h2"])
    seen["refused"] = {
        "TLS 1.1": refusal(base, old, name),
        "TLS 1.2": refusal(base, tls12, name),
        "HTTP/2 only": refusal(base, http2, name),
        "other name": refusal(base, context(authority), "other.test"),
        "untrusted": refusal(base, ssl.create_default_context(), name),
    }
    return seen


def exchange(connection, request):
    """Sends a request and returns what comes, and how the connection ends."""
    connection.sendall(request)
    received = b""
    try:
        while True:
            piece = connection.recv(65536)
            if not piece:
                return received, "close_notify" if connection.tls else "fin"
            received += piece
    except ConnectionResetError:
        return received, "reset"
    except ssl.SSLEOFError:
        return received, "eof"
    except TimeoutError:
        return received, "timeout"


def stream(base, authority, photo):
    made = context(authority) if base.startswith("https:") else None
    with open(photo, "rb") as file:
        content = file.read()
    body = (b'--B\r\nContent-Disposition: form-data; name="photos[]"; filename="shelf.jpg"\r\n'
            b"Content-Type: image/jpeg\r\n\r\n" + content + b"\r\n--B--\r\n")
    head = (f"POST /v3/jobs/scans HTTP/1.1\r\nHost: localhost\r\nX-Device-ID: {DEVICE}\r\nConnection: close\r\n"
            f"Content-Type: multipart/form-data; boundary=B\r\nContent-Length: {len(body)}\r\n\r\n")
    with Connection(base, made) as connection:
        answer, _ = exchange(connection, head.encode() + body)
    job = json.loads(answer.partition(b"\r\n\r\n")[2])["data"]
    request = (f"GET {job['sseUrl']} HTTP/1.1\r\nHost: localhost\r\nX-Device-ID: {DEVICE}\r\n"
               f"traceparent: {TRACE}\r\n"
               f"Authorization: Bearer {job['authToken']}\r\nAccept: text/event-stream\r\n\r\n")
    connection = Connection(base, made)
    connection.socket.settimeout(4)
    received, end = exchange(connection, request.encode())
    connection.close()
    # A replay, which comes only to a client that connects late, is not counted by a fault.
    events = re.sub(r": t=\d+ replayed\r?\n(?:.+\n)*", "", received.decode())
    return {"end": end, "events": re.findall(r"event: (\S+)", events),
            "whole": received.endswith(b"0\r\n\r\n")}


def memory(process):
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def many(base, authority, process, count):
    made = context(authority)
    request = b"GET /_sim/nonce HTTP/1.1\r\nHost: localhost\r\n\r\n"
    sizes = []
    for _ in range(2):
        for number in range(int(count)):
            with Connection(base, made) as connection:
                # Some leave in the middle of a request.
                connection.sendall(request[:20] if number % 3 == 0 else request)
                if number % 3:
                    connection.recv(4096)
        sizes.append(memory(process))
    return {"before": sizes[0], "after": sizes[1]}


print(json.dumps({"probe": probe, "stream": stream, "many": many}[sys.argv[1]](*sys.argv[2:])))
