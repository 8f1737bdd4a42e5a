"""The connection below the application, for faults that no framework lets an application make."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from bugs import Switches

LENGTH = re.compile(rb"(?i)(content-length: )(\d+)")
ACCEPT = re.compile(rb"(?i)(sec-websocket-accept: )(\S+)")
CLOSE, PONG = 0x88, 0x8A


class Wire:
    """A transport that changes the bytes of answers as the switches say."""

    def __init__(self, transport: asyncio.Transport, bug: Switches) -> None:
        self.transport = transport
        self.bug = bug
        self.stream = False
        self.frames = False
        self.left: int | None = None
        self.kept: bytes | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def write(self, data: bytes) -> None:
        """Write a piece of an answer; the head comes in a piece of its own."""
        bug = self.bug
        if data.startswith(b"HTTP/1.1 "):
            data = self.head(data)
        elif self.frames:
            data = self.frame(data)
        elif self.left is not None:
            self.left -= len(data)
        elif bug("http-chunk-characters") and self.stream:
            data = counted_in_characters(data)
        if bug("http-no-last-chunk") and self.stream and data == b"0\r\n\r\n":
            # The connection ends as if the worker had been killed.
            self.transport.close()
            return
        if data:
            self.transport.write(data)
        if bug("http-close-early") and self.left == 0:
            self.transport.close()

    def frame(self, data: bytes) -> bytes:
        """Change a frame of a WebSocket; each comes in a piece of its own."""
        bug = self.bug
        if data[:1] == bytes([PONG]) and bug("ws-no-pong"):
            return b""
        if data[:1] == bytes([CLOSE]) and bug("ws-idle-cut"):
            self.transport.close()
            return b""
        if data[:1] == bytes([CLOSE]) and bug("ws-abort"):
            # The connection is reset, as if the process had been killed.
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort()
            return b""
        return data

    def head(self, data: bytes) -> bytes:
        """Change the head of an answer."""
        bug = self.bug
        status = int(data[9:12])
        self.frames = status == 101
        if self.frames and bug("ws-accept-key"):
            data = ACCEPT.sub(lambda found: found[1] + b"AAAAAAAAAAAAAAAAAAAAAAAAAAA=", data)
        lower = data.lower()
        self.stream = b"text/event-stream" in lower
        length = LENGTH.search(data)
        self.left = int(length[2]) if length else 0 if status == 204 else None
        if bug("http-kept-status") and length and b"json" in lower:
            # The answer is an object of the connection, and its status is set once.
            self.kept = self.kept or data[9:12]
            data = data[:9] + self.kept + data[12:]
        json = b"application/json" in lower and 200 <= status < 300
        if length and json and bug("http-length-long"):
            data = LENGTH.sub(lambda found: found[1] + str(int(found[2]) + 16).encode(), data)
        if length and json and bug("http-length-short"):
            data = LENGTH.sub(lambda found: found[1] + str(int(found[2]) - 16).encode(), data)
        if status == 204 and bug("http-204-body"):
            data += b'{"success":true}'
        if self.stream and bug("http-stream-length"):
            data = data.replace(b"transfer-encoding: chunked", b"Content-Length: 1024")
            data = data.replace(b"Transfer-Encoding: chunked", b"Content-Length: 1024")
        return data


def counted_in_characters(chunk: bytes) -> bytes:
    """Return a chunk whose size is the number of its characters."""
    size, _, rest = chunk.partition(b"\r\n")
    content = rest[:int(size, 16)]
    return b"%x\r\n" % len(content.decode("utf-8", "replace")) + rest


def protocol(bug: Switches) -> type[H11Protocol]:
    """Return the protocol of a server with these switches."""

    class SickProtocol(H11Protocol):
        """HTTP/1.1 over a transport that may be at fault."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Put the faults between the protocol and the socket."""
            super().connection_made(Wire(transport, bug))  # type: ignore[arg-type]

    return SickProtocol
