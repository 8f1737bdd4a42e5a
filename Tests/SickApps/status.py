"""Polling the status in place of the stream, as section 1.4 allows."""

from __future__ import annotations

import asyncio

from follow import Ending
from wire import Job, ScanFailed, Wire

POLL_WAIT = 2.2
POLLS_MAX = 75
FAILURES_MAX = 5


async def poll(wire: Wire, job: Job) -> Ending:
    """Ask for the status until the job is over: at most 75 times, and at most five failures in a row."""
    failures = 0
    for _ in range(POLLS_MAX):
        await asyncio.sleep(0.2 if wire.bugs("poll-tight") else POLL_WAIT)
        answer = await wire.request("status", "GET", job.path, job)
        data = answer.field("data")
        status = data.get("status") if isinstance(data, dict) else None
        if answer.status == 200 and status in ("completed", "failed", "canceled"):
            return Ending("completed" if status == "completed" else "error", {})
        failures = 0 if answer.status == 200 else failures + 1
        tight = wire.bugs("poll-tight") and answer.status == 429
        if not tight and (answer.refused and answer.status != 200 or failures >= FAILURES_MAX):
            raise ScanFailed(f"status-{answer.status}")
        if not tight:
            await asyncio.sleep(answer.wait() or 0.0)
    raise ScanFailed("status-never")
