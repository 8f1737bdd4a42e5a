"""The DELETE of a job."""

from __future__ import annotations

import asyncio

from retry import backoff
from wire import Job, Wire

ATTEMPTS_MAX = 4
REPEAT_WAIT = 1.0


async def clean_up(wire: Wire, job: Job) -> bool:
    """Remove a job that is over, with the switches that concern the moment of it."""
    if wire.bugs("delete-never"):
        return False
    done = await delete(wire, job)
    if wire.bugs("delete-twice"):
        await delete(wire, job)
    return done


async def delete(wire: Wire, job: Job) -> bool:
    """Remove a job. After no answer, 408, 429 and 5xx the request is repeated (section 4.11, Q23)."""
    path = job.path if wire.bugs("delete-cancel-path") else f"{job.path}/cleanup"
    for attempt in range(1, ATTEMPTS_MAX + 1):
        answer = await wire.request("delete", "DELETE", path, job)
        # 404 means that the job is cleaned up already (section 1.1, row 4).
        done = answer.status in (200, 204) or answer.status == 404
        stubborn = wire.bugs("retry-delete-refusal") and answer.status not in (200, 204)
        if done and not stubborn:
            return True
        again = answer.status in (0, 408, 429) or answer.status >= 500 or stubborn
        if not again or attempt == ATTEMPTS_MAX or wire.bugs("delete-once"):
            return False
        asked = answer.wait() or 0.0
        if asked > wire.device.patience:
            return False
        await asyncio.sleep(max(asked, backoff(REPEAT_WAIT, attempt)))
    return False
