"""What is done to messages: their JSON, their fields, their bytes, and the way in which they are sent.

A delivery is a list of steps, JSON through and through, so that a case can be kept in a file:

  ["send", TEXT]           these bytes (Latin-1)
  ["send", TEXT, TIMES]    the same so many times
  ["trickle", TEXT, SECONDS]  byte by byte, with so long a pause behind each
  ["wait", SECONDS]
  ["read", SECONDS]        a client: until something came and nothing more does, at most so long
  ["half"]                 a client: no more will be sent, and it goes on reading
  ["close"] / ["reset"]    the end of the connection
  ["early"]                a server, as the first step: answers when it has the head, and never reads the body

A delivery without an end leaves the connection open for the next exchange.
"""

import json

import grammar

NUMBERS = """0 -0 1 -1 0.5 1e-400 1e400 -1e400 1e308 9007199254740993 2147483647 2147483648 -2147483649 4294967296
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 9223372036854775 9223372037 18446744073709551615
18446744073709551616 99999999999999999999999999 1.7976931348623157e309 0e99999 00 +1 0x10 NaN Infinity 1_000 60000 86400000""".split()
INTEGERS = "0 1 99 100 204 304 999 1000 4294967296 9223372036854775807 9223372036854775806 9223372036000000000 18446744073709551615".split()
DATES = [
    "Mon, 01 Jan 0001 00:00:00 GMT", "Sat, 01 Jan 1600 00:00:00 GMT", "Sat, 01 Jan 0000 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 31 Dec 1969 23:59:59 GMT",
    "Tue, 19 Jan 2038 03:14:08 GMT", "Fri, 30 Feb 2026 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:60 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 99999 23:59:59 GMT",
]
STATUS_LINES = [
    "HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.0 200 OK", "HTTP/2 200", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK",
    "HTTP/1.1 000 Zero", "HTTP/1.1 099 Low", "HTTP/1.1 999 High", "HTTP/1.1 -200 OK", "HTTP/1.1 204 No Content",
    "HTTP/1.1 205 Reset", "HTTP/1.1 304 Not Modified", "HTTP/1.1 206 Partial", "HTTP/1.1 302 Found", "HTTP/1.1 407 Proxy",
    "HTTP/1.1 421 Misdirected", "HTTP/1.1 503 Busy", "HTTP/1.1 429 Slow", "HTTP/1.1 401 No", "HTTP/1.1 404 Gone", "ICY 200 OK",
    "HTTP/9.9 200 OK", "http/1.1 200 ok", "HTTP/1.1\t200\tOK", "HTTP/1.1 200 " + "O" * 70_000, "HTTP/1.1 200 \x00\x1b[31m\x07",
    "", "RTSP/1.0 200 OK", "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 100 Continue", "HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK",
]
REQUEST_LINES = [
    "GET / HTTP/1.1", "GET / HTTP/1.0", "GET /", "GET", "", "GET / HTTP/2.0", "PRI * HTTP/2.0", "GET /%00 HTTP/1.1",
    "GET //../../etc/passwd HTTP/1.1", "GET /\x1b[31m HTTP/1.1", "CONNECT 127.0.0.1:1 HTTP/1.1", "TRACE / HTTP/1.1",
    "GET /" + "a" * 20_000 + " HTTP/1.1", "A" * 70_000 + " / HTTP/1.1", "GET /_sim?%zz=\xff HTTP/1.1", "get / HTTP/1.1",
    "GET  /  HTTP/1.1", "GET /v3/jobs/scans/%2e%2e/stream HTTP/1.1", "POST http://[::1/v3/jobs/scans HTTP/1.1",
    "GET /v3/jobs/scans/" + "x" * 4_000 + "/stream HTTP/1.1", "DELETE /v3/jobs/scans//cleanup HTTP/1.1",
]
FIELD_LINES = [
    " folded: first\r\n", "\tfolded\r\n", ": nameless\r\n", "no colon\r\n", "Bad Name: x\r\n", "X(y): z\r\n", "X\x00Y: z\r\n",
    "X: \x00\x1b[2J\r\n", "X: a\rb\r\n", "X: a\nb\r\n", "X: \xff\xfe\r\n", "\xe4: x\r\n", "X:\r\n", "X" * 5_000 + ": y\r\n",
    "X: " + "y" * 70_000 + "\r\n", "Content-Length: 5\r\n", "Content-Length: -1\r\n", "Content-Length: +7\r\n",
    "Content-Length: 99999999999999999999\r\n", "Content-Length: 9223372036854775807\r\n", "Content-Length: 0\r\n",
    "Content-Length: 1, 2\r\n", "Content-Length: 0x10\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding:\r\n",
    "Content-Encoding: gzip\r\n", "Content-Encoding: br\r\n", "Content-Type: text/html\r\n", "Content-Type: text/event-stream\r\n",
    "Content-Type: application/json; charset=utf-16\r\n", "Content-Type: multipart/form-data\r\n",
    "Content-Type: multipart/form-data; boundary=" + "b" * 300 + "\r\n", "Connection: close\r\n",
    "Connection: Content-Length, X-Device-ID\r\n", "Connection: upgrade\r\nUpgrade: websocket\r\n", "Keep-Alive: timeout=-1\r\n",
    "Location: http://127.0.0.1:1/\r\n", "Location: //evil.example\r\n", "Location: file:///etc/passwd\r\n",
    "Set-Cookie: a=b; Expires=Mon, 01 Jan 0001 00:00:00 GMT; Max-Age=99999999999999999999\r\n",
    "Alt-Svc: h2=\"127.0.0.1:1\"; ma=99999999999999999999\r\n", "Strict-Transport-Security: max-age=99999999999999999999\r\n",
    "WWW-Authenticate: Digest realm=\"\x1b\"\r\n", "Date: Mon, 01 Jan 0001 00:00:00 GMT\r\n", "Expect: 100-continue\r\n",
    "Expect: 200-maybe\r\n", "Host: evil.example\r\n", "Host: \r\n", "X-Device-ID: not-a-uuid\r\n", "Last-Event-ID: \x00\xff\r\n",
    "traceparent: 00-" + "f" * 32 + "-" + "f" * 16 + "-01\r\n", "traceparent: 00-00000000000000010000000000000000-0100000000000001-01\r\n",
    "Range: bytes=9223372036854775807-\r\n", "Trailer: X\r\n",
]
CHUNKS = [
    b"ffffffffffffffff\r\nx\r\n", b"7fffffffffffffff\r\nx\r\n", b"10000000000000000\r\n", b"-1\r\nx\r\n", b"0x5\r\nhello\r\n",
    b"5;" + b"e" * 70_000 + b"\r\nhello\r\n", b"5 \r\nhello\r\n", b"5\nhello\n", b"5\r\nhelloworld\r\n", b"\r\n", b"zz\r\n",
    b"0\r\nX: y\r\n" * 3, b"0\r\n" + b"T: v\r\n" * 20_000 + b"\r\n", b"00000000000000000000000000005\r\nhello\r\n",
]
BLOCKS = [
    "data\n\n", "data:\n\n", "event\n\n", "id: \x00\n\n", "id\n\n", "retry: 99999999999999999999\n\n", "retry: -1\n\n",
    "retry: 0\n\n", ": \x1b[31m\n\n", "\ufeffdata: x\n\n", "data: x\r\r", "data: x\r\n\r\n", ":" * 100 + "\n",
    "event: completed\ndata: {}\n\n", "event: completed\ndata: null\n\n", "event: completed\ndata: [\n\n",
    "event: error\ndata: {}\n\n", "event: ping\ndata: {\"timestamp\":-1e400}\n\n", "event: \x1b]0;x\x07\ndata: {}\n\n",
    "event: result\ndata: {\"book\":{}}\n\n", "event: progress\ndata: " + "[" * 20_000 + "\n\n",
    "event: progress\ndata: {\"progress\":1e400,\"totalCount\":9223372036854775808}\n\n",
    "id: 99999999999999999999-progress\nevent: progress\ndata: {}\n\n", "id: -9223372036854775808-x\ndata: {}\n\n",
    "id: " + "9" * 5_000 + "\ndata: {}\n\n", "event: segmented\ndata: {\"image\":\"" + "A" * 100_000 + "\",\"totalBooks\":1e9}\n\n",
    "event: canceled\ndata: {}\n\n",
]
STRINGS = [
    "", "\x00", "\x1b[31mred\x07", "\u2028\u202e\u0085", "\ud800", "a" * 10_000, "../../etc/passwd", "http://127.0.0.1:1/x",
    "//evil.example/x", "https://evil.example/x", "/", "?", "#", "%00", "http://[::1", "javascript:alert(1)", "</script><script>",
    "/v3/jobs/scans/%2e%2e/%2e%2e", "a b", "a\r\nX-Injected: y", "-", "NaN", "9223372036854775808", "\U0001f4da" * 50,
    "http://127.0.0.1:99999/x", "http://user:secret@127.0.0.1/x", "file:///etc/passwd", "/v3/jobs/scans/" + "x" * 5_000 + "/stream",
]
FLOOD = 24 << 20


