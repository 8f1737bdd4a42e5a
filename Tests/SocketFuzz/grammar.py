"""What the contract allows: answers of a backend, requests of a client, recordings of a server, and faults of a scenario.

Everything is a function of the generator that is passed in. JOB and TOKEN stand for values that are only known while a case
runs; each is as long as what replaces it, so that no length changes.
"""

import dataclasses
import json

JOB = "@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@"
TOKEN = "#" * 64
OPERATIONS = ["upload", "stream", "results", "cleanup"]
DEVICE = "6F9619FF-8B86-4D01-B42D-00CF4FC964%02X"
BASE = "/v3/jobs/scans"
TIMESTAMP = "2026-01-02T03:04:05.678Z"


@dataclasses.dataclass
class Message:
    """A request or an answer before it is bytes. `framing` is `length`, `chunked`, `close` or `none`."""

    start: str
    fields: list
    body: bytes
    framing: str

    def bytes(self):
        fields = list(self.fields)
        body = self.body
        if self.framing == "length":
            fields.append(["Content-Length", str(len(body))])
        elif self.framing == "chunked":
            fields.append(["Transfer-Encoding", "chunked"])
            body = chunked(body)
        head = self.start + "\r\n" + "".join("%s: %s\r\n" % (name, value) for name, value in fields) + "\r\n"
        return head.encode("latin-1", "replace") + (body if self.framing != "none" else b"")


def chunked(body, size=700):
    pieces = []
    while body:
        end = min(size, len(body))
        # What stands for a job stays in one piece.
        while body[end - 1 : end] in (b"@", b"-") and body[end : end + 1] in (b"@", b"-"):
            end += 1
        pieces.append(body[:end])
        body = body[end:]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class Plain:
    """In place of a generator: always what is most usual."""

    def random(self):
        return 0.5

    def choice(self, choices):
        return choices[0]

    def randrange(self, count):
        return min(2, count - 1)

    def getrandbits(self, bits):
        return 1


