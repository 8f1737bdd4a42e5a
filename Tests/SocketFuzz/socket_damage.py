"""What is done to WebSockets: their opening handshakes, their frames, and the way in which these are sent."""

import dataclasses

import damage
import delivery
import grammar
import socket_grammar
from socket_grammar import ACCEPT, CLOSE, CONTINUATION, FINAL, KEY, PING, PONG, PROTOCOL, TEXT, Frame

TOKEN = socket_grammar.SUBPROTOCOL + grammar.TOKEN
# What comes in the place of all fields of that name.
SHARED_FIELDS = [
    ("Upgrade", []), ("Upgrade", ["h2c"]), ("Upgrade", ["websocket", "websocket"]), ("Upgrade", ["WebSocket/13"]),
    ("Connection", []), ("Connection", ["close"]), ("Connection", ["close, Upgrade"]), ("Connection", ["keep-alive"]),
    ("Connection", ["Upgrade, Sec-WebSocket-Key, Sec-WebSocket-Accept"]), ("Content-Length", ["0"]),
    ("Content-Length", ["10"]), ("Content-Length", ["9223372036854775807"]), ("Transfer-Encoding", ["chunked"]),
    ("Sec-WebSocket-Extensions", ["permessage-deflate; client_max_window_bits=99999999999999999999"]),
    ("Sec-WebSocket-Extensions", [""]), ("Sec-WebSocket-Extensions", ["x"] * 900), ("X", ["y" * 70_000]),
    ("X", ["y" * 900] * 200), ("Sec-WebSocket-Protocol", []), ("Sec-WebSocket-Protocol", ["a b"]),
    ("Sec-WebSocket-Protocol", ["\xff\x1b[2J"]), ("Sec-WebSocket-Protocol", [",, ,"]), ("Sec-WebSocket-Protocol", [""]),
    ("Sec-WebSocket-Protocol", ["x" * 70_000]),
]
REQUEST_FIELDS = SHARED_FIELDS + [("Sec-WebSocket-Key", keys) for keys in [
    [], [KEY, KEY], [KEY, "AAAAAAAAAAAAAAAAAAAAAA=="], ["short"], [""], ["!" * 24], [KEY * 900], [KEY[:-1] + "A"],
]] + [("Sec-WebSocket-Version", versions) for versions in [
    [], ["8"], ["13", "13"], ["13, 8"], ["99999999999999999999"], ["+13"], ["\x00"],
]] + [("Sec-WebSocket-Protocol", names) for names in [
    [TOKEN, TOKEN], [TOKEN + ", x", "x"], ["x, " + TOKEN], [TOKEN[:-1]], [socket_grammar.SUBPROTOCOL], [TOKEN + "\x00"],
    [socket_grammar.SUBPROTOCOL + "\xff"], [", ".join("p%d" % number for number in range(900))],
]] + [("Host", []), ("Expect", ["100-continue"]), ("Origin", ["null"])]
ANSWER_FIELDS = SHARED_FIELDS + [("Sec-WebSocket-Accept", values) for values in [
    [], [ACCEPT, ACCEPT], [ACCEPT, "x"], ["A" * 27 + "="], [""], [ACCEPT[1:]], [ACCEPT * 900], ["\x1b]0;x\x07"],
]] + [("Sec-WebSocket-Protocol", names) for names in [
    ["other"], [PROTOCOL, PROTOCOL], [PROTOCOL + ", x"], [PROTOCOL.swapcase() + "x"],
]] + [("Content-Encoding", ["gzip"]), ("Set-Cookie", ["a=b"] * 300)]
REQUEST_LINES = [line % socket_grammar.TARGET for line in [
    "GET %s HTTP/1.1", "GET %sx HTTP/1.1", "POST %s@@ HTTP/1.1", "HEAD %s HTTP/1.1", "GET %s%%00%%ff HTTP/1.1",
]] + [line % (socket_grammar.TARGET, grammar.JOB) for line in [
    "GET %s%s HTTP/1.0", "POST %s%s HTTP/1.1", "GET %s%s&jobId=x HTTP/1.1", "GET %s%s&token=" + grammar.TOKEN + " HTTP/1.1",
    "GET %s%s&reconnect=true&reconnect=false HTTP/1.1", "GET %s%s&token=\xff HTTP/1.1", "GET http://x%s%s HTTP/1.1",
]] + ["GET /ws/progress HTTP/1.1", "GET /ws/progress/ HTTP/1.1", "GET /ws HTTP/1.1", "GET /_sim HTTP/1.1"]
ANSWER_LINES = [
    "HTTP/1.0 101 Switching Protocols", "HTTP/1.1 101", "HTTP/1.1 200 OK", "HTTP/1.1 102 Processing", "HTTP/1.1 426 Upgrade",
    "HTTP/1.1 401 Unauthorized", "HTTP/1.1 503 Busy", "HTTP/1.1 302 Found", "HTTP/1.1 101 \x1b[31m",
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols",
    "HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 101 Switching Protocols",
]
NOT_UTF8 = [
    b"\xff", b"\xc0\x80", b"\xc1\xbf", b"\xed\xa0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf8\x88",
    b"\xe2\x82", b"\x80", b"\xef\xbb",
]
CODES = [0, 1, 999, 1_000, 1_001, 1_002, 1_004, 1_005, 1_006, 1_007, 1_011, 1_013, 1_014, 1_015, 1_016, 2_999, 3_000, 4_000,
         4_999, 5_000, 65_535]