def weighted(r, choices):
    return r.choices([choice for choice, _ in choices], [weight for _, weight in choices])[0]


# JSON


def json_text(text, r):
    """One or a few values of a JSON text made wrong. Text that is no JSON, or was nested too deep before, comes back as it is."""
    try:
        value = json.loads(text)
        for _ in range(r.choice([1, 1, 2, 4])):
            value = node(value, r)
        return written(value, r)
    except (ValueError, RecursionError):
        return text


class Raw(str):
    """Stands as it is where a value would."""


def written(value, r):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        pairs = ["%s:%s" % (json.dumps(key), written(inner, r)) for key, inner in value.items()]
        if pairs and r.random() < 0.02:
            pairs.append(r.choice(pairs))
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(inner, r) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=r.random() < 0.9)


def node(value, r):
    """Descends to some place and changes what is there."""
    if isinstance(value, dict) and value and r.random() < 0.85:
        key = r.choice(list(value))
        act = r.random()
        copy = dict(value)
        if act < 0.15:
            del copy[key]
        elif act < 0.2:
            copy[r.choice(STRINGS)] = copy.pop(key)
        else:
            copy[key] = node(copy[key], r)
        return copy
    if isinstance(value, list) and value and r.random() < 0.85:
        at = r.randrange(len(value))
        if r.random() < 0.1:
            return value + [value[at]] * r.choice([1, 2, 500])
        return value[:at] + [node(value[at], r)] + value[at + 1 :]
    return leaf(r)


