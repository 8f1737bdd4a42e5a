"""A proxy that records what an app and a backend say, and makes occasions for faults of the app."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from parts import Part, parts_of
from sse import Event, Reader

TERMINAL = ("completed", "complete", "error", "canceled")
JOB = re.compile(r"^/v3/jobs/scans/([^/]+)(/stream|/results|/cleanup)?$")


@dataclass(frozen=True)
class Refusal:
    """The first requests of a kind get this answer in place of that of the backend."""

    kind: str
    status: int
    times: int
    wait: float | None = None
    retryable: bool = False


@dataclass(frozen=True)
class Occasion:
    """What happens to the requests and streams of an app."""

    refusal: Refusal | None = None
    # The first `cuts` streams end behind their first `cut_after` events; a clean end has its last chunk.
    cuts: int = 0
    cut_after: int = 1
    clean: bool = False
    # An `error` event in place of the rest of each stream; its value is `retryable`.
    error: bool | None = None
    unknown: bool = False
    split: bool = False


@dataclass
class Exchange:
    """One request with its answer."""

    kind: str
    job: str
    query: str
    headers: dict[str, str]
    began: float
    parts: list[Part] | None = None
    status: int = 0
    answered: float = 0.0
    body: Any = None
    wait: float = 0.0
    events: list[tuple[float, Event]] = field(default_factory=list)
    ended: float = 0.0

    def terminal(self) -> tuple[float, Event] | None:
        """Return the terminal event that this stream has delivered, and when."""
        return next((entry for entry in self.events if entry[1].name in TERMINAL), None)


def kind_of(method: str, path: str) -> tuple[str, str]:
    """Return the kind of a request and the job that it names."""
    if path == "/v3/jobs/scans":
        return "upload", ""
    found = JOB.match(path)
    if found is None:
        return "other", ""
    job, tail = found.groups()
    kinds = {("GET", "/stream"): "stream", ("GET", "/results"): "results", ("DELETE", "/cleanup"): "delete",
             ("DELETE", None): "cancel", ("GET", None): "status"}
    return kinds.get((method, tail), "other"), job


class Recorder:
    """The application of one proxy in front of one backend."""

    def __init__(self, backend: str, occasion: Occasion, http: httpx.AsyncClient) -> None:
        self.backend = backend
        self.occasion = occasion
        self.http = http
        self.exchanges: list[Exchange] = []
        self._counts: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        kind, job = kind_of(request.method, request.url.path)
        exchange = Exchange(kind, job, request.url.query, dict(request.headers), time.monotonic())
        self.exchanges.append(exchange)
        self._counts[kind] = count = self._counts.get(kind, 0) + 1
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        if kind == "upload":
            exchange.parts = parts_of(request.headers.get("content-type", ""), body)
        refusal = self.occasion.refusal
        if refusal is not None and refusal.kind == kind and count <= refusal.times:
            await _refuse(send, exchange, refusal)
            return
        headers = {name: value for name, value in request.headers.items()
                   if name not in ("host", "connection", "transfer-encoding", "content-length")}
        target = self.backend + request.url.path + (f"?{request.url.query}" if request.url.query else "")
        async with self.http.stream(request.method, target, headers=headers, content=body) as answer:
            if kind == "stream" and answer.status_code == 200:
                await self._stream(receive, send, exchange, answer, count)
            else:
                await _pass(send, exchange, answer)

    async def _stream(self, receive: Receive, send: Send, exchange: Exchange, answer: httpx.Response,
                      count: int) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _kept(answer)})
        exchange.status, exchange.answered = 200, time.monotonic()
        copy = asyncio.create_task(self._copy(send, exchange, answer, count <= self.occasion.cuts))
        gone = asyncio.create_task(_disconnected(receive))
        await asyncio.wait((copy, gone), return_when=asyncio.FIRST_COMPLETED)
        exchange.ended = time.monotonic()
        for task in (copy, gone):
            task.cancel()
        outcome = (await asyncio.gather(copy, gone, return_exceptions=True))[0]
        # A response without its last chunk makes uvicorn close the connection.
        if outcome is True:
            await send({"type": "http.response.body", "body": b""})

    async def _copy(self, send: Send, exchange: Exchange, answer: httpx.Response, cut: bool) -> bool:
        """Copy the events of a stream; return whether it ends cleanly."""
        occasion, count = self.occasion, 0
        async for text, event in _texts(answer):
            if occasion.error is not None and count == 1:
                text, event = _error(exchange.job, event, occasion.error)
            exchange.events.append((time.monotonic(), event))
            await self._send_text(send, text)
            count += 1
            if occasion.error is not None and count == 2:
                return True
            if occasion.unknown and count == 1:
                await self._send_text(send, f"id: {event.id}\nevent: confetti\ndata: {{}}\n\n".encode())
            if cut and count == occasion.cut_after:
                return occasion.clean
        return True

    async def _send_text(self, send: Send, text: bytes) -> None:
        half = len(text) // 2
        for piece in (text[:half], text[half:]) if self.occasion.split else (text,):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if self.occasion.split:
                # Without a pause both pieces may arrive as one.
                await asyncio.sleep(0.05)


async def _texts(answer: httpx.Response) -> AsyncIterator[tuple[bytes, Event]]:
    """Yield each event with the bytes that end with it."""
    reader, text = Reader(), b""
    async for piece in answer.aiter_bytes():
        for line in piece.splitlines(keepends=True):
            text += line
            for event in reader.feed(line):
                yield text, event
                text = b""


def _error(job: str, event: Event, retryable: bool) -> tuple[bytes, Event]:
    code = "ANALYSIS_SERVICE_UNAVAILABLE" if retryable else "NO_TEXT_DETECTED"
    data = json.dumps({"type": "error", "jobId": job, "code": code, "message": "No", "retryable": retryable})
    return f"id: {event.id}\nevent: error\ndata: {data}\n\n".encode(), Event("error", data, event.id)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pass(send: Send, exchange: Exchange, answer: httpx.Response) -> None:
    content = await answer.aread()
    await send({"type": "http.response.start", "status": answer.status_code, "headers": _kept(answer)})
    _note(exchange, answer.status_code, content)
    await send({"type": "http.response.body", "body": content})


async def _refuse(send: Send, exchange: Exchange, refusal: Refusal) -> None:
    body: dict[str, Any] = {
        "success": False, "type": "about:blank", "title": "Refused", "status": refusal.status, "detail": "Not now",
        "code": "INVALID_REQUEST" if refusal.status < 429 else "CIRCUIT_OPEN", "retryable": refusal.retryable}
    headers = [(b"content-type", b"application/problem+json")]
    if refusal.wait is not None:
        body["retryAfterMs"] = int(refusal.wait * 1000)
        headers.append((b"retry-after", str(round(refusal.wait + 0.5)).encode()))
    content = json.dumps(body).encode()
    headers.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    _note(exchange, refusal.status, content)
    await send({"type": "http.response.body", "body": content})


def _note(exchange: Exchange, status: int, content: bytes) -> None:
    exchange.status, exchange.answered = status, time.monotonic()
    try:
        exchange.body = json.loads(content)
    except ValueError:
        exchange.body = None
    body = exchange.body if isinstance(exchange.body, dict) else {}
    exchange.wait = body.get("retryAfterMs", 0) / 1000
    data = body.get("data")
    if exchange.kind == "upload" and isinstance(data, dict):
        exchange.job = data["jobId"]


def _kept(answer: httpx.Response) -> list[tuple[bytes, bytes]]:
    dropped = (b"transfer-encoding", b"connection", b"date", b"server")
    return [(name, value) for name, value in answer.headers.raw if name.lower() not in dropped]
