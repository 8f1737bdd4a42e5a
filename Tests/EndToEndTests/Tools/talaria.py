"""A small Talaria, written from the contract alone, on a port of 127.0.0.1. It says `listening http://127.0.0.1:PORT`.

It keeps the contract and has no faults; what is wrong between it and a client is wrong in one of the two readings.
Beside the endpoints of the contract, GET /_counters answers what it has done so far as one JSON object.
It ends with SIGTERM.
"""

import argparse
import asyncio
import json
import logging
import math
import random
import re
import signal
import socket
import sys
import time
import traceback
import uuid
from collections import Counter
from datetime import datetime, timezone

import uvicorn
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SCANS = "/v3/jobs/scans"
PHOTOS_MAX = 5
PHOTO_BYTES_MAX = 10_000_000  # Five of them are the 50,000,000 of a batch.
# Read to its end before it is refused, so that the refusal arrives; nothing is read beyond this.
BODY_BYTES_MAX = 64_000_000
COMPLETED_BYTES_MAX = 131_072
BUFFER_SECONDS = 60
RESULTS_SECONDS = 7200
PROGRESS_MAX = 20  # So many books at most have a progress event of their own.

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
HOSTILE = '"><script>alert(1)</script>\x1b[31m\x00'
# What a client has to follow stays as it is even then.
STEERING = {"jobId", "authToken", "sseUrl", "statusUrl", "resultsUrl", "href", "type"}
LITE = ("title", "author", "isbn", "confidence", "enrichmentStatus", "coverUrl")
SHELF = [
    ("The Left Hand of Darkness", "Ursula K. Le Guin", "Ace", 1969, 304),
    ("Cien años de soledad", "Gabriel García Márquez", "Sudamericana", 1967, 471),
    ("雪国", "川端康成", "創元社", 1937, 187),
    ("Middlemarch", "George Eliot", "Blackwood", 1872, 904),
    ("Things Fall Apart", "Chinua Achebe", "Heinemann", 1958, 209),
    ("Преступление и наказание", "Фёдор Достоевский", "Русский вестник", 1866, 671),
    ("Beloved", "Toni Morrison", "Knopf", 1987, 324),
    ("The Name of the Rose", "Umberto Eco", "Harcourt", 1983, 502),
    ("Kindred", "Octavia E. Butler", "Doubleday", 1979, 264),
    ("A Wizard's \"True\" Name & Others", "O'Brien, M.", "Tor", 2004, 96),
]
STATUSES = {
    "INVALID_REQUEST": 400,
    "MISSING_PARAMETER": 400,
    "INVALID_QUERY": 400,
    "INVALID_FILE": 400,
    "INVALID_TOKEN": 401,
    "TOKEN_EXPIRED": 401,
    "UNAUTHORIZED": 401,
    "NOT_FOUND": 404,
    "CONFLICT": 409,
    "GONE": 410,
    "FILE_TOO_LARGE": 413,
    "RATE_LIMIT_EXCEEDED": 429,
    "CLIENT_DISCONNECTED": 499,
    "INTERNAL_ERROR": 500,
}