def leaf(r):
    kind = r.randrange(7)
    if kind <= 1:
        return Raw(r.choice(NUMBERS))
    if kind <= 3:
        return r.choice(STRINGS).encode("utf-8", "replace").decode()
    if kind == 4:
        return Raw(r.choice(["null", "true", "false", "{}", "[]", "", "undefined", "\"\\ud800\"", "\"\\u0000\"", "\"\\q\"", "[,]"]))
    depth = r.choice([3, 120, 600, 20_000])
    return Raw("[" * depth + "]" * depth if kind == 5 else '{"a":' * depth + "1" + "}" * depth)


# Messages


def message(original, r, lines):
    """Damages a message before it is bytes: its JSON or its events, its first line, its fields, its framing."""
    changed = grammar.Message(original.start, [list(field) for field in original.fields], original.body, original.framing)
    kind = weighted(r, [("body", 5), ("start", 2), ("field", 4), ("value", 2), ("drop", 1)])
    if kind == "body":
        changed.body = body(changed.body, r)
    elif kind == "start":
        changed.start = r.choice(lines)
    elif kind == "value":
        name = r.choice(["Retry-After", "Retry-After", "Date", "Content-Type", "X-RateLimit-Reset", "Last-Event-ID", "X-Request-ID"])
        changed.fields.append([name, r.choice(DATES + NUMBERS)])
        if name == "Retry-After" and changed.start.startswith("HTTP"):
            changed.start = r.choice(["HTTP/1.1 429 Slow", "HTTP/1.1 503 Busy", "HTTP/1.1 301 Moved", changed.start])
    elif kind == "drop" and changed.fields:
        changed.fields.pop(r.randrange(len(changed.fields)))
    text = changed.bytes()
    if kind == "field":
        text = fields(text, r)
    return text


