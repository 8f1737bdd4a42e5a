"""The books of a job: from its terminal event, or from its results."""

from __future__ import annotations

import asyncio
from typing import Any

from follow import Ending
from retry import backoff
from wire import Job, ScanFailed, Wire

# S0 allows one automatic repetition with a delay of 2 s (section 5, related rules).
REPEATS_MAX = 1
REPEAT_WAIT = 2.0


class ResultsFailed(ScanFailed):
    """The results did not come; they are still on the server."""


def readable(books: Any) -> bool:
    """Return whether every entry has a title and an author: one without makes all unusable (1.3)."""
    return isinstance(books, list) and all(
        isinstance(book, dict) and isinstance(book.get("title"), str) and isinstance(book.get("author"), str)
        for book in books)


async def books_of(wire: Wire, job: Job, ending: Ending) -> list[Any]:
    """Return the books of a completed job. Results are fetched only if the event has none (GAP-3)."""
    inline = ending.data.get("books")
    if isinstance(inline, list) and inline and readable(inline) and not wire.bugs("results-despite-books"):
        if wire.bugs("results-beside-books"):
            await fetch(wire, job, ending)
        return inline
    books = await fetch(wire, job, ending)
    if wire.bugs("results-twice"):
        books = await fetch(wire, job, ending)
    return books


async def fetch(wire: Wire, job: Job, ending: Ending) -> list[Any]:
    """Fetch the results of a job, with at most one repetition."""
    path = _address(wire, job, ending)
    repeats = 0
    while True:
        answer = await wire.request("results", "GET", path, job)
        if answer.status == 200:
            data = answer.field("data")
            books = data.get("results") if isinstance(data, dict) else None
            if not isinstance(books, list) or not readable(books):
                raise ResultsFailed("results-unreadable")
            return books
        repeats += 1
        stubborn = answer.status == 404 and wire.bugs("retry-results-404")
        if (answer.refused or repeats > REPEATS_MAX) and not (stubborn and repeats < 6):
            raise ResultsFailed(f"results-{answer.status}")
        asked = answer.wait() or 0.0
        if asked > wire.device.patience:
            raise ResultsFailed(f"results-{answer.status}")
        await asyncio.sleep(max(asked, 0.5 if stubborn else backoff(REPEAT_WAIT, repeats)))


async def poll_results(wire: Wire, job: Job) -> list[Any]:
    """Ask for results until there are some, without a look at the stream."""
    for _ in range(100):
        answer = await wire.request("results", "GET", f"{job.path}/results?format=lite", job)
        data = answer.field("data")
        if answer.status == 200 and isinstance(data, dict):
            return list(data.get("results") or [])
        await asyncio.sleep(0.2)
    raise ScanFailed("results-never")


def _address(wire: Wire, job: Job, ending: Ending) -> str:
    """Return where the results are, in the lean form (GAP-8)."""
    named = ending.data.get("resultsUrl")
    url = wire.resolved(named) if isinstance(named, str) and named else None
    if url is None:
        url = wire.resolved(f"{job.path}/results")
    assert url is not None
    if wire.bugs("results-no-format"):
        return str(url.copy_remove_param("format"))
    return str(url.copy_set_param("format", "full" if wire.bugs("results-full") else "lite"))