LENGTHS = [0, 1, 125, 126, 10_240, 10_241, 65_535, 65_536, (32 << 20) + 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]


# Handshakes


def handshake(original, r, fields, lines):
    """A request or an answer that is wrong somewhere, as bytes."""
    changed = grammar.Message(original.start, list(original.fields), b"", "none")
    for _ in range(r.choice([0, 1, 1, 1, 2])):
        name, values = r.choice(fields)
        changed.fields = [field for field in changed.fields if field[0] != name] + [[name, v] for v in values]
    if r.random() < 0.25:
        changed.start = r.choice(lines)
    text = changed.bytes()
    if r.random() < 0.15:
        return damage.fields(text, r)
    return damage.some_bytes(text, r) if r.random() < 0.1 else text


# Frames


def frames(original, r):
    """Frames that are wrong somewhere."""
    changed = list(original)
    for _ in range(r.choice([1, 1, 1, 2, 4])):
        at = r.randrange(len(changed) + 1)
        frame = changed[at] if at < len(changed) else Frame(TEXT, b"{}", original[0].key)
        changed[at : at + 1] = damage.weighted(r, DAMAGE)(frame, r)
    return changed


def bits(frame, r):
    acts = [{"opcode": r.randrange(16)}, {"flags": frame.flags | r.choice([0x10, 0x20, 0x40, 0x70])}]
    acts += [{"flags": frame.flags ^ FINAL}, {"key": b"" if frame.key else r.choice([bytes(4), r.randbytes(4)])}]
    return [dataclasses.replace(frame, **r.choice(acts))]


def lengths(frame, r):
    """True but not the shortest, or a lie."""
    size = len(frame.payload)
    true = [(2, size), (8, size)] if size < 1 << 16 else [(8, size)]
    wrong = [(8, value) for value in LENGTHS + [size + 1]] + [(2, value) for value in LENGTHS if value < 1 << 16]
    wrong += [(0, max(0, min(size, 126) - 1)), (0, min(size + 1, 125)), (0, 125)]
    return [dataclasses.replace(frame, length=r.choice(r.choice([true, wrong])))]


def unfinished(frame, r):
    """Fragments that do not end, that end twice or that others come between."""
    pieces = socket_grammar.fragments(frame.payload[:200], r, frame.key)
    between = Frame(*r.choice([
        (TEXT, b"{}"), (CONTINUATION, b""), (socket_grammar.BINARY, b"\x00"), (CLOSE, b""), (PONG, b"x" * 125)]), frame.key)
    at = r.randrange(len(pieces) + 1)
    return r.choice([pieces[:-1], pieces[1:], pieces + pieces[1:], pieces[:at] + [between] + pieces[at:]])


def not_utf8(frame, r):
    """Also split within a character, with and without its rest."""
    at = r.randrange(len(frame.payload) + 1)
    bad = r.choice(NOT_UTF8 + ["\u20ac".encode(), "\U0001f4da".encode()])
    cut = at + r.randrange(len(bad) + 1)
    payload = frame.payload[:at] + bad + frame.payload[at:]
    if r.random() < 0.5:
        return [dataclasses.replace(frame, payload=payload)]
    return [Frame(frame.opcode, payload[:cut], frame.key, 0), Frame(CONTINUATION, payload[cut:], frame.key)]


