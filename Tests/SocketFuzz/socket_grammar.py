"""What the contract allows on WebSockets (Docs/contract.md section 3.4): answers of v2, handshakes, messages and frames.

ACCEPT and PROTOCOL stand for what an answer takes from its request.
"""

import base64
import dataclasses
import hashlib
import re

import delivery
import grammar

KEY = "AAECAwQFBgcICQoLDA0ODw=="
ACCEPT = "&" * 28
SUBPROTOCOL = "bookstrack-auth."
PROTOCOL = "~" * (len(SUBPROTOCOL) + len(grammar.TOKEN))
KEY_FIELD = re.compile(rb"\r\nsec-websocket-key: *([^\r]*)", re.I)
PROTOCOL_FIELD = re.compile(rb"\r\nsec-websocket-protocol: *([^\r,]*)", re.I)
JOB = "scan_" + grammar.JOB
TARGET = "/ws/progress?jobId="
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
FINAL = 0x80
NORMAL = (1_000).to_bytes(2, "big")


@dataclasses.dataclass
class Frame:
    """`length`: how many bytes beside the first two it takes, and the value; None for the shortest that is true."""

    opcode: int
    payload: bytes = b""
    key: bytes = b""
    flags: int = FINAL
    length: tuple = None

    def bytes(self):
        size = len(self.payload)
        count, value = self.length or (0 if size < 126 else 2 if size < 1 << 16 else 8, size)
        short = {0: value, 2: 126, 8: 127}[count] | (0x80 if self.key else 0)
        return bytes([self.flags | self.opcode, short]) + (value.to_bytes(count, "big") if count else b"") \
            + self.key + self.masked()

    def masked(self):
        size = len(self.payload)
        key = (self.key * (size // 4 + 1))[:size] if self.key else bytes(size)
        return (int.from_bytes(self.payload, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")


def written(frames):
    return b"".join(frame.bytes() for frame in frames)


def fragments(payload, r, key=b""):
    """A message of text in frames, with a ping between the first two."""
    cut = r.choice([1, 16, 60])
    pieces = [payload[at : at + cut] for at in range(0, len(payload), cut)] or [b""]
    frames = [Frame(CONTINUATION if at else TEXT, piece, key, 0) for at, piece in enumerate(pieces)]
    frames[-1].flags = FINAL
    return frames[:1] + [Frame(PING, b"between", key)] + frames[1:]


def in_frames(texts, r, key=b""):
    """Messages, and the close frame behind them."""
    frames = []
    for text in texts:
        payload = text.encode()
        frames += fragments(payload, r, key) if r.random() < 0.1 else [Frame(TEXT, payload, key)]
        if r.random() < 0.1:
            frames.append(Frame(r.choice([PING, PONG]), b"some bytes", key))
    return frames + [Frame(CLOSE, NORMAL, key)]


# Servers


def answer(operation, r, with_books=True):
    """An answer of v2 that the contract allows to one kind of request; to one for a stream the 101 alone."""
    if operation == "stream":
        return switch(r)
    data = {"jobId": JOB}
    if operation == "upload":
        data.update({"authToken": "%064x" % r.getrandbits(256), "totalPhotos": 1, "status": "processing"})
        data.update(r.choice([{"websocketUrl": TARGET + JOB}, {"sseUrl": "/api/v2/scans/%s/stream" % JOB}]))
    elif operation == "results":
        data.update({"status": "completed", "totalCount": 5, "books": grammar.books(r) if with_books else []})
    elif operation == "cleanup":
        data["status"] = "canceled"
    else:
        return grammar.answer(operation, r)
    body = {"success": True, "data": data, "metadata": {"timestamp": grammar.TIMESTAMP}}
    return grammar.as_json(*((202, "Accepted") if operation == "upload" else (200, "OK")), body, r)


def switch(r):
    fields = [["Upgrade", "websocket"], ["Connection", "Upgrade"], ["Sec-WebSocket-Accept", ACCEPT]]
    if r.random() < 0.9:
        fields.append(["Sec-WebSocket-Protocol", PROTOCOL])
    return grammar.Message("HTTP/1.1 101 Switching Protocols", fields, b"", "none")


def events(r):
    """The messages of a job, in their order."""
    at = 1_738_419_600_000
    state = {"progress": 0.1, "status": "processing", "processedCount": 0, "totalCount": 5}
    texts = [message("ready_ack", at, {"timestamp": at}, JOB)]
    texts.append(message(r.choice(["job_started", "reconnected", "batch-init"]), at, state, JOB))
    for step in range(r.randrange(5)):
        at += r.randrange(3_000)
        name = r.choice(["job_progress", "job_progress", "batch-progress", "ping"])
        progress = {"timestamp": at} if name == "ping" else {**state, "progress": step / 5, "processedCount": step}
        texts.append(message(name, at, progress, JOB))
    if r.random() < 0.1:
        error = {"error": {"code": "E_AI", "message": "Later.", "retryable": r.random() < 0.7}, "progress": 0.5}
        return texts + [message("error", at + 1, {**state, **error}, JOB)]
    summary = {"totalProcessed": 5, "successCount": 5, "failureCount": 0, "duration": 400,
               "resourceId": "job-results:" + JOB}
    return texts + [message("job_complete", at + 1, {"summary": summary, "expiresAt": grammar.TIMESTAMP}, JOB)]


def message(name, at, payload=None, job=None):
    value = {"type": name, "timestamp": at}
    if job:
        value.update({"jobId": job, "pipeline": "ai_scan", "version": "1.0.0"})
    return grammar.text_of({**value, "payload": payload} if payload else value)


def kept(operation, r=None):
    """The steps of an answer that keeps the contract; the same every time, without a generator."""
    r = r or grammar.Plain()
    if operation != "stream":
        return delivery.whole(answer(operation, r))
    frames = written(in_frames(events(r), r)).decode("latin-1")
    return delivery.whole(switch(r)) + [["read", 0.2], ["send", frames], ["read", 1], ["close"]]


def accept(key):
    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


def filled(text, head):
    """What an answer takes from the head of its request."""
    key, protocol = KEY_FIELD.search(head), PROTOCOL_FIELD.search(head)
    text = text.replace(ACCEPT.encode(), accept(key[1] if key else b""))
    return text.replace(PROTOCOL.encode(), protocol[1] if protocol else b"none")


# Clients


def upload():
    """A batch, whose books come soon."""
    body = grammar.text_of({"barcodes": ["9780306406157"], "vectorize": True}).encode()
    fields = [["Content-Type", "application/json"], ["X-Device-ID", grammar.DEVICE % 1]]
    return grammar.Message("POST /api/batch-enrich HTTP/1.1", fields, body, "length")


def upgrade(r):
    """A client that has lost the socket says so. A job's token opens one socket and its returns."""
    again = "&reconnect=true" if r.random() < 0.8 else ""
    fields = [
        ["Host", "127.0.0.1"], ["X-Device-ID", grammar.DEVICE % 1], ["Upgrade", "websocket"],
        ["Connection", "Upgrade"], ["Sec-WebSocket-Key", KEY], ["Sec-WebSocket-Version", "13"],
        ["Sec-WebSocket-Protocol", SUBPROTOCOL + grammar.TOKEN]]
    return grammar.Message("GET %s%s%s HTTP/1.1" % (TARGET, grammar.JOB, again), fields, b"", "none")


def said(r):
    """The frames of a client, which is ready first. Those that it masks with zeros hold text as it is."""
    names = [r.choice(["pong", "ping", "ready"]) for _ in range(r.randrange(6))]
    names += [r.choice(["cancel", "cancel_batch"])] if r.random() < 0.15 else []
    texts = [message(name, 1_738_419_600_000, {"timestamp": 1, "latency": 0}) for name in names]
    frames = in_frames([message("ready", 1_738_419_600_000), *texts], r, r.choice([r.randbytes(4), bytes(4)]))
    return frames if r.random() < 0.4 else frames[:-1]
