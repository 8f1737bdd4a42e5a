"""A Talaria backend that is healthy until a switch makes it sick."""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
import uuid

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import problems
import sockets
import v2
import v3
import wire
from bugs import TABLE
from jobs import Backend, Config
from problems import Refused


class Front:
    """Gives every request an id, and does what happens before any endpoint."""

    def __init__(self, app: ASGIApp, backend: Backend) -> None:
        self.app = app
        self.backend = backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        bug = self.backend.bug
        request_id = f"req-{uuid.uuid4().hex[:12]}"
        scope.setdefault("state", {})["request_id"] = request_id
        if bug("load-latency"):
            # Every job that was ever made is searched for each request.
            await asyncio.sleep(0.01 * self.backend.made)

        async def marked(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message["headers"].append((b"x-request-id", request_id.encode()))
            await send(message)

        path = scope["path"]
        if bug("http-redirect") and scope.get("method") == "POST":
            if not path.endswith("/"):
                await RedirectResponse(path + "/", 302)(scope, receive, marked)
                return
            scope["path"] = path.rstrip("/")
        await self.app(scope, receive, marked)


async def refuse(request: Request, error: Exception) -> Response:
    """Answer a refused request."""
    assert isinstance(error, Refused)
    return problems.answer(request.app.state.backend, request, error)


async def unknown(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown path or with another method."""
    assert isinstance(error, HTTPException)
    codes = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
    refused = Refused(error.status_code, codes.get(error.status_code, "INVALID_REQUEST"), error.detail,
                      dict(error.headers or {}))
    return problems.answer(request.app.state.backend, request, refused)


async def failed(request: Request, error: Exception) -> Response:
    """Answer a request that an error of this program has ended."""
    refused = Refused(500, "INTERNAL_ERROR", type(error).__name__)
    return problems.answer(request.app.state.backend, request, refused)


def application(backend: Backend) -> ASGIApp:
    """Return the application of a backend."""
    app = Starlette(routes=[*v3.ROUTES, *v2.routes(), *sockets.routes()],
                    exception_handlers={Refused: refuse, HTTPException: unknown, Exception: failed})
    app.router.redirect_slashes = False
    app.state.backend = backend
    return Front(app, backend)


def server(backend: Backend) -> uvicorn.Server:
    """Return the server of a backend; it runs with a socket that is bound already."""
    return uvicorn.Server(uvicorn.Config(
        application(backend), http=wire.protocol(backend.bug), ws="websockets-sansio", lifespan="off",
        ws_max_size=sockets.INCOMING_MAX, ws_ping_interval=None, ws_per_message_deflate=False, access_log=False,
        log_level="error", timeout_keep_alive=75, timeout_graceful_shutdown=1, backlog=2048))


def listener(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface; port 0 takes a free port."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    # From here on clients can connect, so that the address may be printed.
    bound.listen(2048)
    return bound


def pair(text: str) -> tuple[float, float]:
    """Return the two numbers of a range such as `0.5,1.5`; one number is both ends."""
    ends = [float(part) for part in text.split(",")]
    if len(ends) not in (1, 2) or not 0 <= ends[0] <= ends[-1]:
        raise argparse.ArgumentTypeError("expected A,B with 0 <= A <= B")
    return ends[0], ends[-1]


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    base = Config()
    add = parser.add_argument
    add("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one, which is printed)")
    add("--job", type=pair, default=base.job, metavar="A,B", help="seconds of a job (default: 1,3)")
    add("--ping", type=float, default=base.ping, help="seconds between pings (default: 30)")
    add("--quota", type=int, default=base.quota, help="uploads per window and device (default: 10)")
    add("--window", type=float, default=base.window, help="seconds of the window (default: 1200)")
    add("--books", type=pair, default=base.few, metavar="A,B", help="books of a photo (default: 1,12)")
    add("--big", type=float, default=base.big, help="share of photos with 41 to 60 books (default: 0.2)")
    add("--buffer", type=float, default=base.buffer, help="seconds that events can be replayed (default: 60)")
    add("--token-lifetime", type=float, default=base.token_lifetime, help="seconds (default: 7200)")
    add("--results-lifetime", type=float, default=base.results_lifetime, help="seconds (default: 7200)")
    add("--photos-max", type=int, default=base.photos_max, help="photos of an upload (default: 5)")
    add("--photo-max", type=int, default=base.photo_max, help="bytes of a photo (default: 10000000)")
    add("--completed-max", type=int, default=base.completed_max,
        help="bytes of `completed` with books (default: 131072)")
    add("--payload", choices=("contract", "stream"), default=base.payload,
        help="messages of WebSockets have the payloads of the contract, or those of the event stream")
    add("--bug", action="append", default=[], metavar="NAME", help="turn a switch on; may be repeated")
    add("--list", action="store_true", help="list the switches")
    return parser.parse_args()


def main() -> None:
    """Run one backend until it is ended."""
    options = arguments()
    if options.list:
        for switch in TABLE.values():
            print(f"{switch.name:26} {switch.dialect:5} {switch.when:16} {switch.what}")
        return
    missing = [name for name in options.bug if name not in TABLE]
    if missing:
        raise SystemExit(f"no such switch: {', '.join(missing)} (see --list)")
    config = Config(
        job=options.job, ping=options.ping, quota=options.quota, window=options.window,
        few=(int(options.books[0]), int(options.books[1])), big=options.big, buffer=options.buffer,
        token_lifetime=options.token_lifetime, results_lifetime=options.results_lifetime,
        photos_max=options.photos_max, photo_max=options.photo_max, completed_max=options.completed_max,
        payload=options.payload, bugs=tuple(options.bug))

    # The server takes a refused handshake for an error of the application.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "completing handshake" not in record.getMessage())

    async def run() -> None:
        bound = listener(options.port)
        print(f"http://127.0.0.1:{bound.getsockname()[1]}", flush=True)
        await server(Backend(config)).serve([bound])

    asyncio.run(run())


if __name__ == "__main__":
    main()
