"""The event stream of a job: from its first connection to its terminal event."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import httpx

from cleanup import delete
from retry import NO_ANSWER, Answer, backoff, read_body
from sse import Event, Reader
from wire import Job, JobAbandoned, ScanFailed, Wire

# Connections in a row that brought no new event.
FAILURES_MAX = 5
RECONNECT_WAIT = 1.0
TERMINAL = ("completed", "complete", "error", "canceled")


@dataclass(frozen=True)
class Ending:
    """How a job ended: the name of its terminal event and what it says."""

    name: str
    data: dict[str, Any]

    @property
    def completed(self) -> bool:
        """Whether the job has books, be they in the event or not."""
        return self.name in ("completed", "complete")

    @property
    def retryable(self) -> bool:
        """Whether another attempt may succeed (section 2.1)."""
        return self.name == "error" and self.data.get("retryable") is True


async def follow(wire: Wire, job: Job) -> Ending:
    """Read the stream of a job until its terminal event, over as many connections as that takes."""
    failures = 0
    if wire.bugs("stream-two-at-once"):
        wire.device.in_background(_listen(wire, job, ""))
    while True:
        known = len(job.seen)
        outcome = await _listen(wire, job, _resume_from(wire, job))
        if isinstance(outcome, Ending):
            if wire.bugs("stream-after-terminal"):
                wire.device.in_background(_again(wire, job))
            return outcome
        if outcome.status == 200 and wire.bugs("stream-eof-is-end"):
            raise ScanFailed("stream-ended")
        if outcome.refused and outcome.status != 200 and not wire.bugs("retry-stream-refusal"):
            raise ScanFailed(f"stream-{outcome.status}")
        if outcome.status in (0, 200) and wire.bugs("upload-again-after-cut"):
            raise JobAbandoned
        failures = 1 if len(job.seen) > known else failures + 1
        if failures > FAILURES_MAX:
            raise ScanFailed("stream-lost")
        await asyncio.sleep(_reconnect_wait(wire, job, outcome, failures))


async def _again(wire: Wire, job: Job) -> None:
    """Reconnect for ever, as a browser's EventSource does; three times are enough to be seen."""
    for failures in (1, 2, 3):
        await asyncio.sleep(backoff(RECONNECT_WAIT, 1) / failures)
        await _listen(wire, job, job.last_id)


async def _listen(wire: Wire, job: Job, last_id: str) -> Ending | Answer:
    """Read one connection; return the ending of the job, or what came in place of it."""
    try:
        async with wire.stream(job, last_id) as response:
            if response.status_code != 200:
                await response.aread()
                return Answer(response.status_code, response.headers, read_body(response.content))
            return await _read(wire, job, response)
    except (httpx.RequestError, ValueError):
        return NO_ANSWER


async def _read(wire: Wire, job: Job, response: httpx.Response) -> Ending | Answer:
    reader = Reader()
    reader.last_id = last_id = job.last_id
    pieces = response.aiter_bytes()
    async for piece in pieces:
        if wire.bugs("stream-chunks-as-events"):
            reader = Reader()
        events = reader.feed(piece)
        job.retry = reader.retry or job.retry
        for event in events:
            if event.id != last_id:
                last_id = event.id
                _remember(wire, job, event.id)
            ending = await _take(wire, job, event)
            if ending is not None:
                if wire.bugs("stream-kept-open"):
                    wire.device.kept_open[response] = pieces
                return ending
    return Answer(200, response.headers, None)


def _remember(wire: Wire, job: Job, event_id: str) -> None:
    job.last_id = event_id
    job.first_id = job.first_id or event_id
    wire.device.latest_event_id = event_id


async def _take(wire: Wire, job: Job, event: Event) -> Ending | None:
    """Take one event; unknown ones are ignored (section 5, related rules)."""
    ends = event.name == "ping" and wire.bugs("stream-ping-ends-job")
    known = (*TERMINAL, "progress", "ping", "enrichment_degraded")
    ends = ends or event.name not in known and wire.bugs("stream-unknown-ends-job")
    if ends:
        await delete(wire, job)
        raise ScanFailed("event-invalid")
    if event.name != "ping":
        job.seen.add((event.id, event.name, event.data))
    if event.name not in TERMINAL:
        return None
    try:
        data = json.loads(event.data)
    except ValueError:
        data = None
    return Ending(event.name, data if isinstance(data, dict) else {})


def _resume_from(wire: Wire, job: Job) -> str:
    """Return the Last-Event-ID: each stream continues from its own last id (sections 2.2 and 5)."""
    if wire.bugs("stream-no-last-event-id"):
        return ""
    if wire.bugs("stream-other-last-event-id"):
        return wire.device.latest_event_id
    if wire.bugs("stream-first-event-id"):
        return job.first_id
    if wire.bugs("stream-null-event-id"):
        return job.last_id or "null"
    return job.last_id


def _reconnect_wait(wire: Wire, job: Job, outcome: Answer, failures: int) -> float:
    if wire.bugs("stream-reconnect-at-once"):
        return 0.0
    asked = outcome.wait() or 0.0
    if asked > wire.device.patience:
        raise ScanFailed(f"stream-{outcome.status}")
    return max(asked, backoff(max(RECONNECT_WAIT, job.retry), failures))
