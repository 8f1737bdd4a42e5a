"""One scan: from the photos to the books, and to a server without the job."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from books import ResultsFailed, books_of, poll_results
from cleanup import clean_up, delete
from device import Device
from follow import Ending, follow
from retry import backoff
from status import poll
from upload import prepared, upload
from wire import Job, JobAbandoned, ScanFailed, Wire

# A retryable error causes one automatic repetition (section 5, related rules; C20).
REPEATS_MAX = 1
REPEAT_WAIT = 2.0


async def scan(device: Device, number: int, photos: list[bytes]) -> dict[str, Any]:
    """Scan photos and return the line of the report."""
    wire = Wire(device, number)
    jobs: list[str] = []
    found: list[Any] = []
    began = time.monotonic()
    async with device.slots:
        try:
            found = await _books(wire, prepared(wire, photos), jobs)
            outcome = "books"
        except ScanFailed as failure:
            outcome = str(failure)
    return {"device": device.number, "scan": number, "outcome": outcome, "books": len(found), "jobs": jobs,
            "requests": {kind: wire.sent[kind] for kind in ("upload", "stream", "status", "results", "delete")},
            "seconds": round(time.monotonic() - began, 2)}


async def _books(wire: Wire, photos: list[bytes], jobs: list[str]) -> list[Any]:
    """Upload until a job has books or must not be repeated."""
    repeats = 0
    while True:
        job = await upload(wire, photos)
        jobs.append(job.id)
        try:
            ending = await _ending(wire, job)
        except JobAbandoned:
            repeats += 1
            if repeats > 3:
                raise ScanFailed("stream-lost") from None
            continue
        if ending is None:
            books = await poll_results(wire, job)
            await clean_up(wire, job)
            return books
        if ending.completed:
            return await _received(wire, job, ending)
        await clean_up(wire, job)
        repeats += 1
        if not _repeated(wire, ending, repeats):
            raise ScanFailed(f"job-{ending.data.get('code') or ending.name}")
        await asyncio.sleep(backoff(REPEAT_WAIT, 1))


async def _ending(wire: Wire, job: Job) -> Ending | None:
    if wire.bugs("results-polled"):
        return None
    if wire.bugs("poll-tight") or wire.bugs("harmless-status-polling"):
        return await poll(wire, job)
    if wire.bugs("delete-while-running"):
        wire.device.in_background(delete(wire, job))
    return await follow(wire, job)


async def _received(wire: Wire, job: Job, ending: Ending) -> list[Any]:
    """Return the books of a completed job, and remove it once they are here."""
    early = wire.bugs("delete-before-books")
    if early:
        await delete(wire, job)
    try:
        books = await books_of(wire, job, ending)
    except ResultsFailed:
        # A DELETE would destroy results that can be fetched later (section 4.11, Q14).
        if wire.bugs("delete-after-failed-results"):
            await delete(wire, job)
        raise
    if not early:
        await clean_up(wire, job)
    return books


def _repeated(wire: Wire, ending: Ending, repeats: int) -> bool:
    if wire.bugs("retry-final-error") and ending.data.get("retryable") is False:
        return repeats <= 1
    if wire.bugs("retry-error-thrice"):
        return ending.retryable and repeats <= 3
    # Endless, but a demonstration has to end.
    limit = 20 if wire.bugs("retry-error-endless") else REPEATS_MAX
    return ending.retryable and repeats <= limit

