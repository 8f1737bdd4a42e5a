#!/usr/bin/env python3
"""A healthy Talaria for runs with --target, written from Docs/contract.md and from nothing else of this project.

It shares no code with the simulated backend, and differs from it where the contract leaves a choice: a stream without
Last-Event-ID starts with the first event of its job, photos of the same bytes show the same books in every run, and some shelves
have two copies of a book. It serves scans and look-ups by text of v3 and, of v2, shelves, batches, imports and look-ups (sections 1
to 3). The forms of results of v2, which section 3 leaves open, are those of Docs/talaria-openapi.yaml. It keeps everything in memory,
for two hours at most, and injects no fault.

usage: talaria.py [--port N] [--job-time A..B] [--ping SECONDS] [--rate-limit N] [--workers N] [--other-forms]
                  [--enrichment nested|flat|off]

With --workers it becomes slower with the load: only so many jobs are worked on at a time, and the others wait.

With --other-forms it has the other forms that the contract allows (section 7, C1, C3 and C9, and sections 1.1, 2.2 and 2.3): absolute
links, a terminal event `complete`, pings with ids, lines that end with CRLF, books that are only in the results of about half of the
jobs, and 404 to a second DELETE of a job.

It prints `listening http://127.0.0.1:PORT` and ends with SIGTERM.
"""

import argparse
import collections
import csv
import datetime
import hashlib
import heapq
import http.server
import io
import json
import os
import random
import re
import secrets
import signal
import threading
import time
import urllib.parse
import uuid

LIFETIME = 7200  # of a token and of results: 2 h (section 2.5)
QUOTA_WINDOW = 1200  # of --rate-limit: 20 min (section 1.8)
STATUS_INTERVAL = 2  # between two requests for a status (section 1.4)
EVENT_BUFFER = 60  # how long an event can be sent again (section 2.2)
COMPLETED_BYTES_MAX = 131_072  # beyond that, the books are left out (section 2.3)
PHOTOS_MAX, PHOTO_BYTES_MAX, UPLOAD_BYTES_MAX = 5, 10_000_000, 50_000_000
CSV_BYTES_MAX, CSV_ROWS_MAX, BATCH_BOOKS_MAX = 8 << 20, 5000, 100
TERMINAL = ("completed", "complete", "failed", "error", "canceled")
PROBLEM_TYPES = "https://api.oooefam.net/errors/"
RETRYABLE = ("RATE_LIMIT_EXCEEDED", "CIRCUIT_OPEN", "PROVIDER_ERROR", "PROVIDER_TIMEOUT", "CACHE_ERROR", "NETWORK_ERROR", "TIMEOUT")


# Books


def isbn(digits):
    """The ISBN-13 that begins with these twelve digits."""
    total = sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(digits))
    return digits + str(-total % 10)


def as_isbn(text):
    """The thirteen digits of an ISBN of ten or thirteen; None if it is none."""
    digits = text.replace("-", "").replace(" ", "")
    if re.fullmatch(r"[0-9]{9}[0-9Xx]", digits):
        total = sum((10 - place) * (10 if digit in "Xx" else int(digit)) for place, digit in enumerate(digits))
        return isbn("978" + digits[:9]) if total % 11 == 0 else None
    return digits if re.fullmatch(r"97[89][0-9]{10}", digits) and isbn(digits[:12]) == digits else None


WORKS = """Middlemarch|George Eliot
Emma|Jane Austen
Persuasion|Jane Austen
Walden|Henry David Thoreau
Moby-Dick; or, The Whale|Herman Melville
Dubliners|James Joyce
Ulysses|James Joyce
Orlando|Virginia Woolf
To the Lighthouse|Virginia Woolf
My Ántonia|Willa Cather
O Pioneers!|Willa Cather
Passing|Nella Larsen
The Gilded Age|Mark Twain & Charles Dudley Warner
The Souls of Black Folk|W. E. B. Du Bois
Die Verwandlung|Franz Kafka
Der Process|Franz Kafka
Buddenbrooks|Thomas Mann
Effi Briest|Theodor Fontane
Les Misérables|Victor Hugo
Madame Bovary|Gustave Flaubert
Nana|Émile Zola
Niels Lyhne|Jens Peter Jacobsen
Gösta Berlings saga|Selma Lagerlöf
Война и мир|Лев Толстой
Идиот|Фёдор Достоевский
吾輩は猫である|夏目 漱石
Botchan|Natsume Sōseki
Dom Casmurro|Machado de Assis
Fortunata y Jacinta|Benito Pérez Galdós
I promessi sposi|Alessandro Manzoni
Anna Christie|Eugene O'Neill
The "Canary" Murder Case|S. S. Van Dine"""
WORKS = [tuple(line.split("|")) for line in WORKS.splitlines()]