def control(frame, r):
    """Before the frame: one that is fragmented or too long; or one that is neither."""
    payload = r.randbytes(r.choice([0, 1, 2, 125, 126, 300, 70_000]))
    return [Frame(r.choice([CLOSE, PING, PONG, 11, 15]), payload, frame.key, r.choice([0, FINAL])), frame]


def close(frame, r):
    reason = r.choice([b"", b"gone", b"x" * 123, b"x" * 124, "\u20ac".encode() * 41, b"\x1b[2J\x00", *NOT_UTF8])
    body = r.choice(CODES).to_bytes(2, "big") + reason
    return [Frame(CLOSE, r.choice([body, body, body, body[:1], b""]), frame.key)] * r.choice([1, 2]) + [frame][: r.randrange(2)]


def big(frame, r):
    payload = frame.payload + b" " * r.choice([10_240 - len(frame.payload), 10_241, 65_536, 1 << 20])
    return r.choice([[dataclasses.replace(frame, payload=payload)], socket_grammar.fragments(payload[:20_000], r, frame.key)])


def content(frame, r):
    text = frame.payload.decode("utf-8", "replace")
    return [dataclasses.replace(frame, payload=damage.json_text(text, r).encode("utf-8", "replace"))]


def times(frame, r):
    return [frame] * r.choice([0, 0, 2, 2, 50])


DAMAGE = [(bits, 4), (lengths, 4), (unfinished, 3), (not_utf8, 3), (control, 3), (close, 3), (big, 1), (content, 5), (times, 2)]


# Deliveries


def flooded(r, key):
    """Much more of something than anybody needs."""
    begun, pieces = r.choice([
        ([], [Frame(PING, b"", key)]), ([], [Frame(PING, b"x" * 125, key)]), ([], [Frame(PONG, b"", key)]),
        ([], [Frame(TEXT, b"", key)]), ([], [Frame(TEXT, b"{}", key)]), ([], [Frame(TEXT, b'{"type":"ping"}', key)]),
        ([], [Frame(TEXT, b'{"type":"ready"}', key)]), ([], [Frame(TEXT, b'{"type":"job_progress","payload":{}}', key)]),
        ([Frame(TEXT, b"", key, 0)], [Frame(CONTINUATION, b"", key, 0)]),
        ([Frame(TEXT, b"", key, 0)], [Frame(CONTINUATION, b" ", key, 0), Frame(PING, b"", key)]),
        ([Frame(TEXT, b"", key, length=(8, 32 << 20))], [Frame(CONTINUATION, b"", length=(0, 0))])])
    piece = text_of(pieces)
    return [["send", text_of(begun)], ["send", piece, damage.FLOOD // len(piece) // r.choice([1, 8, 40])]]


def text_of(some):
    return socket_grammar.written(some).decode("latin-1")


def opened(opening, some, r):
    """The steps that send frames behind a handshake, or with it, in some way; and the end."""
    text = text_of(some)
    head = opening.decode("latin-1")
    kind = damage.weighted(r, [("whole", 4), ("frames", 3), ("bytes", 2), ("cut", 2), ("behind", 3), ("paced", 2)])
    first = [["send", head], ["read", r.choice([0.05, 0.3])]]
    if kind == "whole":
        steps = first + [["send", text]]
    elif kind == "frames":
        steps = first + [step for one in some for step in (["send", text_of([one])], ["wait", r.choice([0, 0.01])])]
    elif kind == "bytes":
        steps = first + [["trickle", text[:300], r.choice([0, 0.001])], ["send", text[300:]]]
    elif kind == "cut":
        steps = first + [["send", text[: r.randrange(len(text) + 1)]]]
    elif kind == "behind":
        steps = [["send", head + text]]
    else:
        steps = damage.paced((head + text).encode("latin-1"), r)
    return steps + end(r)


def end(r):
    """Mostly after a look at what comes back, which a client may want while it sends no more."""
    return damage.weighted(r, [
        ([["read", 1], ["close"]], 4), ([["wait", 0.5], ["read", 1], ["close"]], 2),
        ([["half"], ["read", 1], ["close"]], 2), ([["close"]], 1), ([["reset"]], 1)])


def cuts(opening, some, r, count):
    """For each of so many connections, up to a byte more than for the one before."""
    text = opening.decode("latin-1") + text_of(some)
    start, last = r.randrange(len(text) + 1), r.choice([["close"], ["reset"], ["half"], ["wait", 0.6]])
    return [[["send", text[: start + number]], last, ["read", 0.2], ["close"]] for number in range(count)]