def body(original, r):
    text = original.decode("utf-8", "replace")
    if text.startswith("{"):
        return json_text(text, r).encode("utf-8", "replace")
    if "event:" not in text:
        return some_bytes(original, r)
    blocks = [piece + "\n\n" for piece in text.split("\n\n") if piece]
    for _ in range(r.choice([1, 1, 2, 5])):
        at = r.randrange(len(blocks) + 1)
        act = r.random()
        if act < 0.35 or not blocks:
            blocks.insert(at, r.choice(BLOCKS))
        elif act < 0.75:
            place = r.randrange(len(blocks))
            head, mark, data = blocks[place].partition("data: ")
            blocks[place] = head + mark + (json_text(data.strip(), r) + "\n\n" if mark else "")
        elif act < 0.85:
            blocks.insert(at, r.choice(blocks))
        elif act < 0.95:
            blocks.pop(r.randrange(len(blocks)))
        else:
            r.shuffle(blocks)
    return "".join(blocks).encode("utf-8", "replace")


def fields(text, r):
    """Lines put into a head: most often directly behind its first line or at its end."""
    head, mark, rest = text.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        line = r.choice(FIELD_LINES).encode("latin-1", "replace")[:-2]
        lines[(at := r.choice([1, len(lines), r.randrange(1, len(lines) + 1)])) : at] = [line] * r.choice([1, 1, 1, 2, 300])
    if r.random() < 0.05:
        mark = r.choice([b"", b"\r\n", b"\n\n", b"\n", b"\r\n\r\n\r\n"])
    return b"\r\n".join(lines) + mark + rest


# Bytes


def some_bytes(text, r):
    """A few bytes changed, lost, doubled, moved or come to it, or the rest cut off."""
    changed = bytearray(text)
    for _ in range(r.choice([1, 1, 2, 3, 8])):
        at = r.randrange(len(changed) + 1)
        length = r.choice([1, 1, 2, 8, 40])
        act = r.randrange(7)
        if act == 0 and changed:
            changed[min(at, len(changed) - 1)] ^= 1 << r.randrange(8)
        elif act == 1:
            del changed[at : at + length]
        elif act == 2:
            changed[at:at] = changed[at : at + length] * r.choice([1, 2, 50])
        elif act == 3:
            changed[at:at] = r.randbytes(length)
        elif act == 4:
            changed[at:at] = r.choice([b"\x00", b"\r", b"\n", b"\r\n", b"\n\n", b"\xff", b"\xef\xbb\xbf", b":", b"\"", b"{", b"\x1b["])
        elif act == 5:
            changed[at:at] = r.choice(NUMBERS).encode()
        elif r.random() < 0.3:
            del changed[at:]
    return bytes(changed)


def framing(original, r):
    """A body whose frame lies."""
    changed = grammar.Message(original.start, [list(field) for field in original.fields], original.body, "none")
    if r.random() < 0.5:
        length = r.choice([0, 1, len(original.body) + 1, len(original.body) - 1, 2**31, 2**63 - 1, 10**20])
        changed.fields.append(["Content-Length", str(max(0, length))])
        return changed.bytes() + original.body
    changed.fields.append(["Transfer-Encoding", "chunked"])
    chunks = grammar.chunked(original.body, r.choice([1, 7, 700])) if len(original.body) < 5_000 else b"5\r\nhello\r\n"
    at = r.randrange(len(chunks) + 1)
    return changed.bytes() + chunks[:at] + r.choice(CHUNKS) + chunks[at:]


