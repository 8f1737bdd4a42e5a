#!/usr/bin/env python3
"""Reads and writes WebSocket with two published implementations, `websockets` and `wsproto`, without sockets.

usage: websocket_libraries.py write     prints what each writes, a line of JSON for each connection
       websocket_libraries.py read      reads lines of JSON, and prints for each what each makes of it

A line of `write` has `library`, `role` (of the writer) and either `request`, the bytes of an opening request,
or `bytes` with the `events` that a peer sees. A line of `read` has `kind`: `frames` (`bytes`, `role` of the
reader, and `limit` of a message), `request` (`bytes` of a client) or `answer` (`bytes` of a server, to the
request that `write` printed). Bytes are in hexadecimal. An event is a list: its kind, and a payload, a code
with a reason, or after `failed` the code that the peer is sent.
"""
import codecs
import json
import sys

import wsproto.handshake
from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.uri import parse_uri
from wsproto import ConnectionType, WSConnection, events
from wsproto.connection import Connection
from wsproto.frame_protocol import FrameProtocol, Opcode as WSOpcode, ParseFailed
from wsproto.utilities import RemoteProtocolError

# The nonce of RFC 6455 section 1.3, so that a request is the same in each run.
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
SUBPROTOCOLS = ["bookstrack-auth.t0ken", "chat"]
CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 4999]
SIZES = [0, 1, 125, 126, 65535, 65536]


class Messages:
    """Joins frames to events. Text is decoded as it comes."""

    def __init__(self):
        self.events, self.kind, self.payload, self.decoder = [], None, b"", None

    def data(self, kind, payload, is_final):
        if kind is not None:
            self.kind, self.payload = kind, b""
            self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.payload += payload
        if self.kind == "text":
            try:
                self.decoder.decode(payload, is_final)
            except UnicodeDecodeError:
                self.events.append(["failed", 1007])
                return False
        if is_final:
            self.events.append([self.kind, self.payload.hex()])
        return True


def read_with_websockets(role, data, limit):
    made = server(limit) if role == "server" else client(limit)
    made.receive_data(data)
    messages = Messages()
    for frame in made.events_received():
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            kind = {Opcode.TEXT: "text", Opcode.BINARY: "binary", Opcode.CONT: None}[frame.opcode]
            # Its connections decode messages, above this layer.
            if not messages.data(kind, bytes(frame.data), frame.fin):
                return messages.events
        elif frame.opcode is Opcode.CLOSE:
            close = made.close_rcvd
            messages.events.append(["close", close.code, close.reason])
        else:
            messages.events.append([frame.opcode.name.lower(), bytes(frame.data).hex()])
    if made.parser_exc is not None:
        messages.events.append(["failed", made.close_sent.code if made.close_sent else 1006])
    return messages.events


def read_with_wsproto(role, data):
    made, messages, is_inside = FrameProtocol(role == "client", []), Messages(), False
    made.receive_bytes(data)
    try:
        for frame in made.received_frames():
            if frame.opcode in (WSOpcode.TEXT, WSOpcode.BINARY):
                is_text = frame.opcode is WSOpcode.TEXT
                payload = frame.payload.encode() if is_text else bytes(frame.payload)
                kind = None if is_inside else frame.opcode.name.lower()
                is_inside = not frame.message_finished
                messages.data(kind, payload, frame.message_finished)
            elif frame.opcode is WSOpcode.CLOSE:
                messages.events.append(["close", int(frame.payload[0]), frame.payload[1]])
                break
            else:
                messages.events.append([frame.opcode.name.lower(), bytes(frame.payload).hex()])
    except ParseFailed as error:
        messages.events.append(["failed", int(error.code)])
    return messages.events


def server(limit=2**20):
    return ServerProtocol(state=OPEN, max_size=limit)


def client(limit=2**20):
    return ClientProtocol(parse_uri("ws://h/"), state=OPEN, max_size=limit)


class WithWebsockets:
    def __init__(self, role):
        self.made = server() if role == "server" else client()

    def message(self, kind, parts):
        for index, part in enumerate(parts):
            is_final = index == len(parts) - 1
            if index > 0:
                self.made.send_continuation(part, is_final)
            elif kind == "text":
                self.made.send_text(part, is_final)
            else:
                self.made.send_binary(part, is_final)
            if not is_final:
                self.made.send_ping(b"\x01")

    def pong(self, payload):
        self.made.send_pong(payload)

    def close(self, code, reason):
        self.made.send_close(code, reason)

    def data(self):
        return b"".join(self.made.data_to_send())