def timestamp(seconds=None):
    moment = datetime.fromtimestamp(time.time() if seconds is None else seconds, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def hostile(value, key=None):
    if isinstance(value, dict):
        return {key: hostile(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [hostile(item, key) for item in value]
    return HOSTILE + value if isinstance(value, str) and key not in STEERING else value


class Problem(Exception):
    """Any refusal: it becomes an RFC 9457 document."""

    def __init__(self, code, detail, status=None, retry_after=None, headers=None):
        self.code, self.detail, self.retry_after = code, detail, retry_after
        self.status = status or STATUSES[code]
        self.headers = headers or {}


class Photos:
    """What a multipart body holds, told as it is read; the bytes themselves are not kept."""

    def __init__(self, content_type):
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise Problem("INVALID_REQUEST", "The body must be multipart/form-data with a boundary")
        self.found = []  # [size, first bytes] of each
        self.part = self.disposition = self.header = None
        self.parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": self.begin,
                "on_header_field": self.header_field,
                "on_header_value": self.header_value,
                "on_header_end": self.header_end,
                "on_headers_finished": self.headers_finished,
                "on_part_data": self.data,
                "on_part_end": self.end,
            },
        )

    def begin(self):
        self.part, self.disposition, self.header = [0, b""], b"", [b"", b""]

    def header_field(self, data, start, end):
        self.header[0] += data[start:end]

    def header_value(self, data, start, end):
        self.header[1] += data[start:end]

    def header_end(self):
        if self.header[0].lower() == b"content-disposition":
            self.disposition = self.header[1]
        self.header = [b"", b""]

    def headers_finished(self):
        if parse_options_header(self.disposition)[1].get(b"name") != b"photos[]":
            self.part = None

    def data(self, data, start, end):
        if self.part:
            self.part[0] += end - start
            self.part[1] = (self.part[1] + data[start : min(end, start + 8)])[:8]

    def end(self):
        if self.part:
            self.found.append(self.part)

    def judge(self):
        """The number of photos, or the refusal."""
        if not self.found:
            raise Problem("INVALID_REQUEST", "No part is named photos[]")
        if len(self.found) > PHOTOS_MAX:
            raise Problem("BATCH_TOO_LARGE", f"{len(self.found)} photos, at most {PHOTOS_MAX}", 400)
        for size, head in self.found:
            if size > PHOTO_BYTES_MAX:
                raise Problem("FILE_TOO_LARGE", f"A photo of {size} bytes, at most {PHOTO_BYTES_MAX}")
            if not head.startswith((b"\xff\xd8", b"\x89PNG\r\n\x1a\n")):
                raise Problem("INVALID_FILE", "A photo is neither JPEG nor PNG")
        return len(self.found)


class Event:
    def __init__(self, name, data, terminal=False):
        self.name, self.data, self.terminal = name, data, terminal
        self.at = time.monotonic()


class Job:
    """A scan: its script is drawn when it is accepted, and told as time goes by."""

    def __init__(self, talaria, number, device, photos):
        options = talaria.options
        # All that follows is a function of the seed and of how many jobs there were before.
        draw = random.Random(f"{options.seed}/{number}")
        self.id = str(uuid.UUID(int=draw.getrandbits(128), version=4))
        self.token = draw.randbytes(32).hex()
        self.talaria, self.device, self.photos = talaria, device, photos
        self.path = f"{SCANS}/{self.id}"
        self.accepted = time.monotonic()
        self.seconds = draw.uniform(*options.job_time)
        self.books = [self.book(draw, number, index) for index in range(draw.randint(*map(int, options.books)))]
        self.log = []
        self.seen = {}  # event id -> how many events of the log a client with it has
        self.last_millis = 0
        self.status, self.progress, self.processed, self.total = "initialized", 0.0, 0, photos
        self.finished = None
        self.cleaned = False
        self.streams = set()
        self.task = asyncio.create_task(self.run())

    @staticmethod
    def book(draw, number, index):
        title, author, publisher, year, pages = draw.choice(SHELF)
        digits = [9, 7, 8] + [draw.randrange(10) for _ in range(9)]
        digits.append(-sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10)
        isbn = "".join(map(str, digits))
        status = draw.choices(["success", "review_needed", "not_found", "circuit_open"], [80, 8, 6, 6])[0]
        known = status == "success"
        return {
            "title": f"{title} {number}.{index + 1}",
            "author": author,
            "isbn": isbn if status in ("success", "circuit_open") or draw.random() < 0.5 else None,
            "confidence": round(draw.uniform(0.55, 0.99), 2),
            "enrichmentStatus": status,
            "coverUrl": f"https://covers.example.org/{isbn}.jpg" if known else None,
            "publisher": publisher if known else None,
            "publishedDate": f"{year}-01-01T00:00:00Z" if known else None,
            "pageCount": pages if known else None,
            "format": draw.choice(["hardcover", "paperback", "ebook", "audiobook"]) if known else None,
        }

    def tell(self, event, data, terminal=False):
        payload = {"type": event, "jobId": self.id, **data, "timestamp": timestamp()}
        self.log.append(Event(event, payload, terminal))
        for wake in self.streams:
            wake.set()

    def tell_progress(self, stage, progress, message, processed, total, item=None):
        self.status, self.progress, self.processed, self.total = "processing", round(progress, 4), processed, total
        self.tell(
            "progress",
            {
                "status": stage,
                "progress": self.progress,
                "processedCount": processed,
                "totalCount": total,
                "message": message,
                "currentItem": item,
            },
        )

    async def until(self, share):
        await asyncio.sleep(self.accepted + self.seconds * share - time.monotonic())

    async def run(self):
        photos, count = self.photos, len(self.books)
        self.tell_progress("analyzing_image", 0.1, f"Starting scan of {photos} photos...", 0, photos)
        for photo in range(1, photos + 1):
            await self.until(0.6 * photo / photos)
            share = 0.1 + 0.4 * photo / photos
            self.tell_progress("analyzing_image", share, f"Processing photo {photo} of {photos}...", photo, photos)
        await self.until(0.65)
        self.tell_progress("identifying_books", 0.5, f"Identified {count} books", 0, count)
        step = max(1, math.ceil(count / PROGRESS_MAX))
        for number, book in enumerate(self.books, 1):
            if number % step and number < count and book["enrichmentStatus"] != "circuit_open":
                continue
            await self.until(0.65 + 0.3 * number / count)
            if book["enrichmentStatus"] == "circuit_open":
                reason = {"reason": "isbndb_circuit_open", "fallbackSource": "raw"}
                self.tell("enrichment_degraded", {"isbn": book["isbn"], "title": book["title"], **reason})
            message = f"Enriching book {number} of {count}..."
            self.tell_progress("enriching_metadata", 0.5 + 0.45 * number / count, message, number, count, book["title"])
        await self.until(1)
        self.complete()

    def complete(self):
        approved = sum(book["enrichmentStatus"] == "success" for book in self.books)
        data = {
            "type": "complete",  # The event is `completed`; the contract's examples call its data so.
            "resultsUrl": self.path + "/results",
            "summary": {
                "totalDetected": len(self.books),
                "totalUnique": len(self.books),
                "approved": approved,
                "needsReview": len(self.books) - approved,
                "duration": {"totalMs": round(self.seconds * 1000)},
            },
        }
        inline = {**data, "books": self.books}
        size = len(self.talaria.encode({**inline, "jobId": self.id, "timestamp": timestamp()}))
        self.status, self.progress, self.finished = "completed", 1.0, time.monotonic()
        self.tell("completed", inline if size <= COMPLETED_BYTES_MAX else data, terminal=True)

    def cancel(self):
        self.task.cancel()
        self.status, self.finished = "canceled", time.monotonic()
        failure = {"code": "CANCELED", "message": "The job was canceled", "retryable": False}
        self.tell("error", failure, terminal=True)

    def clean(self):
        self.task.cancel()
        self.cleaned = True
        self.books, self.log = [], []
        self.seen.clear()
        for wake in self.streams:
            wake.set()

    def expired(self):
        return self.finished is not None and time.monotonic() > self.finished + RESULTS_SECONDS

    def new_id(self, name, seen):
        """By the moment of delivery, always greater than any before; whoever names it has seen so much of the log."""
        self.last_millis = max(time.time_ns() // 1_000_000, self.last_millis + 1)
        made = f"{self.last_millis}-{name}"
        self.seen[made] = seen
        return made


class Stream:
    """An open event stream, an ASGI application by itself."""

    def __init__(self, talaria, job, last_id):
        self.talaria, self.job, self.last_id = talaria, job, last_id
        self.wake = asyncio.Event()
        self.gone = False

    async def watch(self, receive):
        while (await receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        self.wake.set()

    def over(self):
        return self.gone or self.job.cleaned or self.talaria.stopping

    async def __call__(self, scope, receive, send):
        talaria, job = self.talaria, self.job
        headers = {
            "Content-Type": "text/event-stream; charset=utf-8",
            "Cache-Control": "no-cache, no-store, must-revalidate",
            "X-Accel-Buffering": "no",
            "X-Request-ID": str(uuid.uuid4()),
        }
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

        async def put(text):
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        async def say(name, data, seen):
            made = job.new_id(name, seen)
            talaria.counters["events_sent"] += 1
            talaria.counters["books_sent"] += len(data.get("books", []))
            await put(f"id: {made}\nevent: {name}\ndata: {talaria.encode(data).decode()}\n\n")

        watcher = asyncio.create_task(self.watch(receive))
        job.streams.add(self.wake)
        talaria.open_streams.add(self)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            known = f"reconnected from event {self.last_id}" if self.last_id in job.seen else "connection established"
            await put(f": {known}\nretry: 5000\n\n")
            # An id that nobody gave, or none at all: whatever is in the buffer.
            seen = job.seen.get(self.last_id, 0)
            oldest = time.monotonic() - BUFFER_SECONDS
            while seen < len(job.log) and job.log[seen].at < oldest and not job.log[seen].terminal:
                seen += 1
            ping_at = time.monotonic() + talaria.options.ping
            while not self.over():
                self.wake.clear()
                while seen < len(job.log) and not self.over():
                    event = job.log[seen]
                    seen += 1
                    await say(event.name, event.data, seen)
                if job.finished is not None or self.over():
                    break
                try:
                    await asyncio.wait_for(self.wake.wait(), max(0, ping_at - time.monotonic()))
                except asyncio.TimeoutError:
                    await say("ping", {"type": "ping", "timestamp": timestamp()}, seen)
                    ping_at = time.monotonic() + talaria.options.ping
            await send({"type": "http.response.body", "body": b""})
        finally:
            watcher.cancel()
            job.streams.discard(self.wake)
            talaria.open_streams.discard(self)


class Talaria:
    def __init__(self, options):
        self.options = options
        self.jobs = {}
        self.windows = {}  # device -> [when its window ends, uploads in it]
        self.made = 0
        self.stopping = False
        self.open_streams = set()
        names = "uploads streams stream_resumes results cleanups books_made books_sent events_sent unauthorized"
        self.counters = dict.fromkeys(names.split(), 0)
        self.answers = Counter()

    def application(self):
        job = SCANS + "/{job}"
        routes = [
            Route(SCANS, self.upload, methods=["POST"]),
            Route(job, self.state, methods=["GET"]),
            Route(job, self.cancel, methods=["DELETE"]),
            Route(job + "/stream", self.stream, methods=["GET"]),
            Route(job + "/results", self.results, methods=["GET"]),
            Route(job + "/cleanup", self.cleanup, methods=["DELETE"]),
            Route("/_counters", self.count, methods=["GET"]),
        ]
        handlers = {Problem: self.refuse, HTTPException: self.refuse_http, Exception: self.break_down}
        inner = Starlette(routes=routes, exception_handlers=handlers)

        async def outer(scope, receive, send):
            async def count_and_send(message):
                if message["type"] == "http.response.start" and scope["path"] != "/_counters":
                    self.answers[f"{scope['method']} {message['status']}"] += 1
                    self.counters["unauthorized"] += message["status"] == 401
                await send(message)

            await inner(scope, receive, count_and_send)

        return outer

    def stop(self):
        self.stopping = True
        for stream in self.open_streams:
            stream.wake.set()

    # Bodies

    def encode(self, body):
        if self.options.hostile:
            body = hostile(body)
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    def answer(self, body, status=200, kind="application/json", headers=None):
        request_id = str(uuid.uuid4())
        if "metadata" in body:
            body = {**body, "metadata": {"timestamp": timestamp(), "requestId": request_id}}
        headers = {"X-Request-ID": request_id, "Content-Type": kind, **(headers or {})}
        return Response(self.encode(body), status, headers)

    async def refuse(self, request, problem):
        name = problem.code.replace("_", " ").title()
        body = {
            "success": False,
            "type": "https://api.oooefam.net/errors/" + problem.code.lower().replace("_", "-"),
            "title": name,
            "status": problem.status,
            "detail": problem.detail,
            "instance": request.url.path,
            "code": problem.code,
            "retryable": problem.code == "RATE_LIMIT_EXCEEDED",
            "metadata": {},
        }
        if problem.retry_after is not None:
            body["retryAfterMs"] = problem.retry_after
        return self.answer(body, problem.status, "application/problem+json", problem.headers)

    async def refuse_http(self, request, error):
        code = "NOT_FOUND" if error.status_code == 404 else "INVALID_REQUEST"
        return await self.refuse(request, Problem(code, error.detail, error.status_code, headers=error.headers))

    async def break_down(self, request, error):
        traceback.print_exception(error)
        return await self.refuse(request, Problem("INTERNAL_ERROR", "Something is wrong in the backend"))

    # Who asks, and for what

    @staticmethod
    def device(request, code="MISSING_PARAMETER"):
        device = request.headers.get("X-Device-ID", "")
        if not UUID4.fullmatch(device):
            raise Problem(code, "X-Device-ID must be a UUID of version 4")
        return device.lower()

    def job(self, request, cleaned_too=False):
        """The job of the path, for who has its token."""
        job = self.jobs.get(request.path_params["job"])
        if job is None:
            raise Problem("NOT_FOUND", "No such job")
        if request.headers.get("Authorization") != "Bearer " + job.token:
            raise Problem("INVALID_TOKEN", "The token is missing or not that of the job")
        if job.cleaned and not cleaned_too:
            raise Problem("GONE", "The job was cleaned up")
        if time.monotonic() > job.accepted + self.options.token_life:
            raise Problem("TOKEN_EXPIRED", "The token has expired")
        return job

    def take_turn(self, device):
        """Counts an upload; the headers that say how many are left."""
        if self.options.rate_limit is None:
            return {}
        quota, seconds = self.options.rate_limit
        now = time.monotonic()
        window = self.windows.get(device)
        if window is None or window[0] <= now:
            window = self.windows[device] = [now + seconds, 0]
        left = window[0] - now
        headers = {
            "X-RateLimit-Limit": str(int(quota)),
            "X-RateLimit-Remaining": str(max(0, int(quota) - window[1] - 1)),
            "X-RateLimit-Reset": str(math.ceil(time.time() + left)),
        }
        if window[1] >= quota:
            headers["Retry-After"] = str(math.ceil(left))
            millis = math.ceil(left * 1000)
            raise Problem("RATE_LIMIT_EXCEEDED", "Too many requests from device", retry_after=millis, headers=headers)
        window[1] += 1
        return headers

    # Endpoints

    async def upload(self, request):
        photos = problem = None
        try:
            photos = Photos(request.headers.get("Content-Type", ""))
        except Problem as found:
            problem = found
        size = 0
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size > BODY_BYTES_MAX:
                    raise Problem("BATCH_TOO_LARGE", "The body is too large", 413, headers={"Connection": "close"})
                if problem is None:
                    try:
                        photos.parser.write(chunk)
                    except FormParserError as error:
                        problem = Problem("INVALID_REQUEST", f"The body is not multipart: {error}")
        except ClientDisconnect:
            raise Problem("CLIENT_DISCONNECTED", "The body did not come to its end")

        device = self.device(request)
        headers = self.take_turn(device)
        if problem:
            raise problem
        job = Job(self, self.made, device, photos.judge())
        self.made += 1
        self.forget()
        self.jobs[job.id] = job
        self.counters["uploads"] += 1
        self.counters["books_made"] += len(job.books)

        def link(rel, path, method):
            return {"href": path, "rel": rel, "method": method}

        return self.answer(
            {
                "success": True,
                "data": {
                    "jobId": job.id,
                    "authToken": job.token,
                    "sseUrl": job.path + "/stream",
                    "statusUrl": job.path,
                },
                "_links": {
                    "self": link("self", job.path, "GET"),
                    "stream": link("stream", job.path + "/stream", "GET"),
                    "cancel": link("cancel", job.path, "DELETE"),
                },
                "metadata": {},
            },
            202,
            headers=headers,
        )

    def forget(self):
        """Drops what is so old that nothing can be asked of it: jobs are in the order of their acceptance."""
        while self.jobs:
            oldest = next(iter(self.jobs.values()))
            if time.monotonic() < oldest.accepted + 2 * RESULTS_SECONDS:
                break
            oldest.clean()
            del self.jobs[oldest.id]

    async def stream(self, request):
        self.device(request, "UNAUTHORIZED")
        job = self.job(request)
        if job.expired():
            raise Problem("GONE", "The job has expired")
        last_id = request.headers.get("Last-Event-ID")
        self.counters["streams"] += 1
        self.counters["stream_resumes"] += last_id is not None
        return Stream(self, job, last_id)

    async def state(self, request):
        self.device(request)
        job = self.job(request)
        data = {
            "jobId": job.id,
            "status": job.status,
            "progress": job.progress,
            "processedCount": job.processed,
            "totalCount": job.total,
        }
        return self.answer({"success": True, "data": data})

    async def results(self, request):
        self.device(request)
        job = self.job(request)
        detail = request.query_params.get("format", "full")
        if detail not in ("full", "lite"):
            raise Problem("INVALID_QUERY", "format is either full or lite")
        if job.status != "completed" or job.expired():
            raise Problem("NOT_FOUND", "There are no results, not yet or no more")
        books = job.books if detail == "full" else [{key: book[key] for key in LITE} for book in job.books]
        self.counters["results"] += 1
        self.counters["books_sent"] += len(books)
        return self.answer({"success": True, "data": {"jobId": job.id, "status": job.status, "results": books}})

    async def cleanup(self, request):
        self.device(request)
        self.job(request, cleaned_too=True).clean()
        self.counters["cleanups"] += 1
        return Response(status_code=204, headers={"X-Request-ID": str(uuid.uuid4())})

    async def cancel(self, request):
        self.device(request)
        job = self.job(request)
        if job.finished is not None:
            raise Problem("CONFLICT", f"The job is {job.status} already")
        job.cancel()
        return self.answer({"success": True, "data": {"jobId": job.id, "status": job.status}})

    async def count(self, _: Request):
        cleaned = sum(job.cleaned for job in self.jobs.values())
        return JSONResponse({**self.counters, "jobs_not_cleaned": len(self.jobs) - cleaned, "answers": self.answers})


class Server(uvicorn.Server):
    def __init__(self, talaria, config, address):
        super().__init__(config)
        self.talaria, self.address = talaria, address

    async def startup(self, sockets=None):
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)
        print(f"listening http://127.0.0.1:{self.address.getsockname()[1]}", flush=True)

    def handle_exit(self, sig, frame):
        super().handle_exit(sig, frame)
        self.loop.call_soon_threadsafe(self.talaria.stop)


def span(text):
    ends = [float(end) for end in text.split("..")]
    if len(ends) > 2 or not 0 <= ends[0] <= ends[-1] < math.inf:
        raise ValueError(text)
    return ends[0], ends[-1]


def positive(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


def quota(text):
    if text == "off":
        return None
    count, seconds = text.split("/")
    return int(count), positive(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--port", type=int, default=0, help="0 picks a free one")
    option("--job-time", type=span, default="8..16", metavar="MIN..MAX", help="seconds from upload to completed")
    option("--ping", type=positive, default=30, metavar="SECONDS", help="between two pings of a stream")
    option("--books", type=span, default="1..6", metavar="MIN..MAX", help="books a job finds")
    option("--seed", default=None, help="the same jobs again, in the order of the uploads")
    option("--rate-limit", type=quota, default="10/1200", metavar="off|N/SECONDS", help="uploads a device")
    option("--token-life", type=positive, default=7200, metavar="SECONDS", help="then TOKEN_EXPIRED")
    option("--hostile", action="store_true", help=f"say {HOSTILE!r} before each text that a client need not follow")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(64)

    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))  # The server takes them over, and gives them back at its end.
    # A parent may have blocked them for us.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT])
    address = socket.socket()
    address.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    address.bind(("127.0.0.1", options.port))
    talaria = Talaria(options)
    config = uvicorn.Config(
        talaria.application(),
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=0.3,
        ws="none",
    )
    asyncio.run(Server(talaria, config, address).serve(sockets=[address]))


main()
