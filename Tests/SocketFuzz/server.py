"""A backend that answers as a case says: each phone, operation and attempt has an answer of its own."""

import re
import socket
import threading
import time

import delivery
import grammar
import socket_grammar

TRACE = re.compile(rb"\r\ntraceparent: 00-[0-9a-f]{16}([0-9a-f]{8})([0-9a-f]{8})-([0-9a-f]{2})[0-9a-f]{6}([0-9a-f]{8})-01\r\n", re.I)
EXCHANGE = re.compile(rb"\r\nx-fuzz: (\d+)\r\n", re.I)
JOB = re.compile(rb"(?:/scans/|/jobs/|jobId=)(?:scan_)?([0-9a-f-]{36})")
JOBS = b"%08x-0000-4000-8%03x-%012x"
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.I)


class HostileServer:
    """`choose(operation, device, attempt, exchange)` gives the steps of an answer, or None for those of `kept(operation)`."""

    def __init__(self, choose, seconds, one_job=False, kept=None):
        self.choose = choose
        self.kept = kept or good
        self.one_job = one_job
        self.until = time.monotonic() + seconds
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.given = []
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.until = 0
        for connection in [self.listener, *self.connections]:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        try:
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.settimeout(30)
                buffered = bytearray()
                while time.monotonic() < self.until and self._exchange(connection, buffered):
                    pass
        except (delivery.Over, OSError, ValueError):
            pass

    def _exchange(self, connection, buffered):
        head = self._head(connection, buffered)
        if head is None:
            return False
        operation, device, attempt, job = self._about(head)
        exchange = EXCHANGE.search(head)
        job = JOBS % (0, 0, 0) if self.one_job else job
        steps = self.choose(operation, device, attempt, int(exchange[1]) if exchange else None)
        early = bool(steps) and steps[0] == ["early"]
        if not early:
            self._skip_body(connection, head, buffered)
        if len(self.given) < 200:
            self.given.append([operation, device, attempt, steps is not None])

        def fill(text):
            return socket_grammar.filled(text.replace(grammar.JOB.encode(), job), head)

        delivery.carry_out(self.kept(operation) if steps is None else steps, connection, fill, self.until)
        return not early

    @staticmethod
    def _head(connection, buffered):
        while (end := buffered.find(b"\r\n\r\n")) < 0:
            piece = connection.recv(delivery.PIECE)
            if not piece or len(buffered) > 1 << 20:
                return None
            buffered += piece
        head = bytes(buffered[: end + 2])
        del buffered[: end + 4]
        return head

    @staticmethod
    def _skip_body(connection, head, buffered):
        length = LENGTH.search(head)
        left = int(length[1]) if length else 0
        if b"\r\nexpect: 100-continue\r\n" in head.lower():
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if b"\r\ntransfer-encoding: chunked\r\n" in head.lower():
            while (end := buffered.find(b"0\r\n\r\n")) < 0:
                piece = connection.recv(delivery.PIECE)
                if not piece:
                    raise delivery.Over
                buffered[:-8] = b""
                buffered += piece
            del buffered[: end + 5]
            return
        while left > len(buffered):
            left -= len(buffered)
            buffered[:] = connection.recv(delivery.PIECE)
            if not buffered:
                raise delivery.Over
        del buffered[:left]

    @staticmethod
    def _about(head):
        method, path = (head.split(b" ", 2) + [b""])[:2]
        trace = TRACE.search(head)
        device, scan, _, attempt = (int(part, 16) for part in trace.groups()) if trace else (0, 0, 0, 1)
        job = JOB.search(path)
        name = job[1] if job else JOBS % (device, attempt & 0xFFF, scan)
        if not trace and b"00000000-0000-4000-8000-000000000000" in path:
            operation = "probe"
        elif method == b"POST":
            operation = "upload"
        elif method == b"DELETE":
            operation = "cleanup"
        else:
            operation = "results" if b"/results" in path else "stream"
        return operation, device, attempt, name


def good(operation):
    """The same answer every time."""
    return delivery.whole(grammar.answer(operation, grammar.Plain()))
