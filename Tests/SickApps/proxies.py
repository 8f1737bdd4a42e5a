"""One server with a port for each recorder, so that apps can be told apart."""

from __future__ import annotations

import socket

import httpx
from starlette.types import Receive, Scope, Send

from cases import Setting
from recorder import Recorder


def listener() -> socket.socket:
    """Return a socket that listens at a free port of the loopback interface."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.bind(("127.0.0.1", 0))
    bound.listen(128)
    return bound


class Proxies:
    """The application of the server; the port of a request leads to its recorder."""

    def __init__(self, backends: dict[str, str], http: httpx.AsyncClient, count: int) -> None:
        self.backends = backends
        self.http = http
        self.bound = [listener() for _ in range(count)]
        self.free = [bound.getsockname()[1] for bound in self.bound]
        self.recorders: dict[int, Recorder] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request by the recorder of its port."""
        await self.recorders[scope["server"][1]](scope, receive, send)

    def record(self, setting: Setting) -> tuple[str, Recorder]:
        """Return the address of a new recorder, and the recorder."""
        port = self.free.pop()
        self.recorders[port] = Recorder(self.backends[setting.backend], setting.occasion, self.http)
        return f"http://127.0.0.1:{port}", self.recorders[port]