# Deliveries


def text_of(bytes_):
    return bytes_.decode("latin-1")


def delivery(original, r, lines, flood=False):
    """The steps that send a message after something was done to it."""
    kind = weighted(r, [("message", 10), ("bytes", 4), ("framing", 3), ("pace", 3), ("flood", 20 if flood else 0)])
    if kind == "flood":
        return flooded(original, r)
    if kind == "message":
        text = message(original, r, lines)
    elif kind == "bytes":
        text = some_bytes(original.bytes(), r)
    elif kind == "framing":
        text = framing(original, r)
    else:
        text = original.bytes()
    steps = paced(text, r) if kind == "pace" or r.random() < 0.1 else [["send", text_of(text)]]
    if lines is STATUS_LINES and r.random() < 0.1:
        steps.insert(0, ["send", "HTTP/1.1 100 Continue\r\n\r\n", r.choice([1, 3, 500])])
    ends = original.framing == "close" or r.random() < 0.4
    return steps + ([r.choice([["close"], ["close"], ["reset"]])] if ends else [])


def paced(text, r):
    """In pieces with pauses, or up to a byte and not further."""
    if r.random() < 0.4:
        return [["send", text_of(text[: r.randrange(len(text) + 1)])], r.choice([["close"], ["reset"], ["wait", 0.7]])]
    cuts = sorted(r.randrange(len(text) + 1) for _ in range(r.choice([1, 2, 8])))
    steps, last = [], 0
    for cut in cuts + [len(text)]:
        steps += [["send", text_of(text[last:cut])], ["wait", r.choice([0.0, 0.01, 0.05])]]
        last = cut
    return steps


def flooded(original, r):
    """Much more of something than anybody needs."""
    head, _, rest = original.bytes().partition(b"\r\n\r\n")
    piece = r.choice(
        [text_of(b) for b in (b"X: y\r\n", b" folded\r\n", b"a", b"\x00")]
        if r.random() < 0.3 else ["data\n\n", "data\n\n", "event: x\ndata: 1\n\n", ":\n", "data: x\n", "id: 1\nevent: ping\ndata: {}\n\n", " ", "{\"a\":", "event: x\ndata: {}\n\n"])
    times = FLOOD // len(piece) // r.choice([1, 8, 40])
    if "\r\n" in piece:
        return [["send", text_of(head) + "\r\n"], ["send", piece, times], ["close"]]
    bare = grammar.Message(original.start, original.fields, b"", "none").bytes()
    return [["send", text_of(bare)], ["send", piece, times], ["send", text_of(rest[:200])], ["close"]]


# Recordings


def recording(lines, r):
    """The lines of a recording as text, most of them whole."""
    texts = [grammar.text_of(line) for line in lines]
    for _ in range(r.choice([0, 1, 1, 2, 5])):
        at = r.randrange(len(texts))
        act = r.random()
        if act < 0.25:
            texts[at] = json_text(texts[at], r)
        elif act < 0.6:
            # Most lines have a moment. What is no number at all is refused at once, so it is rare.
            key = r.choice(['"t":', '"t":', '"t":', '"exchange":', '"status":', '"length":', '"recording":'])
            head, mark, rest = texts[at].partition(key)
            if mark:
                number = r.choice(INTEGERS if r.random() < 0.9 else NUMBERS)
                texts[at] = head + mark + number + rest.lstrip("0123456789")
        elif act < 0.7:
            texts[at] = text_of(some_bytes(texts[at].encode("utf-8", "replace"), r))
        elif act < 0.8:
            head, mark, rest = texts[at].partition('"headers":[')
            if mark:
                name, _, value = r.choice(FIELD_LINES)[:-2].partition(":")
                texts[at] = head + mark + json.dumps([name, value]) + ("" if rest.startswith("]") else ",") + rest
        elif act < 0.9:
            texts.insert(at, r.choice(texts))
        else:
            texts.pop(at)
            texts = texts or [""]
    return texts