def recognized(number):
    """The book of the catalogue with this number, as a photo shows it. Every fifth has no ISBN."""
    title, author = WORKS[number]
    known = number % 5 != 3
    return {
        "title": title,
        "author": author,
        "isbn": isbn("978%09d" % (190_000_000 + number)) if known else None,
        "confidence": round(0.42 + 0.019 * (number * 7 % 30), 2),
        "enrichmentStatus": "success" if known else ("not_found", "review_needed")[number % 2],
        "coverUrl": f"https://covers.example/{number}.jpg" if known else None,
    }


CATALOGUE = [recognized(number) for number in range(len(WORKS))]


def on_photo(photo):
    """The books of a photo, by its bytes: three to eight, and on every other shelf a second copy of the first."""
    digest = hashlib.sha256(photo).digest()
    numbers = list(dict.fromkeys(byte % len(CATALOGUE) for byte in digest[2:]))[: 3 + digest[0] % 6]
    return [CATALOGUE[number] for number in numbers + numbers[: digest[1] % 2]]


def provider(code):
    """The book with an ISBN, the same for everyone. Of twenty, the provider does not know one."""
    number = int(code)
    if number // 10 % 20 == 7:
        return None
    title, author = WORKS[number // 10 % len(WORKS)]
    return {"title": title, "author": author, "isbn": code, "coverUrl": None}


def unique(books):
    return {(book["title"], book["author"], book["isbn"]) for book in books}


# Jobs

Event = collections.namedtuple("Event", "at id name data status progress processed total")


def iso(moment=None):
    """A wall time as the contract writes it: ISO 8601 with milliseconds, in UTC."""
    when = datetime.datetime.fromtimestamp(time.time() if moment is None else moment, datetime.timezone.utc)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Job:
    """A job, whose course is decided when it is accepted: a table of events with their times. Nothing runs in between."""

    def __init__(self, device, prefix, pipeline, seconds):
        self.id = (prefix and prefix + "_") + str(uuid.uuid4())
        self.token = secrets.token_hex(32)
        self.device, self.pipeline, self.seconds = device, pipeline, seconds
        self.born = time.time()
        self.course = []
        self.books = []
        self.rows = None
        self.total = 0
        self.is_gone = False
        self.asked = 0
        self.changed = threading.Condition()

    def add(self, share, name, suffix, status, progress, processed, total, data):
        """An event after this share of the job's time."""
        at = self.born + share * self.seconds
        stamp = max(int(at * 1000), self.course[-1].stamp + 1 if self.course else 0)
        self.course.append(Stamped(stamp, Event(at, f"{stamp}-{suffix}", name, data, status, progress, processed, total)))

    def emitted(self):
        now = time.time()
        return [stamped.event for stamped in self.course if stamped.event.at <= now]

    def state(self):
        """Status, progress, processed and total."""
        events = self.emitted()
        if not events:
            return "initialized", 0, 0, self.total
        last = events[-1]
        return last.status, last.progress, last.processed, last.total

    @property
    def status(self):
        return self.state()[0]

    @property
    def is_over(self):
        return self.status in ("completed", "failed", "canceled")

    def cancel(self, name, data):
        """Ends the job now, unless it is over. The rows that were stored until now stay stored."""
        with self.changed:
            if self.is_over:
                return False
            now = time.time()
            _, progress, processed, total = self.state()
            self.course = [stamped for stamped in self.course if stamped.event.at <= now]
            self.seconds = now - self.born
            self.add(1, name, "final", "canceled", progress, processed, total, data(progress, processed, total))
            self.changed.notify_all()
            return True

    def remove(self):
        with self.changed:
            self.is_gone = True
            self.changed.notify_all()

    def since(self, last):
        """What a stream has to send that has seen the event with this id, or none."""
        events = self.emitted()
        kept = [event for event in events if event.at > time.time() - EVENT_BUFFER] or events[-1:]
        ping = re.fullmatch(r"([0-9]+)-ping", last or "")
        seen = [place for place, event in enumerate(events) if event.id == last]
        if ping:
            after = [event for event in kept if int(event.id.split("-")[0]) >= int(ping[1])]
        elif seen:
            after = [event for event in kept if event in events[seen[0] + 1 :]]
        else:
            return kept
        return after or (events[-1:] if self.is_over else [])


Stamped = collections.namedtuple("Stamped", "stamp event")


def scan(device, photos, seconds, base, other_forms):
    """A scan of v3 (section 2.1). `base` comes before the paths of its links."""
    job = Job(device, "", "ai_scan", seconds)
    job.books = [book for photo in photos for book in on_photo(photo)]
    job.total = len(photos)

    def progress(share, stage, done, processed, total, message, **more):
        data = {"type": "progress", "jobId": job.id, "status": stage, "progress": done, "processedCount": processed,
                "totalCount": total, "message": message, "timestamp": iso(job.born + share * seconds), **more}
        job.add(share, "progress", "progress", "processing", done, processed, total, data)

    progress(0, "analyzing_image", 0.1, 0, len(photos), f"Starting scan of {len(photos)} photos...")
    for number in range(len(photos)):
        share = 0.4 * (number + 1) / len(photos)
        progress(share, "identifying_books", round(0.1 + share, 3), number + 1, len(photos), f"Processing photo {number + 1} of {len(photos)}...")
    count = len(job.books)
    progress(0.45, "enriching_metadata", 0.5, 0, count, f"Identified {count} books")
    for number, book in enumerate(job.books):
        done = round(0.5 + 0.45 * (number + 1) / count, 3)
        message = f"Enriched book {number + 1} of {count}"
        progress(0.45 + 0.5 * (number + 1) / count, "enriching_metadata", done, number + 1, count, message, currentItem=book["title"])
    approved = sum(book["enrichmentStatus"] == "success" for book in job.books)
    name = "complete" if other_forms else "completed"
    data = {
        "type": name,
        "jobId": job.id,
        "resultsUrl": f"{base}/v3/jobs/scans/{job.id}/results",
        "summary": {"totalDetected": count, "totalUnique": len(unique(job.books)), "approved": approved, "needsReview": count - approved},
        "books": job.books,
    }
    if other_forms and int(job.id[0], 16) % 2 or len(json.dumps(data)) > COMPLETED_BYTES_MAX:
        del data["books"]
    job.add(1, name, name, "completed", 1, count, count, data)
    return job


def job_of_v2(device, prefix, pipeline, seconds, total, steps, summary):
    """A job of v2 (section 3.3): `steps` events on the way through `total` photos, books or rows."""
    job = Job(device, prefix, pipeline, seconds)
    job.total = total

    def event(share, name, suffix, status):
        processed = total if status == "completed" else int(share * total)
        data = {"jobId": job.id, "status": status, "progress": round(share, 3), "processedCount": processed, "totalCount": total}
        if status == "completed":
            data |= {"type": "job_complete", "pipeline": pipeline, "completedAt": iso(job.born + seconds), "expiresAt": iso(job.born + seconds + LIFETIME)}
            data["summary"] = summary | {"duration": int(seconds * 1000), "resourceId": f"job-results:{job.id}"}
        job.add(share, name, suffix, status, round(share, 3), processed, total, data)

    event(0, "initialized", "initial", "initialized")
    for step in range(1, steps + 1):
        event(step / (steps + 1), "processing", "progress", "processing")
    event(1, "completed", "final", "completed")
    return job


def failure(job_id, code, message, status="failed"):
    """The data of an event `failed`, by how far the job is."""
    return lambda progress, processed, total: {
        "jobId": job_id, "status": status, "progress": progress, "processedCount": processed, "totalCount": total,
        "error": {"code": code, "message": message, "retryable": False}}


def shelf(device, photos, seconds):
    books = [book for photo in photos for book in on_photo(photo)]
    enriched = sum(book["enrichmentStatus"] == "success" for book in books)
    summary = {"totalProcessed": len(photos), "successCount": len(photos), "failureCount": 0, "photosProcessed": len(photos),
               "booksDetected": len(books), "booksUnique": len(unique(books)), "booksEnriched": enriched}
    job = job_of_v2(device, "scan", "ai_scan", seconds, len(photos), max(2, len(photos)), summary)
    job.books = books
    return job


def batch(device, asked, seconds):
    """A batch of books, each with a title or an ISBN. What has a title is known; an ISBN alone is looked up."""
    found = []
    for book in asked:
        code = as_isbn(book.get("isbn") or "")
        known = provider(code) if code and not book.get("title") else None
        if book.get("title"):
            known = {"title": book["title"], "author": book.get("author") or "Unknown", "isbn": code, "coverUrl": None}
        if known:
            found.append(known | {"confidence": 0.97, "enrichmentStatus": "success"})
    summary = {"totalProcessed": len(asked), "successCount": len(found), "failureCount": len(asked) - len(found)}
    job = job_of_v2(device, "enrichment", "batch_enrichment", seconds, len(asked), max(2, len(asked) // 5), summary)
    job.books = found
    return job


class Rows:
    """What becomes of the rows of a library file."""

    def __init__(self, text, library):
        records = [record for record in csv.reader(io.StringIO(text, newline=""), delimiter=self.separator(text)) if record]
        head = [name.strip().lower() for name in records[0]]
        title, author, number = (head.index(name) for name in ("title", "author", "isbn"))
        if len(records) > CSV_ROWS_MAX + 1:
            raise ValueError("more than %d rows" % CSV_ROWS_MAX)
        self.created, self.updated, self.skipped, self.books, self.errors, seen = 0, 0, 0, [], [], set()
        for row, record in enumerate(records[1:], 1):
            record = record + [""] * (len(head) - len(record))
            stated, code = record[number].strip(), as_isbn(record[number])
            key = code or (record[title], record[author])
            if not record[title].strip() or (stated and not code):
                self.errors.append({"row": row, "isbn": stated, "error": "the title is missing" if not record[title].strip() else "not an ISBN"})
            elif key in seen:
                self.skipped += 1
            else:
                self.created, self.updated = (self.created, self.updated + 1) if key in library else (self.created + 1, self.updated)
                self.books.append({"title": record[title], "author": record[author], "isbn": code})
            seen.add(key)
        self.count = len(records) - 1
        self.keys = seen

    @staticmethod
    def separator(text):
        first = text.split("\n")[0]
        return max(",;\t", key=first.count)

    def results(self, job):
        return {
            "jobId": job.id, "booksCreated": self.created, "booksUpdated": self.updated, "duplicatesSkipped": self.skipped,
            "enrichmentSucceeded": self.created + self.updated, "enrichmentFailed": len(self.errors), "totalCount": self.count,
            "errors": self.errors, "books": self.books}


def library_import(device, file, library, seconds):
    """An import of a library file. Its rows are stored when it is completed."""
    try:
        rows = Rows(file.decode("utf-8-sig"), library)
    except (ValueError, IndexError, csv.Error) as error:
        job = Job(device, "import", "csv_import", seconds)
        data = failure(job.id, "E_CSV_PARSE_FAILED", f"The file cannot be read: {error}.")
        job.add(0, "failed", "final", "failed", 0, 0, 0, data(0, 0, 0))
        return job
    failed = len(rows.errors)
    summary = {"totalProcessed": rows.count, "successCount": rows.count - failed, "failureCount": failed}
    job = job_of_v2(device, "import", "csv_import", seconds, rows.count, 4, summary)
    job.rows = rows
    return job


# Requests


class Refusal(Exception):
    def __init__(self, status, code, detail, wait=None, headers=None):
        super().__init__(detail)
        self.status, self.code, self.detail, self.wait, self.headers = status, code, detail, wait, headers or {}


class Talaria:
    """What all connections share."""

    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.jobs = {}
        self.uploads = collections.defaultdict(collections.deque)
        self.imports = collections.defaultdict(list)
        self.keys = {}
        self.random = random.Random(1)
        self.free = []  # When each worker is free.

    def seconds(self):
        """How long a job takes from now: with --workers, it waits until one of them is free."""
        with self.lock:
            work = self.random.uniform(*self.options.job_time)
            if self.options.workers is None:
                return work
            now = time.time()
            free = heapq.heappop(self.free) if len(self.free) == self.options.workers else now
            heapq.heappush(self.free, max(now, free) + work)
            return max(now, free) + work - now

    def keep(self, job):
        with self.lock:
            for old in [old for old in self.jobs.values() if old.born < time.time() - 2 * LIFETIME]:
                del self.jobs[old.id]
            self.jobs[job.id] = job
        return job

    def library(self, device):
        """The books that completed imports of the device have stored."""
        with self.lock:
            return set().union(*(job.rows.keys for job in self.imports[device] if job.status == "completed"))

    def admit(self, device):
        """Counts an upload of the device; refuses it beyond --rate-limit."""
        limit = self.options.rate_limit
        if limit is None:
            return
        with self.lock:
            now, uploads = time.time(), self.uploads[device]
            while uploads and uploads[0] <= now - QUOTA_WINDOW:
                uploads.popleft()
            if len(uploads) >= limit:
                raise Refusal(429, "RATE_LIMIT_EXCEEDED", "Too many requests from device", wait=uploads[0] + QUOTA_WINDOW - now)
            uploads.append(now)

    def is_repeated(self, device, key):
        with self.lock:
            known = self.keys.get((device, key), 0) > time.time() - 86_400
            self.keys[(device, key)] = time.time()
            return known and key is not None


V3, V2 = "/v3/jobs/scans", "/api/v2/(scans|enrichments|imports)"
PREFIXES = {"scans": "scan_", "enrichments": "enrichment_", "imports": "import_"}
ROUTES = [
    (V3, {"POST": "upload"}),
    (f"{V3}/([^/]+)", {"GET": "status", "DELETE": "cancel"}),
    (f"{V3}/([^/]+)/stream", {"GET": "stream"}),
    (f"{V3}/([^/]+)/results", {"GET": "results"}),
    (f"{V3}/([^/]+)/cleanup", {"DELETE": "cleanup"}),
    ("/api/batch-scan", {"POST": "upload_shelf"}),
    ("/api/batch-enrich|/v1/enrichment/batch", {"POST": "upload_batch"}),
    ("/api/v2/imports", {"POST": "upload_library"}),
    ("/api/v2/books/enrich", {"POST": "look_up"}),
    ("/v3/jobs/enrich", {"POST": "look_up_text"}),
    (f"{V2}/([^/]+)", {"GET": "status_of_v2"}),
    (f"{V2}/([^/]+)/stream", {"GET": "stream_of_v2"}),
    (f"{V2}/([^/]+)/results", {"GET": "results_of_v2"}),
    ("/v1/jobs/([^/]+)", {"DELETE": "cancel_of_v2"}),
    ("/v1/jobs/([^/]+)/results", {"GET": "results_of_import"}),
]
ROUTES = [(re.compile(pattern), methods) for pattern, methods in ROUTES]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120
    talaria = None

    def log_message(self, *_):
        pass

    def answer(self):
        try:
            self.request_id = "req-" + secrets.token_hex(6)
            address = urllib.parse.urlsplit(self.path)
            self.route, self.query = address.path, dict(urllib.parse.parse_qsl(address.query))
            try:
                self.body = self.read_body()
                self.operation()(*self.arguments)
            except Refusal as refusal:
                self.refuse(refusal)
        except (OSError, EOFError):
            self.close_connection = True  # The client has gone.

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = do_HEAD = answer

    def operation(self):
        for pattern, methods in ROUTES:
            match = pattern.fullmatch(self.route)
            if match:
                if self.command not in methods:
                    raise Refusal(405, "METHOD_NOT_ALLOWED", "The method is not allowed.", headers={"Allow": ", ".join(methods)})
                self.arguments = match.groups()
                if self.is_v3:
                    self.check_device()
                return getattr(self, methods[self.command])
        raise Refusal(404, "NOT_FOUND", "There is no such path.")

    @property
    def is_v3(self):
        return self.route.startswith("/v3/")

    @property
    def device(self):
        return (self.headers.get("X-Device-ID") or "").lower()

    def check_device(self):
        if re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", self.device):
            return
        if self.route.endswith("/stream"):
            raise Refusal(401, "UNAUTHORIZED", "X-Device-ID must be a version 4 UUID.")
        raise Refusal(400, "INVALID_REQUEST" if self.device else "MISSING_PARAMETER", "X-Device-ID must be a version 4 UUID.")

    # Bodies

    def read_body(self):
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            return b"".join(self.read_chunks())
        return self.read_exactly(int(self.headers.get("Content-Length") or 0))

    def read_chunks(self):
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.read_exactly(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def read_exactly(self, count):
        if count > 2 * UPLOAD_BYTES_MAX:
            self.close_connection = True
            raise Refusal(413, "FILE_TOO_LARGE", "The body is too large.")
        data = self.rfile.read(count)
        if len(data) < count:
            raise EOFError
        return data

    def parts(self, name):
        """The contents of the parts with this name."""
        boundary = re.search(r'boundary="?([^";]+)', self.headers.get("Content-Type") or "")
        if not (self.headers.get("Content-Type") or "").startswith("multipart/form-data") or not boundary:
            raise Refusal(400, "INVALID_REQUEST", "The content type must be multipart/form-data.")
        found = []
        for part in (b"\r\n" + self.body).split(b"\r\n--" + boundary[1].encode())[1:]:
            head, _, content = part.partition(b"\r\n\r\n")
            stated = re.search(rb'[; ]name="([^"]*)"', head)
            if stated and stated[1].decode(errors="replace") == name:
                found.append(content)
        return found

    def photos(self, name):
        photos = self.parts(name)
        if not photos:
            raise Refusal(400, "INVALID_REQUEST", f"There is no part {name}.")
        if len(photos) > PHOTOS_MAX:
            raise Refusal(400, "BATCH_TOO_LARGE" if self.is_v3 else "INVALID_REQUEST", f"More than {PHOTOS_MAX} photos.")
        if max(map(len, photos)) > PHOTO_BYTES_MAX or sum(map(len, photos)) > UPLOAD_BYTES_MAX:
            raise Refusal(413, "FILE_TOO_LARGE", "A photo is too large.")
        if not all(photo.startswith((b"\xff\xd8", b"\x89PNG\r\n\x1a\n")) for photo in photos):
            raise Refusal(400, "INVALID_FILE" if self.is_v3 else "INVALID_REQUEST", "A photo is neither JPEG nor PNG.")
        return photos

    def json(self):
        try:
            body = json.loads(self.body)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise Refusal(400, "INVALID_REQUEST", "The body is not a JSON object.")
        return body

    # Scans of v3

    def upload(self):
        self.talaria.admit(self.device)
        photos = self.photos("photos[]")
        job = self.talaria.keep(self.scan(photos))
        path = f"{self.base}{V3}/{job.id}"
        self.reply(202, {
            "data": {"jobId": job.id, "authToken": job.token, "sseUrl": path + "/stream", "statusUrl": path},
            "_links": {
                "self": {"href": path, "rel": "self", "method": "GET"},
                "stream": {"href": path + "/stream", "rel": "stream", "method": "GET"},
                "cancel": {"href": path, "rel": "cancel", "method": "DELETE"}}})

    def scan(self, photos):
        return scan(self.device, photos, self.talaria.seconds(), self.base, self.talaria.options.other_forms)

    @property
    def base(self):
        """What comes before the paths of links."""
        return "http://" + (self.headers.get("Host") or "127.0.0.1") if self.talaria.options.other_forms else ""

    def job(self, job_id, even_gone=False):
        """The job of a request of v3, in the order of checks of section 1.1."""
        token = self.bearer()
        if token is None:
            raise Refusal(401, "INVALID_TOKEN", "There is no bearer token.")
        job = self.talaria.jobs.get(job_id)
        if job is None or not self.is_v3_job(job):
            raise Refusal(404, "NOT_FOUND", "There is no such job.")
        if job.is_gone:
            if even_gone:
                return job
            raise Refusal(410, "GONE", "The job was cleaned up.")
        if token != job.token:
            raise Refusal(401, "INVALID_TOKEN", "The token is not that of the job.")
        if time.time() > job.born + LIFETIME:
            raise Refusal(401, "TOKEN_EXPIRED", "The token has expired.")
        return job

    @staticmethod
    def is_v3_job(job):
        return not job.id.startswith(tuple(PREFIXES.values()))

    def bearer(self):
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" and token else None

    def stream(self, job_id):
        self.follow(self.job(job_id), self.ping, {})

    def ping(self):
        fields = {"event": "ping", "data": json.dumps({"type": "ping", "timestamp": iso()})}
        return {"id": f"{int(time.time() * 1000)}-ping", **fields} if self.talaria.options.other_forms else fields

    def results(self, job_id):
        job = self.job(job_id)
        if self.query.get("format", "full") not in ("lite", "full"):
            raise Refusal(400, "INVALID_REQUEST", "format is lite or full.")
        if job.status != "completed":
            raise Refusal(404, "NOT_FOUND", "There are no results.")
        self.reply(200, {"data": {"jobId": job.id, "status": "completed", "results": job.books}})

    def status(self, job_id):
        self.reply_status(self.job(job_id))

    def reply_status(self, job):
        with job.changed:
            left = job.asked + STATUS_INTERVAL - time.time()
            if left > 0:
                raise Refusal(429, "RATE_LIMIT_EXCEEDED", "The status was requested less than 2 s ago.", wait=left)
            job.asked = time.time()
            status, progress, processed, total = job.state()
        data = {"jobId": job.id, "status": status, "progress": progress, "processedCount": processed, "totalCount": total}
        self.reply(200, {"data": data}, has_metadata=not self.is_v3)

    def cancel(self, job_id):
        job = self.job(job_id)
        if not job.cancel(*self.cancellation(job)) and job.status != "canceled":
            raise Refusal(409, "CONFLICT", "The job is over.")
        self.reply(200, {"data": {"jobId": job.id, "status": "canceled"}}, has_metadata=False)

    @staticmethod
    def cancellation(job):
        """The name of the event that ends a canceled job, and its data."""
        error = {"type": "error", "jobId": job.id, "code": "CANCELED", "message": "The job was canceled.", "retryable": False}
        return "error", lambda *_: error

    def cleanup(self, job_id):
        job = self.job(job_id, even_gone=True)
        if job.is_gone and self.talaria.options.other_forms:
            raise Refusal(404, "NOT_FOUND", "The job was cleaned up before.")
        job.remove()
        self.whole(204)

    # Texts

    def look_up_text(self):
        """Section 1.5, in the form of --enrichment: the two of C24."""
        form = self.talaria.options.enrichment
        if form == "off":
            raise Refusal(404, "NOT_FOUND", "There is no such path.")
        self.talaria.admit(self.device)
        body = self.json()
        text = body.get("text")
        if not isinstance(text, str) or not text.strip():
            raise Refusal(400, "MISSING_PARAMETER", "There is no text.")
        number = sum(map(ord, text))
        title, author = body.get("title"), body.get("author")
        confidence = 0.95 if title and author else 0.6
        found = {
            "coverUrl": f"https://covers.example/{number}.jpg", "publisher": "Penguin Books", "publicationYear": 1850 + number % 150,
            "verifiedTitle": title or text.splitlines()[0], "verifiedAuthor": author or "Unknown", "genre": "Fiction"}
        if form == "flat":
            whole = found | {"confidence": confidence}
        else:
            whole = {"jobId": str(uuid.uuid4()), "enrichment": found | {"pageCount": 90 + number % 600}, "source": "talaria",
                     "confidence": confidence}
        self.whole(200, json.dumps(whole, ensure_ascii=False).encode())

    # v2

    def accept(self, job, **more):
        kind = next(kind for kind, prefix in PREFIXES.items() if job.id.startswith(prefix))
        path = f"{self.base}/api/v2/{kind}/{job.id}"
        self.talaria.keep(job)
        data = {"jobId": job.id, "authToken": job.token, "token": job.token, "sseUrl": path + "/stream", "statusUrl": path, **more}
        self.reply(202, {"data": data})

    def upload_shelf(self):
        self.talaria.admit(self.device)
        photos = self.photos("photos")
        self.accept(shelf(self.device, photos, self.talaria.seconds()), status="initialized", totalPhotos=len(photos))

    def upload_batch(self):
        self.talaria.admit(self.device)
        body = self.json()
        asked = body.get("books") or [{"isbn": code} for code in body.get("barcodes") or []]
        if not asked or len(asked) > BATCH_BOOKS_MAX or not all(isinstance(book, dict) for book in asked):
            raise Refusal(400, "INVALID_REQUEST", f"A batch has 1 to {BATCH_BOOKS_MAX} books.")
        self.accept(batch(self.device, asked, self.talaria.seconds()), processedCount=0, totalCount=len(asked))

    def upload_library(self):
        self.talaria.admit(self.device)
        files = self.parts("file")
        if len(files) != 1:
            raise Refusal(400, "INVALID_REQUEST", "There must be one part file.")
        if len(files[0]) > CSV_BYTES_MAX:
            raise Refusal(413, "FILE_TOO_LARGE", "The file is larger than 8 MB.")
        job = library_import(self.device, files[0], self.talaria.library(self.device), self.talaria.seconds())
        if job.rows:
            with self.talaria.lock:
                self.talaria.imports[self.device].append(job)
        self.accept(job)

    def look_up(self):
        self.talaria.admit(self.device)
        body = self.json()
        code = as_isbn(str(body.get("barcode") or body.get("isbn") or ""))
        if not code:
            raise Refusal(400, "INVALID_REQUEST", "The barcode is no ISBN.")
        is_repeated = self.talaria.is_repeated(self.device, body.get("idempotencyKey"))
        book = provider(code)
        if not book:
            raise Refusal(404, "NOT_FOUND", "No provider has the book.")
        self.reply(200, {"data": self.book(book) | {"vectorized": bool(body.get("vectorize"))}}, cached=is_repeated, source="catalogue")

    def book(self, book):
        """A book in the form of answers of v2."""
        return book

    def job_of_v2(self, kind, job_id, is_public, is_stream=False):
        job = self.talaria.jobs.get(job_id)
        if job is None or not job_id.startswith(PREFIXES[kind] if kind else tuple(PREFIXES.values())):
            raise Refusal(404, "NOT_FOUND", "There is no such job.")
        token = self.bearer() or (self.query.get("token") if is_stream else None)
        if not is_public and (token != job.token or time.time() > job.born + LIFETIME):
            raise Refusal(401, "UNAUTHORIZED", "The token is missing, wrong or expired.")
        return job

    def living_job(self, kind, job_id, is_stream=False):
        job = self.job_of_v2(kind, job_id, kind == "imports", is_stream)
        if job.is_gone:
            raise Refusal(410, "GONE", "The job was canceled.")
        return job

    def status_of_v2(self, kind, job_id):
        self.reply_status(self.living_job(kind, job_id))

    def stream_of_v2(self, kind, job_id):
        self.follow(self.living_job(kind, job_id, is_stream=True), lambda: {"": "heartbeat"}, {"retry": "5000"})

    def results_of_v2(self, kind, job_id):
        job = self.living_job(kind, job_id)
        if job.status != "completed":
            raise Refusal(404, "NOT_FOUND", "There are no results.")
        self.reply(200, {"data": self.results_data(kind, job)})

    def results_data(self, kind, job):
        data = {"jobId": job.id, "status": "completed", "books": job.books, "totalCount": job.total}
        return job.rows.results(job) if job.rows else data

    def results_of_import(self, job_id):
        self.results_of_v2("imports", job_id)

    def cancel_of_v2(self, job_id):
        job = self.job_of_v2(None, job_id, is_public=False)
        was_there = not job.is_gone
        job.cancel("failed", failure(job.id, "CANCELED", "The job was canceled.", "canceled"))
        job.remove()
        cleanup = {"r2ObjectsDeleted": 1 if was_there else 0, "kvCacheCleared": was_there}
        message = "The job was canceled." if job.status == "canceled" else "The job was over."
        self.reply(200, {"data": {"jobId": job.id, "status": job.status, "message": message, "cleanup": cleanup}})

    # Streams

    def follow(self, job, sign_of_life, first):
        """Sends the events of the job until its end, and a sign of life after each --ping seconds of the stream."""
        self.send(200, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "Transfer-Encoding": "chunked"}, b"")
        last = self.headers.get("Last-Event-ID")
        self.chunk(": resumed\n\n" if last else ": connected\n\n")
        alive = time.time() + self.talaria.options.ping
        is_over = False
        while not is_over:
            with job.changed:
                pending = job.since(last)
                if not pending:
                    if job.is_over or job.is_gone:
                        break
                    due = min([stamped.event.at for stamped in job.course if stamped.event.at > time.time()] + [alive])
                    job.changed.wait(max(0.001, due - time.time()))
                    pending = job.since(last)
            for event in pending:
                self.event({"id": event.id, "event": event.name, **first, "data": json.dumps(event.data, ensure_ascii=False)})
                last, first, is_over = event.id, {}, event.name in TERMINAL
            if time.time() >= alive and not is_over:
                self.event(sign_of_life())
                alive += self.talaria.options.ping
        self.wfile.write(b"0\r\n\r\n")

    def event(self, fields):
        end = "\r\n" if self.talaria.options.other_forms else "\n"
        self.chunk("".join(f"{name}: {value}{end}" for name, value in fields.items()) + end)

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    # Answers

    def reply(self, status, members, has_metadata=True, **metadata):
        """An answer in the envelope of v3 or v2 (sections 1.2 and 3.1). Section 1.4 has no metadata."""
        members = {"success": True, **members}
        if has_metadata:
            members["metadata"] = {"timestamp": iso(), "requestId": self.request_id, **metadata}
        self.whole(status, json.dumps(members, ensure_ascii=False).encode())

    def refuse(self, refusal):
        headers = dict(refusal.headers)
        if refusal.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        wait = None if refusal.wait is None else max(1, round(refusal.wait * 1000))
        if wait is not None:
            headers["Retry-After"] = str(-(-wait // 1000))
        retryable = refusal.code in RETRYABLE
        if self.is_v3:
            body = {
                "success": False, "type": PROBLEM_TYPES + refusal.code.lower().replace("_", "-"),
                "title": refusal.code.replace("_", " ").title(), "status": refusal.status, "detail": refusal.detail,
                "instance": self.route, "code": refusal.code, "retryable": retryable, **({"retryAfterMs": wait} if wait else {}),
                "metadata": {"timestamp": iso(), "requestId": self.request_id}}
            self.whole(refusal.status, json.dumps(body).encode(), "application/problem+json", headers)
        else:
            body = {"success": False, "error": {"code": refusal.code, "message": refusal.detail, "retryable": retryable}}
            if wait:
                body["retryAfter"] = -(-wait // 1000)
            self.whole(refusal.status, json.dumps(body).encode(), headers=headers)

    def whole(self, status, body=None, kind="application/json", headers=None):
        headers = dict(headers or {})
        if body is not None:
            headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
        self.send(status, headers, b"" if self.command == "HEAD" else body or b"")

    def send(self, status, headers, body):
        """Head and body at once."""
        self.send_response(status)
        self.send_header("X-Request-ID", self.request_id)
        for name, value in headers.items():
            self.send_header(name, value)
        self._headers_buffer.append(b"\r\n")
        self.wfile.write(b"".join(self._headers_buffer) + body)
        self._headers_buffer = []


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_):
        pass


def seconds(text):
    low, _, high = text.partition("..")
    return float(low), float(high or low)


def options(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="default: a free port")
    parser.add_argument("--job-time", type=seconds, default=(1, 3), help="seconds from the 202 to the end of a job (default: 1..3)")
    parser.add_argument("--ping", type=float, default=30, help="seconds between two signs of life of a stream (default: 30)")
    parser.add_argument("--rate-limit", type=int, help="uploads of a device in 20 minutes (default: no limit)")
    parser.add_argument("--workers", type=int, help="jobs that are worked on at a time (default: no limit)")
    parser.add_argument("--other-forms", action="store_true", help="the other forms that the contract allows")
    parser.add_argument("--enrichment", choices=["nested", "flat", "off"], default="nested", help="look-ups by text (default: nested)")
    return parser


def serve(handler, parser):
    handler.talaria = Talaria(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])  # A parent may have blocked it.
    server = Server(("127.0.0.1", handler.talaria.options.port), handler)
    print(f"listening http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(Handler, options(__doc__))
