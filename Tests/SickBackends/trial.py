"""What the checks share: photos with known books, backends on free ports, and the table of checks."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import books
import talaria
from books import Book
from jobs import Backend, Config
from phone import Phone

Symptom = Callable[[Phone], Awaitable[bool]]


@dataclass(frozen=True)
class Check:
    """A symptom of a switch: it must show with the switch, and must not without it."""

    name: str
    symptom: Symptom
    config: dict[str, Any]


CHECKS: dict[str, Check] = {}


def check(name: str, **config: Any) -> Callable[[Symptom], Symptom]:
    """Enter a symptom into the table, with the settings of its backend."""

    def enter(symptom: Symptom) -> Symptom:
        if name in CHECKS:
            raise ValueError(f"two checks of {name}")
        CHECKS[name] = Check(name, symptom, config)
        return symptom

    return enter


def photo(number: int) -> bytes:
    """Return the bytes of a photo, which no decoder has to like."""
    return b"\xff\xd8\xff\xe0" + f"photo {number}".encode()


def pick(wanted: Callable[[list[Book]], bool], skip: int = 0) -> bytes:
    """Return the first photo whose books are as wanted."""
    matching = (photo(number) for number in itertools.count() if wanted(books.of_photo(photo(number))))
    return next(itertools.islice(matching, skip, None))


def few(found: list[Book]) -> bool:
    """Tell whether there are a few books, of several statuses."""
    statuses = {book.status for book in found}
    return 5 <= len(found) <= 9 and len(statuses) > 2 and any(book.isbn for book in found)


SMALL, OTHER = pick(few), pick(few, 1)
SEVERAL = [pick(few, number) for number in range(6)]
TINY = pick(lambda found: len(found) == 1)
BIG = pick(lambda found: len(found) > 40 and len(found) % 10 > 0 and sum(
    character >= "\U0001F300" for book in found for character in book.title) > 2)
REVIEW = pick(lambda found: few(found) and any(book.status == "review_needed" for book in found))


def titles(found: bytes) -> list[str]:
    """Return the titles that are on a photo."""
    return [book.title for book in books.of_photo(found)]


@asynccontextmanager
async def backend(*bugs: str, **config: Any) -> AsyncIterator[int]:
    """Run a backend in this process, and return its port."""
    settings: dict[str, Any] = {"job": (0.35, 0.35), "ping": 0.2, "quota": 1000, "poll": 0.0, **config}
    bound = talaria.listener(0)
    server = talaria.server(Backend(Config(bugs=bugs, **settings)))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup(sockets=[bound])
    try:
        yield bound.getsockname()[1]
    finally:
        for task in list(server.server_state.tasks):
            task.cancel()
        await asyncio.sleep(0)
        server.force_exit = True
        await server.shutdown(sockets=[bound])
