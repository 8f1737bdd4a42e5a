"""A client of WebSockets for the checks: it shows every message and the close, and forgives nothing."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from phone import Phone, Ticket

SIGNS = ("ready_ack", "ping", "pong")


@dataclass
class Talk:
    """What came on one WebSocket within a time."""

    status: int = 101
    error: str = ""
    protocol: str | None = None
    raw: list[str | bytes] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    code: int | None = None

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages that are JSON objects."""
        found = []
        for text in self.raw:
            try:
                found.append(json.loads(text))
            except ValueError:
                continue
        return found

    def own(self) -> list[dict[str, Any]]:
        """Return the messages about the job."""
        return [message for message in self.messages() if message["type"] not in SIGNS]

    def kinds(self) -> list[str]:
        """Return the types of the messages about the job."""
        return [message["type"] for message in self.own()]

    def payload(self, kind: str) -> dict[str, Any]:
        """Return the payload of the first message of a type."""
        found: dict[str, Any] = next((message["payload"] for message in self.own() if message["type"] == kind), {})
        return found


def address(phone: Phone, job: Ticket, again: bool) -> str:
    """Return the address of the WebSocket of a job."""
    return f"ws://127.0.0.1:{phone.port}/ws/progress?jobId={job.id}" + ("&reconnect=true" if again else "")


async def read(peer: ClientConnection, talk: Talk, until: str | None) -> None:
    """Read until the peer closes, or until a message of a type has come."""
    try:
        while True:
            talk.raw.append(await peer.recv())
            talk.moments.append(time.monotonic())
            if until and until in [message.get("type") for message in talk.messages()[-1:]]:
                return
    except ConnectionClosed as closed:
        talk.code = closed.rcvd.code if closed.rcvd else 1006


async def talk(phone: Phone, job: Ticket, *says: str, token: str | None = None, again: bool = False,
               ready: bool = True, seconds: float = 2.5, until: str | None = None) -> Talk:
    """Follow a job for a time, or until the WebSocket is closed; `says` are more types to send."""
    told = Talk()
    names = [Subprotocol(f"bookstrack-auth.{token or job.token}")]
    try:
        async with connect(address(phone, job, again), subprotocols=names, proxy=None, ping_interval=None,
                           close_timeout=0.2, compression=None) as peer:
            told.protocol = peer.subprotocol
            try:
                for kind in (("ready",) if ready else ()) + says:
                    await peer.send(json.dumps({"type": kind, "timestamp": int(time.time() * 1000)}))
            except ConnectionClosed:
                pass
            try:
                await asyncio.wait_for(read(peer, told, until), seconds)
            except TimeoutError:
                pass
    except InvalidStatus as refused:
        told.status = refused.response.status_code
    except InvalidHandshake as flaw:
        told.error = type(flaw).__name__
    return told


async def pong(phone: Phone, job: Ticket) -> bool:
    """Tell whether a ping frame is answered."""
    names = [Subprotocol(f"bookstrack-auth.{job.token}")]
    async with connect(address(phone, job, False), subprotocols=names, proxy=None, ping_interval=None,
                       close_timeout=0.2, compression=None) as peer:
        try:
            await asyncio.wait_for(await peer.ping(), 0.5)
        except TimeoutError:
            return False
    return True