def text_of(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# Answers


def answer(operation, r, with_books=True):
    """An answer that the contract allows to one kind of request."""
    if operation == "upload":
        return accepted(r)
    if operation == "stream":
        return stream(r, with_books)
    if operation == "results":
        return results(r)
    if operation == "cleanup":
        return Message("HTTP/1.1 204 No Content", common(r), b"", "none")
    return problem(401, "INVALID_TOKEN")


def common(r):
    fields = [["X-Request-ID", "req-%016x" % r.getrandbits(64)]]
    if r.random() < 0.3:
        fields += [["X-RateLimit-Limit", "10"], ["X-RateLimit-Remaining", "9"], ["X-RateLimit-Reset", "1795411538"]]
    return fields


def as_json(status, reason, value, r, content_type="application/json"):
    return Message(
        "HTTP/1.1 %d %s" % (status, reason), common(r) + [["Content-Type", content_type]], text_of(value).encode(),
        r.choice(["length", "length", "chunked"]))


def accepted(r):
    path = BASE + "/" + JOB
    data = {"jobId": JOB, r.choice(["authToken"] * 9 + ["token"]): "%064x" % r.getrandbits(256)}
    data[r.choice(["sseUrl"] * 19 + ["streamUrl"])] = path + "/stream"
    data["statusUrl"] = path
    links = {
        name: {"href": path + rest, "rel": name, "method": method}
        for name, rest, method in [("self", "", "GET"), ("stream", "/stream", "GET"), ("cancel", "", "DELETE")]
    }
    body = {"success": True, "data": data}
    if r.random() < 0.8:
        body["_links"] = links
    if r.random() < 0.8:
        body["metadata"] = {"timestamp": TIMESTAMP, "requestId": "req-1"}
    return as_json(202, "Accepted", body, r)


def book(r, number):
    value = {"title": "Title %d" % number, "author": "Author %d" % number, "isbn": r.choice([None, "978%010d" % number])}
    value["confidence"] = r.choice([0.95, 1, 0, None])
    value["enrichmentStatus"] = r.choice(["success", "pending", "not_found", "review_needed", None])
    if r.random() < 0.3:
        value["coverUrl"] = r.choice([None, "https://covers.example/%d.jpg" % number])
        value["boundingBox"] = {"x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}
    return value


def books(r):
    return [book(r, number) for number in range(r.choice([3, 0, 1, 5, 8]))]


def results(r):
    return as_json(
        200, "OK", {"success": True, "data": {"jobId": JOB, "status": "completed", "results": books(r)}}, r)


def problem(status, code, r=None, **more):
    value = {
        "success": False, "type": "https://api.oooefam.net/errors/" + code.lower().replace("_", "-"),
        "title": code.replace("_", " ").title(), "status": status, "detail": "Something is wrong.", "instance": BASE,
        "code": code, "retryable": status >= 429, "metadata": {"timestamp": TIMESTAMP, "requestId": "req-1"}, **more,
    }
    return Message(
        "HTTP/1.1 %d Problem" % status, [["Content-Type", "application/problem+json"]], text_of(value).encode(),
        r.choice(["length", "chunked"]) if r else "length")


def any_problem(r):
    status, code = r.choice([
        (400, "INVALID_REQUEST"), (401, "TOKEN_EXPIRED"), (403, "FORBIDDEN"), (404, "NOT_FOUND"), (410, "NOT_FOUND"),
        (413, "FILE_TOO_LARGE"), (429, "RATE_LIMIT_EXCEEDED"), (500, "INTERNAL_ERROR"), (502, "PROVIDER_ERROR"),
        (503, "CIRCUIT_OPEN"), (504, "TIMEOUT")])
    more = {"retryAfterMs": r.choice([0, 1, 20, 60_000])} if r.random() < 0.6 else {}
    message = problem(status, code, r, **more)
    if r.random() < 0.6:
        message.fields.append(["Retry-After", r.choice(["0", "1", "60", "Sat, 01 Jan 2028 00:00:00 GMT"])])
    return message


# Streams


def stream(r, with_books=True):
    return Message(
        "HTTP/1.1 200 OK", common(r) + [["Content-Type", "text/event-stream"], ["Cache-Control", "no-cache"]],
        "".join(events(r, with_books)).encode(), r.choice(["chunked", "close"]))


def events(r, with_books=True):
    """The blocks of a job's stream, in their order."""
    blocks = [": connection established\n\n", "retry: 5000\n\n"][: r.randrange(3)]
    at = 1_738_419_600_000
    for step in range(r.randrange(5)):
        at += r.randrange(3_000)
        blocks.append(block("progress", at, {
            "jobId": JOB, "type": "progress", "status": r.choice(["initialized", "processing"]), "progress": step / 5,
            "processedCount": step, "totalCount": 5, "message": "Reading...", "timestamp": TIMESTAMP}))
        if r.random() < 0.2:
            blocks.append(block("ping", at, {"type": "ping", "timestamp": TIMESTAMP}))
        if r.random() < 0.1:
            blocks.append(block("enrichment_degraded", at, {
                "type": "enrichment_degraded", "jobId": JOB, "isbn": "9780000000001", "title": "Title",
                "reason": "isbndb_circuit_open", "fallbackSource": "raw", "timestamp": TIMESTAMP}))
    if r.random() < 0.1:
        blocks.append(block("error", at + 1, {
            "type": "error", "jobId": JOB, "code": "ANALYSIS_SERVICE_UNAVAILABLE", "message": "Later.",
            "retryable": r.random() < 0.7}))
    else:
        completed = {
            "type": "completed", "jobId": JOB, "resultsUrl": "%s/%s/results" % (BASE, JOB),
            "summary": {"totalProcessed": 5, "enriched": 5, "failed": 0}}
        if with_books:
            completed["books"] = books(r)
        blocks.append(block(r.choice(["completed", "completed", "complete"]), at + 1, completed))
    return blocks


def block(name, at, data):
    return "id: %d-%s\nevent: %s\ndata: %s\n\n" % (at, name, name, text_of(data))


# Requests


def request(operation, r, host="127.0.0.1"):
    """A request that the contract allows, of a phone that has a job where it needs one."""
    device = DEVICE % r.randrange(4)
    fields = [["Host", host], ["X-Device-ID", device]]
    if operation != "upload":
        fields.append(["Authorization", "Bearer " + TOKEN])
    if operation == "upload":
        boundary = "b%015x" % r.getrandbits(60)
        fields.append(["Content-Type", "multipart/form-data; boundary=" + boundary])
        if r.random() < 0.15:
            fields.append(["Expect", "100-continue"])
        photos = [b"\xff\xd8\xff\xe0" + r.randbytes(r.choice([10, 300, 20_000])) for _ in range(r.choice([1, 1, 2, 5]))]
        return Message(
            "POST %s HTTP/1.1" % BASE, fields, multipart(boundary, photos), r.choice(["length", "length", "chunked"]))
    if operation == "stream":
        fields.append(["Accept", "text/event-stream"])
        if r.random() < 0.3:
            fields.append(["Last-Event-ID", "1738419600000-progress"])
        return Message("GET %s/%s/stream HTTP/1.1" % (BASE, JOB), fields, b"", "none")
    if operation == "results":
        return Message("GET %s/%s/results?format=lite HTTP/1.1" % (BASE, JOB), fields, b"", "none")
    if operation == "cleanup":
        return Message("DELETE %s/%s/cleanup HTTP/1.1" % (BASE, JOB), fields, b"", "none")
    target = r.choice(["/_sim", "/", BASE + "/" + JOB, "/nothing", "http://127.0.0.1/_sim", "*"])
    return Message("%s %s HTTP/1.1" % (r.choice(["GET", "HEAD", "OPTIONS", "DELETE"]), target), fields, b"", "none")


def multipart(boundary, photos):
    parts = [
        b'--%s\r\nContent-Disposition: form-data; name="photos[]"; filename="%d.jpg"\r\nContent-Type: image/jpeg\r\n\r\n%s\r\n'
        % (boundary.encode(), number, photo) for number, photo in enumerate(photos)]
    return b"".join(parts) + b"--%s--\r\n" % boundary.encode()


# Recordings


def recording(r):
    """The lines of a recording of one or two jobs, each value as `serve --record` writes it."""
    lines = [{"began": TIMESTAMP, "by": "serve", "recording": 1}]
    at, number = 1_000_000, 0
    for job in range(r.choice([1, 1, 2])):
        name = "%08d-0000-4000-8000-000000000000" % job
        for operation in OPERATIONS:
            number += 1
            asked, answered = request(operation, r), answer(operation, r)
            method, path, _ = asked.start.split(" ")
            device = dict(asked.fields)["X-Device-ID"]
            _, status, _ = answered.start.split(" ", 2)
            entry = {"device": device, "method": method, "path": path.split("?")[0].replace(JOB, name)}
            lines.append({"exchange": number, "request": entry, "t": at})
            head = {"headers": answered.fields, "status": int(status)}
            if answered.framing == "length":
                head["length"] = len(answered.body)
            lines.append({"exchange": number, "head": head, "t": at + 1_000})
            for line in answered.body.decode().replace(JOB, name).split("\n\n"):
                at += r.randrange(20_000_000)
                text = line + "\n\n" if operation == "stream" else line
                lines.append({"body": text, "exchange": number, "t": at + 2_000})
            lines.append({"end": r.choice(["complete"] * 4 + ["close", "reset", "silence"]), "exchange": number, "t": at + 3_000})
            at += 1_000_000
    return lines


# Scenarios

FAULTS = """
{do: http-error, on: upload, status: 503, retry-after: 1s, chance: 20%}
{do: http-error, on: upload, status: 400, chance: 20%}
{do: http-error, on: stream, status: 500, chance: 20%}
{do: http-error, on: results, status: 503, chance: 50%}
{do: rate-limit, quota: 1 per 4s, retry-after: 2s}
{do: strip-books, as: renamed, chance: 50%}
{do: truncate-results, chance: 50%}
{do: reorder-results, chance: 50%}
{do: expire-token, on: stream, after: 20ms, chance: 30%}
{do: job-gone, on: stream, status: 404, chance: 20%}
{do: bad-json, in: completed, chance: 30%}
{do: degraded, books: 50%, chance: 50%}
{do: unknown-event, after: 1 events, chance: 50%}
{do: two-terminals, chance: 50%}
{do: no-message, chance: 50%}
{do: split-data, chance: 50%}
{do: end-without-terminal, chance: 30%}
{do: retryable-error, after: 1 events, chance: 20%}
{do: final-error, after: 1 events, chance: 20%}
{do: forget-events, after: 1 events, chance: 30%}
{do: ignore-last-event-id, chance: 50%}
{do: slice, on: stream, bytes: 1..7, chance: 50%}
{do: slice, on: upload, bytes: 1..7, chance: 50%}
{do: slice, on: results, bytes: 1..3, chance: 50%}
{do: reset, on: stream, after: 1..4 events, cut: inside-event, chance: 30%}
{do: reset, on: upload, side: reply, chance: 20%}
{do: reset, on: upload, side: request, after: 4KiB, chance: 20%}
{do: reset, on: cleanup, side: reply, chance: 30%}
{do: close, on: stream, after: 1..3 events, cut: inside-line-end, chance: 30%}
{do: close, on: upload, side: request, after: 4KiB, chance: 20%}
{do: silence, on: stream, after: 1 events, chance: 20%}
{do: refuse, on: upload, chance: 20%}
{do: delay, on: link, by: 1ms..50ms}
{do: bandwidth, on: upload, rate: 2400kbps, chance: 50%}
""".strip().splitlines()


def faults(r):
    """None half of the time, since a fault hides what an answer would have done."""
    return r.sample(FAULTS, r.randrange(1, 4)) if r.random() < 0.5 else []
