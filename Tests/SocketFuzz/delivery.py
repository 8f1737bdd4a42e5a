"""Carries out the steps of a delivery (damage.py says what they are) on a socket."""

import select
import socket
import struct
import time

PIECE = 1 << 16


def whole(message):
    """The steps that send a message as it is."""
    return [["send", message.bytes().decode("latin-1")]] + ([["close"]] if message.framing == "close" else [])


class Over(Exception):
    """The connection has ended, by us or by the other side."""


def carry_out(steps, connection, fill, until, received=None):
    """`fill` puts the values of this exchange into the bytes; `until` is a moment of the monotonic clock."""
    for step in steps:
        kind = step[0]
        if kind == "send":
            send(connection, fill(step[1].encode("latin-1")), step[2] if len(step) > 2 else 1, until)
        elif kind == "trickle":
            for byte in fill(step[1].encode("latin-1")):
                send(connection, bytes([byte]), 1, until)
                time.sleep(step[2])
        elif kind == "wait":
            time.sleep(max(0, min(step[1], until - time.monotonic())))
        elif kind == "read":
            read(connection, min(until, time.monotonic() + step[1]), received)
        elif kind == "half":
            connection.shutdown(socket.SHUT_WR)
        elif kind == "close":
            raise Over
        elif kind == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raise Over


def send(connection, bytes_, times, until):
    """Sends for as long as the other side reads."""
    block = bytes_ * max(1, min(times, PIECE // max(1, len(bytes_))))
    left = len(bytes_) * times
    while left > 0:
        view = memoryview(block)[: min(len(block), left)]
        left -= len(view)
        while view:
            wait = until - time.monotonic()
            if wait <= 0 or not select.select([], [connection], [], wait)[1]:
                raise Over
            try:
                view = view[connection.send(view, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                pass


def read(connection, until, received):
    """Until something came and nothing has come for a while."""
    quiet = until
    while (wait := min(until, quiet) - time.monotonic()) > 0:
        if not select.select([connection], [], [], wait)[0]:
            return
        piece = connection.recv(PIECE)
        if not piece:
            raise Over
        if received is not None and len(received) < PIECE:
            received += piece
        quiet = time.monotonic() + 0.03