class WithWsproto:
    def __init__(self, role):
        self.made = Connection(ConnectionType.SERVER if role == "server" else ConnectionType.CLIENT)
        self.sent = b""

    def message(self, kind, parts):
        for index, part in enumerate(parts):
            is_final = index == len(parts) - 1
            event = (events.TextMessage(part.decode(), message_finished=is_final) if kind == "text"
                     else events.BytesMessage(part, message_finished=is_final))
            self.sent += self.made.send(event)
            if not is_final:
                self.sent += self.made.send(events.Ping(b"\x01"))

    def pong(self, payload):
        self.sent += self.made.send(events.Pong(payload))

    def close(self, code, reason):
        self.sent += self.made.send(events.CloseConnection(code, reason))

    def data(self):
        return self.sent


def written(library, writer, role):
    messages = [("text", ["Bücher 📚".encode()]), ("text", ["Bü".encode(), b"", "cher €".encode()])]
    messages += [("binary", [bytes([255, 0]), bytes([254])])]
    messages += [("binary", [bytes([7]) * size]) for size in SIZES]
    for number, code in enumerate(CODES + [None]):
        made, expected = writer(role), []
        for kind, parts in messages if number == 0 else messages[:2]:
            made.message(kind, parts)
            expected += [["ping", "01"]] * (len(parts) - 1) + [[kind, b"".join(parts).hex()]]
        made.pong(b"\x02\x03")
        expected.append(["pong", "0203"])
        # `wsproto` always has a code.
        if code is not None or library == "websockets":
            made.close(code, "weg ü" if code else "")
            expected.append(["close", code or 1005, "weg ü" if code else ""])
        yield {"library": library, "role": role, "bytes": made.data().hex(), "events": expected}


def client_with_websockets():
    made = ClientProtocol(parse_uri("ws://h/ws/progress?jobId=1"), subprotocols=SUBPROTOCOLS)
    made.key = KEY.decode()
    made.send_request(made.connect())
    return made, b"".join(made.data_to_send())


def client_with_wsproto():
    wsproto.handshake.generate_nonce = lambda: KEY
    made = WSConnection(ConnectionType.CLIENT)
    request = events.Request(host="h", target="/ws/progress?jobId=1", subprotocols=SUBPROTOCOLS)
    return made, made.send(request)


def write():
    for library, writer in [("websockets", WithWebsockets), ("wsproto", WithWsproto)]:
        for role in ("client", "server"):
            yield from written(library, writer, role)
    yield {"library": "websockets", "role": "client", "request": client_with_websockets()[1].hex()}
    yield {"library": "wsproto", "role": "client", "request": client_with_wsproto()[1].hex()}


def answers(data):
    """The answers of both libraries to a request."""
    one = ServerProtocol(subprotocols=SUBPROTOCOLS)
    one.receive_data(data)
    [request] = one.events_received()
    one.send_response(one.accept(request))
    other = WSConnection(ConnectionType.SERVER)
    other.receive_data(data)
    [request] = list(other.events())
    accepted = other.send(events.AcceptConnection(subprotocol=request.subprotocols[0]))
    return {"websockets": b"".join(one.data_to_send()).hex(), "wsproto": accepted.hex()}


def opened(data):
    """The subprotocols of both libraries after an answer."""
    one, _ = client_with_websockets()
    one.receive_data(data)
    other, _ = client_with_wsproto()
    try:
        other.receive_data(data)
        [accepted] = list(other.events())
        chosen = accepted.subprotocol
    except RemoteProtocolError as error:
        chosen = f"refused: {error}"
    refusal = f"refused: {one.handshake_exc}"
    return {"websockets": one.subprotocol if one.state is OPEN else refusal, "wsproto": chosen}


def read(line):
    data = bytes.fromhex(line["bytes"])
    if line["kind"] == "request":
        return answers(data)
    if line["kind"] == "answer":
        return opened(data)
    return {
        "websockets": read_with_websockets(line["role"], data, line["limit"]),
        "wsproto": read_with_wsproto(line["role"], data),
    }


if __name__ == "__main__":
    made = write() if sys.argv[1:] == ["write"] else (read(json.loads(line)) for line in sys.stdin)
    for line in made:
        print(json.dumps(line))
