"""Delivery of the events of a job: where a stream starts, its pings and its end."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from starlette.responses import Response, StreamingResponse

import words
from jobs import Backend, Event, Job
from problems import Refused

HEADERS = {"Cache-Control": "no-cache, no-store, must-revalidate", "X-Accel-Buffering": "no"}


def start(backend: Backend, job: Job, last_id: str | None) -> int:
    """Return the position of the first event of a stream."""
    bug = backend.bug
    events = job.events
    if not events:
        return 0
    horizon = time.monotonic() - backend.config.buffer
    oldest = next((place for place, event in enumerate(events) if event.at > horizon), len(events) - 1)
    if last_id is None:
        return len(events) - 1
    if bug("resume-ignored"):
        return len(events) - 1
    if bug("resume-live-only"):
        return len(events)
    if bug("resume-from-start"):
        return 0
    if bug("resume-whole-seconds"):
        # Times are compared in seconds.
        second = second_of(last_id)
        later = [place for place, event in enumerate(events) if second_of(event.id) > second]
        return later[0] if later else len(events) - 1 if job.over else len(events)
    known = [place for place in range(oldest, len(events)) if events[place].id == last_id]
    if bug("resume-unknown-id-500") and not known:
        raise Refused(500, "INTERNAL_ERROR", "ValueError: event id not in buffer")
    if not known:
        return oldest
    place = known[-1] + 1
    if bug("resume-one-early"):
        place -= 1
    if bug("resume-one-late"):
        place += 1
    if place >= len(events) and job.over and not bug("resume-one-late"):
        return len(events) - 1
    return place


def second_of(mark: str) -> int:
    """Return the second of the time that an id begins with."""
    number = mark.partition("-")[0]
    return int(number) // 1000 if number.isdecimal() else 0


def replayed(backend: Backend, job: Job, event: Event, place: int) -> Event:
    """Return an event that was sent before as a resumed stream brings it."""
    bug = backend.bug
    if bug("resume-changed-data"):
        data = json.loads(event.data)
        data |= {"processedCount": 0, "totalCount": 1, "progress": 0.01}
        for book in data.get("books", []):
            book["title"] = book["title"].split(" ")[0]
        event = replace(event, data=words.dump(bug, data, "event"))
    if bug("resume-half-books") and event.terminal:
        data = json.loads(event.data)
        data["books"] = data.get("books", [])[::2]
        event = replace(event, data=words.dump(bug, data, "event"))
    if bug("resume-ids-restart"):
        event = replace(event, id=str(place + 1))
    if bug("resume-no-ids"):
        event = replace(event, id="")
    return event


def refuse_resume(backend: Backend, job: Job, last_id: str | None) -> Response | None:
    """Refuse a resumed stream, which a healthy backend never does."""
    bug = backend.bug
    if last_id is None:
        return None
    if bug("resume-404"):
        raise Refused(404, "NOT_FOUND", "The stream is on another instance")
    if bug("resume-204") and job.over:
        return Response(status_code=204)
    return None


def frame(backend: Backend, event: Event) -> bytes:
    """Return the bytes of an event."""
    bug = backend.bug
    data = event.data
    if event.terminal and time.monotonic() - event.at > backend.config.buffer:
        body = json.loads(data)
        body.pop("books", None)
        data = words.dump(bug, body, "event")
    if bug("many-line-split"):
        # Lines are wrapped where the buffer of 4096 bytes ends.
        data = b"\n".join(data[at:at + 4096] for at in range(0, len(data), 4096))
    lines = [b"event: " + event.name.encode(), b"data: " + data]
    if event.id and not bug("id-missing"):
        lines.insert(0, b"id: " + event.id.encode())
    if bug("id-terminal-empty") and event.terminal:
        lines[0] = b"id:"
    if bug("odd-utf8-split"):
        # Each half is decoded alone, and a character on the border becomes two replacements.
        lines[-1] = "".join(lines[-1][at:at + 64].decode("utf-8", "replace")
                            for at in range(0, len(lines[-1]), 64)).encode()
    if bug("http-blank-line-missing"):
        return b"\n".join(lines) + b"\n"
    return b"\n".join(lines) + b"\n\n"


def ping(backend: Backend, job: Job) -> bytes:
    """Return a sign of life: an event in v3, a comment in v2."""
    bug = backend.bug
    if job.kind != "v3":
        return b"data: heartbeat\n\n" if bug("v2-heartbeat-data") else b": heartbeat\n\n"
    data = words.dump(bug, {"type": "ping", "timestamp": words.stamp(bug)}, "ping")
    mark = b"id: 0-ping\n" if bug("id-ping-zero") else b""
    return mark + b"event: ping\ndata: " + data + b"\n\n"


def routed(backend: Backend, job: Job, event: Event) -> Event:
    """Return the event that this stream gets in place of its own."""
    if not backend.bug("load-misrouted"):
        return event
    other = backend.other(job)
    backend.sent += 1
    return other.events[-1] if other and backend.sent % 5 == 0 else event


async def deliver(backend: Backend, job: Job, last_id: str | None, first: int) -> AsyncIterator[bytes]:
    """Yield the events of a job from a position on, and pings in between, until the terminal event."""
    bug = backend.bug
    period = backend.config.ping
    resumed = last_id is not None
    sent_before = len(job.events)
    position = first
    hello = f": reconnected from event {last_id}\n\n" if resumed else ": connection established\n\n"
    yield hello.encode() + (b"retry: 5000\n\n" if job.kind != "v3" else b"")
    deaf = bug("load-four-streams") and backend.open_streams > 4
    next_ping = time.monotonic() + period
    quiet_since = time.monotonic()
    ended = False
    count = 0
    gap = resumed and bug("resume-gap")
    while True:
        signal = job.signal
        order = list(enumerate(job.events))[position:]
        if bug("resume-newest-first") and resumed and position < sent_before:
            order.reverse()
        for place, event in [] if deaf or ended else order:
            position = max(position, place + 1)
            quiet_since = time.monotonic()
            if resumed and place < sent_before:
                event = replayed(backend, job, event, place)
            if event.terminal and resumed and bug("resume-no-terminal"):
                return
            if not event.terminal and bug("event-terminal-only"):
                continue
            count += 1
            if bug("many-30-events") and count > 30:
                # The credit of the stream is never renewed.
                continue
            if event.terminal and place >= sent_before and bug("load-terminal-held") and backend.other(job):
                # The signal of one job overwrites that of another, until a ping looks for itself.
                await asyncio.sleep(max(0.0, next_ping - time.monotonic()))
            if event.name:
                yield frame(backend, routed(backend, job, event))
            if event.terminal and bug("delete-on-end"):
                backend.forget(job)
            if event.terminal and resumed and bug("resume-never-ends"):
                ended = True
            elif event.terminal and not bug("event-open-after-end"):
                return
        if gap:
            # The stream subscribes only when its replay is through.
            gap = False
            await asyncio.sleep(0.5)
            position = len(job.events)
            continue
        now = time.monotonic()
        if bug("http-idle-cut") and now - quiet_since > 0.3:
            return
        if now >= next_ping:
            next_ping += period
            if not bug("event-no-ping"):
                yield ping(backend, job)
            continue
        wait = min(next_ping - now, 0.1) if bug("http-idle-cut") else next_ping - now
        try:
            await asyncio.wait_for(signal.wait(), wait)
        except TimeoutError:
            pass


async def buffered(parts: AsyncIterator[bytes], size: float) -> AsyncIterator[bytes]:
    """Hold the bytes of a stream back until there are enough of them, or until its end."""
    held = b""
    async for part in parts:
        held += part
        if len(held) >= size:
            yield held
            held = b""
    if held:
        yield held


async def counted(backend: Backend, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Count a stream as open while it is read."""
    backend.open_streams += 1
    try:
        async for part in parts:
            yield part
    finally:
        backend.open_streams -= 1


def answer(backend: Backend, job: Job, last_id: str | None) -> Response:
    """Return the answer to a request for the stream of a job."""
    bug = backend.bug
    refusal = refuse_resume(backend, job, last_id)
    if refusal:
        return refusal
    job.streams += 1
    first = start(backend, job, last_id)
    parts: Any = counted(backend, deliver(backend, job, last_id, first))
    if bug("http-buffer-4k"):
        parts = buffered(parts, 4096)
    if bug("http-buffer-end"):
        parts = buffered(parts, float("inf"))
    kind = "application/json" if bug("http-sse-type") else "text/event-stream"
    return StreamingResponse(parts, headers=dict(HEADERS), media_type=kind)
