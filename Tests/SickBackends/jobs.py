"""The backend's memory: its settings, its jobs and their work."""

from __future__ import annotations

import asyncio
import hashlib
import random
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import books
import words
from books import Book
from bugs import Switches
from limits import Limiter


@dataclass(frozen=True)
class Config:
    """What the command line can choose."""

    job: tuple[float, float] = (1.0, 3.0)
    ping: float = 30.0
    quota: int = 10
    window: float = 1200.0
    photo_max: int = 10_000_000
    batch_max: int = 50_000_000
    photos_max: int = 5
    jobs_max: int = 10_000
    few: tuple[int, int] = (1, 12)
    big: float = 0.2
    token_lifetime: float = 7200.0
    results_lifetime: float = 7200.0
    buffer: float = 60.0
    completed_max: int = 131_072
    poll: float = 2.0
    payload: str = "contract"
    bugs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """One event of a stream, with the bytes that it has at every replay."""

    id: str
    name: str
    data: bytes
    at: float
    terminal: bool


@dataclass
class Job:
    """One upload and what became of it."""

    id: str
    kind: str
    token: str
    device: str
    units: int
    found: list[Book]
    extra: dict[str, Any] = field(default_factory=dict)
    created: float = field(default_factory=time.time)
    ended: float | None = None
    status: str = "initialized"
    progress: float = 0.0
    processed: int = 0
    total: int = 0
    events: list[Event] = field(default_factory=list)
    signal: asyncio.Event = field(default_factory=asyncio.Event)
    last_ms: int = 0
    asked: float = 0.0
    result_reads: int = 0
    streams: int = 0
    opened: int = 0
    sockets: int = 0
    lost: float = 0.0
    photo: str = ""
    number: int = 0
    task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether the job has ended in one way or another."""
        return self.status in ("completed", "failed", "canceled")

    def wake(self) -> None:
        """Tell every stream of the job that there is a new event."""
        signal, self.signal = self.signal, asyncio.Event()
        signal.set()


# The names and data of events differ between v3 and v2; the work does not.
Voice = Callable[["Backend", Job, str, dict[str, Any]], tuple[str, str, dict[str, Any]]]


class Backend:
    """One backend with its jobs; several can live in one process."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.bug = Switches(config.bugs)
        self.jobs: dict[str, Job] = {}
        self.gone: dict[str, float] = {}
        self.ghosts: dict[str, Job] = {}
        self.limiter = Limiter(self.bug, config.quota, config.window)
        self.v2_limiter = Limiter(self.bug, config.quota, config.window)
        self.made = 0
        self.sent = 0
        self.open_streams = 0
        self.leaked = 0
        self.workers = asyncio.Semaphore(1)
        self.scratch: list[Book] = []
        self.published: frozenset[str] = frozenset()
        self.cache: dict[str, tuple[float, bytes]] = {}
        self.seen: dict[str, tuple[str, str]] = {}
        self.first_photo: dict[str, list[Book]] = {}
        self.last_token = ""
        self.newest: dict[str, str] = {}
        self.locked: set[str] = set()
        self.freed: dict[str, list[str]] = {}
        self.imported: dict[str, set[str]] = {}
        self.tally: dict[str, Any] = {}
        self.lookup: tuple[float, Book] | None = None

    def find_books(self, device: str, photos: list[bytes]) -> tuple[list[Book], str]:
        """Return the books of these photos and the mark of their bytes."""
        bug = self.bug
        mark = device + hashlib.sha256(b"".join(photos)).hexdigest()
        found = books.of_photos(photos, self.config.few, self.config.big)
        if bug("retry-first-photo"):
            found = self.first_photo.setdefault(device, found)
        if bug("retry-doubles-books") and mark in self.seen:
            found = found + found
        if bug("retry-no-books") and mark in self.seen:
            found = []
        return found, mark

    def new_id(self, prefix: str) -> str:
        """Return the id of a new job."""
        if self.bug("load-id-clock"):
            # Half a second of one clock: two uploads in the same tick become one job.
            return prefix + str(uuid.UUID(int=int(time.time() * 2) << 80, version=4))
        if self.freed.get(prefix):
            return self.freed[prefix].pop()
        return prefix + str(uuid.uuid4())

    def create(self, kind: str, prefix: str, device: str, units: int, found: list[Book], mark: str) -> Job:
        """Create a job; its work begins with `start`."""
        bug = self.bug
        job = Job(self.new_id(prefix), kind, secrets.token_hex(32), device, units, found, photo=mark)
        if bug("retry-kills-first"):
            for other in list(self.jobs.values()):
                if other.device == device and not other.over and other.task:
                    other.task.cancel()
        self.jobs[job.id] = job
        self.gone.pop(job.id, None)
        self.made += 1
        job.number = self.made
        self.seen[mark] = (job.id, job.token)
        self.newest[device] = job.token
        return job

    def start(self, job: Job, voice: Voice) -> None:
        """Begin the work of a job."""
        job.task = asyncio.create_task(self.work(job, voice))

    def other(self, job: Job) -> Job | None:
        """Return the newest other job that is at work."""
        running = [other for other in self.jobs.values()
                   if other is not job and not other.over and other.events]
        return running[-1] if running else None

    def emit(self, job: Job, voice: Voice, what: str, **facts: Any) -> None:
        """Append an event to the job and wake its streams."""
        bug = self.bug
        name, suffix, data = voice(self, job, what, facts)
        terminal = what in ("completed", "failed")
        now_ms = int(time.time() * 1000)
        job.last_ms = max(now_ms, job.last_ms + 1)
        number = job.last_ms
        if bug("id-falling"):
            number = 2 * int(job.created * 1000) - number
        if bug("time-id-local"):
            number -= 7 * 3_600_000
        if bug("id-shared") and job.events and not terminal:
            job.last_ms = number = int(job.events[-1].id.split("-")[0])
        mark = f"{number}-{suffix}"
        if bug("id-equal"):
            mark = f"{int(job.created * 1000)}-event"
        if bug("id-shared-types") and terminal and job.events:
            mark = job.events[-1].id
        body = words.dump(bug, data, "event")
        job.events.append(Event(mark, name, body, time.monotonic(), terminal))
        job.wake()
        if bug("load-device-channel"):
            for other in self.jobs.values():
                if other is not job and other.device == job.device and not other.over:
                    other.events.append(Event(mark, name, body, time.monotonic(), False))
                    other.wake()

    async def work(self, job: Job, voice: Voice) -> None:
        """Do the work of a job: photos, then books, then the end."""
        bug = self.bug
        config = self.config
        length = random.uniform(*config.job)
        if bug("load-one-worker"):
            await self.workers.acquire()
        try:
            self.emit(job, voice, "started", share=0.05)
            if bug("delete-leaks-worker") and self.leaked >= 4:
                return
            if bug("many-stalls") and len(job.found) > 20:
                return
            if bug("event-stalls") and job.number % 3 == 0:
                return
            job.status = "processing"
            await asyncio.sleep(length * 0.1)
            self.scratch = job.found
            self.emit(job, voice, "photo", share=0.1 + 0.4 / max(1, job.units))
            await asyncio.sleep(length * 0.4)
            if bug("load-scratch"):
                job.found = self.scratch
            if bug("load-lost-update"):
                before = self.published
                await asyncio.sleep(length * 0.25)
                self.published = before | {job.id}
            self.emit(job, voice, "identified", share=0.5)
            for place, book in enumerate(job.found):
                await asyncio.sleep(length * 0.5 / len(job.found))
                share = 0.5 + 0.45 * (place + 1) / len(job.found)
                self.emit(job, voice, "book", share=share, place=place, book=book)
            if job.kind in ("batch", "import"):
                await asyncio.sleep(length * 0.1)
            await self.finish(job, voice)
        finally:
            if bug("load-one-worker"):
                self.workers.release()

    async def finish(self, job: Job, voice: Voice) -> None:
        """Complete a job."""
        bug = self.bug
        job.progress = 1.0
        job.processed = job.total
        job.ended = time.time()
        if bug("event-no-terminal"):
            job.status = "completed"
            job.events.append(Event("", "", b"", time.monotonic(), True))
            job.wake()
            return
        job.status = "completed"
        self.emit(job, voice, "completed")
        if bug("event-two-terminals") or bug("event-error-after"):
            # The stream is left open for the second one.
            first = job.events[-1]
            job.events[-1] = Event(first.id, first.name, first.data, first.at, False)
            if bug("event-error-after"):
                self.emit(job, voice, "failed", code="PROVIDER_TIMEOUT", message="The provider is late",
                          retryable=True)
            else:
                self.emit(job, voice, "completed")
        if bug("event-after-terminal"):
            first = job.events[-1]
            job.events[-1] = Event(first.id, first.name, first.data, first.at, False)
            self.emit(job, voice, "photo", share=0.5)
            last = job.events[-1]
            job.events[-1] = Event(last.id, last.name, last.data, last.at, True)

    def cancel(self, job: Job, voice: Voice) -> None:
        """End a running job and its streams."""
        if job.task:
            job.task.cancel()
        job.status = "canceled"
        job.ended = time.time()
        if self.bug("event-canceled-open"):
            return
        self.emit(job, voice, "failed", code="CANCELED", message="The scan was canceled", retryable=False)

    def remove(self, job: Job, voice: Voice) -> None:
        """Remove a job with its photos, token and results."""
        bug = self.bug
        if bug("delete-leaks-worker"):
            self.leaked += 1
        if bug("delete-nothing"):
            return
        if bug("delete-results-stay"):
            job.extra["removed"] = True
            return
        if not job.over and not bug("delete-stream-open"):
            self.cancel(job, voice)
        elif job.task and not job.over:
            job.task.cancel()
        self.forget(job)
        if bug("delete-id-reused"):
            self.freed.setdefault(job.id[:-36], []).append(job.id)
        if bug("delete-shard"):
            # The key of the job is cut, and the storage removes all that begins with it.
            for other in [other for other in self.jobs.values() if other.id[-36] == job.id[-36]]:
                if other.task:
                    other.task.cancel()
                self.forget(other)
        if bug("delete-all-of-device"):
            for other in [other for other in self.jobs.values() if other.device == job.device]:
                if other.task:
                    other.task.cancel()
                self.forget(other)

    def forget(self, job: Job) -> None:
        """Keep of a job only that it was there."""
        if self.jobs.get(job.id) is job:
            del self.jobs[job.id]
        if self.bug("ws-deleted-opens"):
            self.ghosts[job.id] = job
        self.gone[job.id] = time.time()

    def expire(self) -> None:
        """Forget the jobs whose token and results have both expired."""
        now = time.time()
        for job in list(self.jobs.values()):
            results = job.ended is not None and now - job.ended > self.config.results_lifetime
            if now - job.created > self.config.token_lifetime and results:
                self.forget(job)

    def expired(self, job: Job) -> bool:
        """Tell whether the token of a job has expired."""
        lifetime = 3.0 if self.bug("token-3s") else self.config.token_lifetime
        return time.time() - job.created > lifetime
