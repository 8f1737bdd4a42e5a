"""The WebSocket of a job of v2: who may open one, and what comes on it until its end (contract 3.4)."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

import answers
import messages
import problems
from events import v2_voice
from jobs import Backend, Event, Job
from problems import Refused, unauthorized

PATH = "/ws/progress"
PREFIX = "bookstrack-auth."
READY_TIME = 5.0
STATE_TIME = 60.0
CLOSE_DELAY = 1.0
CONNECTIONS_MAX = 5
INCOMING_MAX = 10 * 1024


def address(backend: Backend, request: Request, job: Job) -> str:
    """Return the address of the WebSocket of a job, as a 202 names it."""
    name = messages.previous(backend, job) if backend.bug("ws-url-other") else job.id
    return f"ws://{request.headers.get('host', '127.0.0.1')}{PATH}?jobId={name}"


def admitted(backend: Backend, peer: WebSocket) -> Job:
    """Return the job of a connection, if its token opens it."""
    bug = backend.bug
    backend.expire()
    job_id = peer.query_params.get("jobId")
    if not job_id:
        raise Refused(400, "INVALID_REQUEST", "jobId is missing")
    name = protocol_of(peer)
    token = name.removeprefix(PREFIX) if name else peer.query_params.get("token")
    if token is None and not bug("ws-token-unchecked"):
        raise unauthorized(backend, "INVALID_TOKEN", "The token is missing")
    job = backend.jobs.get(job_id) or backend.ghosts.get(job_id)
    if job is None or job.kind == "v3":
        if job_id in backend.gone:
            raise Refused(410, "GONE", "The job was cleaned up or has expired")
        raise Refused(404, "NOT_FOUND", "There is no such job")
    if bug("ws-token-unchecked"):
        return job
    if token != job.token:
        other = any(each.token == token for each in backend.jobs.values())
        if not (bug("ws-token-any-job") and other):
            raise unauthorized(backend, "INVALID_TOKEN", "The token is not that of the job")
    if backend.expired(job):
        raise unauthorized(backend, "TOKEN_EXPIRED", "The token has expired")
    if job.opened and not may_return(backend, job, peer):
        raise unauthorized(backend, "INVALID_TOKEN", "The token was used")
    return job


def may_return(backend: Backend, job: Job, peer: WebSocket) -> bool:
    """Tell whether a token that was used opens another connection."""
    bug = backend.bug
    if bug("ws-token-again"):
        return True
    if peer.query_params.get("reconnect") != "true" or bug("ws-return-401"):
        return False
    return job.sockets > 0 or time.monotonic() - job.lost <= STATE_TIME


def protocol_of(peer: WebSocket) -> str | None:
    """Return the subprotocol with the token."""
    return next((name for name in peer.scope["subprotocols"] if name.startswith(PREFIX)), None)


def chosen(backend: Backend, peer: WebSocket) -> str | None:
    """Return the subprotocol that the 101 names."""
    name = protocol_of(peer)
    if backend.bug("ws-protocol-none"):
        return None
    # The token is no part of what is answered, as it is in logs.
    return PREFIX.rstrip(".") if name and backend.bug("ws-protocol-wrong") else name


async def follow(peer: WebSocket) -> None:
    """Serve the WebSocket of a job."""
    backend: Backend = peer.app.state.backend
    try:
        job = admitted(backend, peer)
    except Refused as refused:
        await peer.send_denial_response(problems.answer(backend, peer, refused))
        return
    crowded = job.sockets >= CONNECTIONS_MAX
    again = job.opened > 0
    job.opened += 1
    job.sockets += 1
    backend.open_streams += 1
    try:
        await peer.accept(subprotocol=chosen(backend, peer))
        if crowded:
            await peer.close(1008, "CONNECTION_LIMIT_EXCEEDED")
            return
        await Line(backend, job, peer, again).run()
    except WebSocketDisconnect:
        pass
    finally:
        job.sockets -= 1
        job.lost = time.monotonic()
        backend.open_streams -= 1


class Line:
    """An open connection of a client to its job."""

    def __init__(self, backend: Backend, job: Job, peer: WebSocket, again: bool) -> None:
        self.backend = backend
        self.bug = backend.bug
        self.job = job
        self.peer = peer
        self.again = again
        self.ready = asyncio.Event()
        self.held: str | None = None
        self.kept: tuple[str, dict[str, Any], int] | None = None
        self.deaf = self.bug("ws-four") and backend.open_streams > 4

    async def run(self) -> None:
        """Listen and tell until either is over."""
        parts = {asyncio.create_task(self.listen()), asyncio.create_task(self.tell())}
        try:
            done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
        for part in done:
            part.result()

    async def listen(self) -> None:
        """Take what the client sends until it is gone; what is none of the contract has no effect."""
        while True:
            message = await self.peer.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                kind = json.loads(message.get("text") or "{}").get("type")
            except (ValueError, AttributeError):
                continue
            if kind == "ready" and not self.bug("ws-ready-unseen"):
                self.ready.set()
                if self.bug("ws-before-ready"):
                    await self.acknowledge()
            elif kind in ("cancel", "cancel_batch"):
                if kind == "cancel_batch":
                    await self.send("batch-canceling", {})
                if not self.job.over:
                    self.backend.cancel(self.job, v2_voice)
            elif kind == "ping":
                await self.send("pong", {"timestamp": messages.now_ms(), "latency": 0})

    async def send(self, kind: str, payload: dict[str, Any], at: int | None = None, job: Job | None = None) -> None:
        """Send a message."""
        text = messages.envelope(self.backend, job or self.job, kind, payload, at or messages.now_ms())
        if self.bug("ws-joined") and kind in ("job_started", "job_progress") and self.held is None:
            self.held = text
            return
        if self.held:
            text, self.held = f"{self.held}\n{text}", None
        if self.bug("ws-binary"):
            await self.peer.send_bytes(text.encode())
        else:
            await self.peer.send_text(text)

    async def acknowledge(self) -> None:
        """Answer `ready`."""
        if not self.bug("ws-no-ready-ack"):
            at = messages.now_ms()
            await self.send("ready_ack", {"type": "ready_ack", "timestamp": at}, at)

    async def hello(self) -> None:
        """Wait until the client is ready, but not for ever."""
        if self.bug("ws-before-ready"):
            return
        try:
            await asyncio.wait_for(self.ready.wait(), READY_TIME)
        except TimeoutError:
            return
        await self.acknowledge()

    async def first(self) -> int:
        """Begin with the state of the job, and return the position of the first event behind it."""
        job = self.job
        if self.again and self.bug("ws-return-anew"):
            return 0
        if job.over and not (self.again and self.bug("ws-return-deaf")):
            return len(job.events) - 1
        if not self.again:
            return 0
        if not self.bug("ws-return-silent"):
            await self.send("reconnected", messages.reconnected(self.backend, job))
        self.deaf = self.deaf or self.bug("ws-return-deaf")
        return len(job.events)

    async def tell(self) -> None:
        """Send the messages of the job to its end, and pings in between."""
        await self.hello()
        position = await self.first()
        next_ping = time.monotonic() + self.backend.config.ping
        quiet = time.monotonic()
        while True:
            signal = self.job.signal
            for place, event in enumerate(self.job.events[position:], position):
                position = place + 1
                quiet = time.monotonic()
                if not self.deaf and await self.event(event, place):
                    return
            now = time.monotonic()
            if self.bug("ws-idle-cut") and now - quiet > 0.3:
                await self.peer.close(1001)
                return
            if now >= next_ping:
                next_ping += self.backend.config.ping
                if not self.bug("ws-no-ping"):
                    await self.send("ping", {"timestamp": messages.now_ms()})
            wait = min(next_ping - now, 0.1) if self.bug("ws-idle-cut") else next_ping - now
            try:
                await asyncio.wait_for(signal.wait(), max(0.0, wait))
            except TimeoutError:
                pass

    async def event(self, event: Event, place: int) -> bool:
        """Send the message of an event, and return whether it was the last one."""
        bug, backend = self.bug, self.backend
        if not event.name:
            await self.peer.close(1000)
            return True
        kind, payload, at = messages.of_event(backend, self.job, event)
        if bug("ws-complete-early") and place == 2 and not event.terminal:
            # The work is handed to a queue, and taken for done.
            kind, payload = "job_complete", messages.complete(backend, self.job, at)
        if bug("ws-lost") and place == 2 and not event.terminal:
            return False
        backend.sent += 1
        other = backend.other(self.job)
        if bug("ws-foreign") and other and not event.terminal and backend.sent % 5 == 0:
            kind, payload, at = messages.of_event(backend, other, other.events[-1])
            await self.send(kind, payload, at, other)
            return False
        last = kind in ("job_complete", "error")
        if bug("ws-slow"):
            await asyncio.sleep(0.3)
        if bug("ws-swapped") and self.kept is None and kind == "job_progress":
            self.kept = kind, payload, at
            return False
        parts = [(kind, payload, at), *([self.kept] if self.kept else [])]
        self.kept = None
        for part in reversed(parts) if last else parts:
            if not (part[0] == kind and last and bug("ws-no-terminal")):
                await self.send(*part)
        if last:
            await self.end(kind, payload)
        return last

    async def end(self, kind: str, payload: dict[str, Any]) -> None:
        """Close the connection behind the last message."""
        bug = self.bug
        if kind == "error":
            await self.peer.close(1011)
            return
        if bug("ws-complete-twice"):
            await self.send(kind, payload | {"summary": payload["summary"] | {"duration": 0}})
        if bug("ws-error-after"):
            error = {"code": "PROVIDER_TIMEOUT", "message": "The provider is late", "details": None}
            await self.send("error", {"data": None, "metadata": {}, "error": error, "retryable": True})
        if bug("ws-progress-after"):
            await self.send("job_progress", {"progress": 0.95, "status": "processing",
                                             "processedCount": self.job.processed, "totalCount": self.job.total})
        if bug("ws-never-closed"):
            await asyncio.Event().wait()
        if bug("ws-close-1011"):
            await self.peer.close(1011)
            return
        await asyncio.sleep(0.0 if bug("ws-no-terminal") else 0.02 if bug("ws-abort") else CLOSE_DELAY)
        await self.peer.close(1000)


async def plain(request: Request) -> Response:
    """Refuse a request that is no opening handshake."""
    backend: Backend = request.app.state.backend
    if backend.bug("ws-plain-200"):
        return answers.json_answer(backend, {"success": True, "data": {"status": "ok"}})
    raise Refused(426, "INVALID_REQUEST", "A WebSocket is needed", {"Upgrade": "websocket", "Connection": "Upgrade"})


def routes() -> list[Route | WebSocketRoute]:
    """Return the paths of WebSockets."""
    return [WebSocketRoute(PATH, follow), Route(PATH, plain, methods=["GET"])]
