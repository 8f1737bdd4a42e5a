"""The endpoints of v2: shelves, batches of books, imports of library files and single books."""

from __future__ import annotations

import csv
import io
import json
import time
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import answers
import books
import sockets
import stream
import words
from access import admit, form_of, job_of, photos_of
from books import Book
from events import deform, shown, v2_status, v2_voice
from jobs import Backend, Job
from problems import Refused
from v3 import backend_of, refuse_results

IMPORT_MAX = 8 * 1024 * 1024
PREFIXES = {"scan": "scan_", "batch": "enrichment_", "import": "import_"}
FOLDERS = {"scan": "scans", "batch": "enrichments", "import": "imports"}


def device_of(request: Request) -> str:
    """Return the device of a request; those without one share a quota."""
    return request.headers.get("x-device-id", "nobody").lower()


def enveloped(backend: Backend, request: Request, data: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a success."""
    if backend.bug("v2-no-envelope"):
        return data
    return {"success": True, "data": data, "metadata": answers.metadata(backend, request)}


def accepted(backend: Backend, request: Request, job: Job, limits: dict[str, str], **more: Any) -> Response:
    """Return the 202 of a new job."""
    bug = backend.bug
    base = f"/api/v2/{FOLDERS[job.kind]}/{job.id}"
    data: dict[str, Any] = {"jobId": job.id, "authToken": job.token, "token": job.token,
                            "sseUrl": f"{base}/stream", "statusUrl": base, "status": "initialized",
                            "websocketUrl": sockets.address(backend, request, job), **more}
    if bug("v2-token-gone"):
        del data["authToken"], data["token"]
    if bug("v2-wrong-folder"):
        data["sseUrl"] = f"/api/v2/jobs/{job.id}/stream"
    if bug("upload-internal-host"):
        data["sseUrl"] = "http://talaria.internal:8787" + data["sseUrl"]
    return answers.json_answer(backend, enveloped(backend, request, data), 202, limits)


async def upload_shelf(request: Request) -> Response:
    """Take photos of a shelf as a job."""
    backend = backend_of(request)
    device = device_of(request)
    limits = admit(backend, request, device, v2=True)
    photos = await photos_of(backend, request, "photos")
    found, mark = backend.find_books(device, photos)
    if mark in backend.seen and backend.bug("retry-conflict"):
        raise Refused(409, "CONFLICT", "The photo was uploaded before")
    job = backend.create("scan", PREFIXES["scan"], device, len(photos), found, mark)
    backend.start(job, v2_voice)
    return accepted(backend, request, job, limits, totalPhotos=len(photos))


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request."""
    try:
        body = json.loads(await request.body())
    except ValueError as error:
        raise Refused(400, "INVALID_REQUEST", "The body is no JSON") from error
    if not isinstance(body, dict):
        raise Refused(400, "INVALID_REQUEST", "The body must be an object")
    return body


def text_of(value: Any, name: str, least: int, most: int) -> str:
    """Return a text of a request with a length within limits."""
    if value is None and least == 0:
        return ""
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise Refused(400, "INVALID_REQUEST", f"{name} must have {least} to {most} characters")
    return value


def wanted(body: dict[str, Any]) -> list[Book | None]:
    """Return the books that a batch asks for, and nothing for those that no provider has."""
    if ("barcodes" in body) == ("books" in body):
        raise Refused(400, "INVALID_REQUEST", "Either barcodes or books")
    rows = body.get("barcodes", body.get("books"))
    if not isinstance(rows, list) or not 1 <= len(rows) <= 100:
        raise Refused(400, "INVALID_REQUEST", "A batch has 1 to 100 books")
    found: list[Book | None] = []
    for row in rows:
        if "barcodes" in body:
            code = text_of(row, "barcode", 1, 17).replace("-", "")
            found.append(books.of_isbn(code) if books.valid_isbn(code) else None)
            continue
        if not isinstance(row, dict):
            raise Refused(400, "INVALID_REQUEST", "A book must be an object")
        title = text_of(row.get("title"), "title", 1, 500)
        author = text_of(row.get("author"), "author", 0, 300)
        isbn = text_of(row.get("isbn"), "isbn", 0, 17).replace("-", "")
        book = books.make(title, author or "Unknown", b"batch")
        valid = books.isbn13(isbn) if books.valid_isbn(isbn) else book.isbn
        found.append(books.looked_up(book, valid) if book.status != "not_found" else None)
    return found


async def enrich_batch(request: Request) -> Response:
    """Take up to 100 books to look up as a job."""
    backend = backend_of(request)
    device = device_of(request)
    limits = admit(backend, request, device, v2=True)
    asked = wanted(await body_of(request))
    found = [book for book in asked if book is not None]
    if backend.bug("v2-batch-50"):
        found = found[:50]
    if backend.bug("v2-batch-shifted") and len(found) > 1:
        shifted = found[1:] + found[:1]
        found = [books.looked_up(other, book.isbn) for book, other in zip(found, shifted, strict=True)]
    job = backend.create("batch", PREFIXES["batch"], device, len(asked), found, "")
    job.extra = {"asked": asked, "succeeded": sum(book is not None for book in asked)}
    backend.start(job, v2_voice)
    return accepted(backend, request, job, limits, processedCount=0, totalCount=len(asked))


def rows_of(backend: Backend, text: str) -> list[dict[str, str]]:
    """Return the rows of a library file."""
    bug = backend.bug
    head = text.partition("\n")[0]
    mark = ";" if head.count(";") > head.count(",") else ","
    if bug("v2-import-comma"):
        # The lines are split at every comma, also within quotes.
        lines = [line.split(mark) for line in text.splitlines() if line.strip()]
        table = [dict(zip(lines[0], line, strict=False)) for line in lines[1:]] if lines else []
    else:
        table = [{key or "": value or "" for key, value in row.items() if isinstance(value, str | None)}
                 for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=mark)]
    names = [{key.strip().lower(): value.strip() for key, value in row.items()} for row in table]
    if not names or "title" not in names[0]:
        raise Refused(400, "INVALID_REQUEST", "The file needs the columns Title, Author and ISBN")
    return names[:-1] if bug("v2-import-last-row") else names


def taken(backend: Backend, device: str, rows: list[dict[str, str]]) -> tuple[dict[str, Any], list[Book]]:
    """Return what becomes of the rows of a file, and their books."""
    earlier = backend.imported.setdefault(device, set())
    here: set[str] = set()
    facts: dict[str, Any] = {"booksCreated": 0, "booksUpdated": 0, "duplicatesSkipped": 0, "errors": []}
    if backend.bug("v2-import-adds-up"):
        # The counters belong to the importer, which is made once.
        facts = backend.tally = backend.tally or facts
    found: list[Book] = []
    for number, row in enumerate(rows, 2 if backend.bug("v2-import-row-numbers") else 1):
        isbn = row.get("isbn", "").replace("-", "")
        if not row.get("title") or isbn and not books.valid_isbn(isbn):
            flaw = "Title is missing" if not row.get("title") else "ISBN is invalid"
            facts["errors"].append({"row": number, "isbn": row.get("isbn", ""), "error": flaw})
            continue
        author = row.get("author") or "Unknown"
        spine = books.make(row["title"], author, b"import")
        book = books.looked_up(spine, books.isbn13(isbn) if isbn else None)
        if book.key() in here:
            facts["duplicatesSkipped"] += 1
            if not backend.bug("v2-import-duplicates"):
                continue
        facts["booksUpdated" if book.key() in earlier else "booksCreated"] += 1
        here.add(book.key())
        found.append(book)
    earlier |= here
    facts |= {"enrichmentSucceeded": len(found), "enrichmentFailed": len(facts["errors"]),
              "totalCount": len(rows)}
    return facts, found


async def import_file(request: Request) -> Response:
    """Take a library file as a job."""
    backend = backend_of(request)
    device = device_of(request)
    limits = admit(backend, request, device, v2=True)
    form = await form_of(backend, request)
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise Refused(400, "INVALID_REQUEST", "There is no part named file")
    raw = await file.read()
    await form.close()
    if len(raw) > IMPORT_MAX:
        raise Refused(413, "INVALID_REQUEST", "The file is too large")
    facts, found = taken(backend, device, rows_of(backend, raw.decode("utf-8-sig", "replace")))
    job = backend.create("import", PREFIXES["import"], device, facts["totalCount"], found, "")
    job.extra = {"facts": facts, "succeeded": facts["totalCount"] - facts["enrichmentFailed"]}
    backend.start(job, v2_voice)
    return accepted(backend, request, job, limits)


def job_here(request: Request, part: str) -> Job:
    """Return the job of a request for a status, a stream or results."""
    folder = request.url.path.split("/")[3]
    kind = next(kind for kind, name in FOLDERS.items() if name == folder)
    public = kind == "import"
    return job_of(backend_of(request), request, (kind,), public=public, query=part == "stream", part=part)


async def status(request: Request) -> Response:
    """Return the state of a job."""
    backend = backend_of(request)
    bug = backend.bug
    job = job_here(request, "status")
    data: dict[str, Any] = {
        "jobId": job.id, "status": v2_status(backend, job), "progress": round(job.progress, 4),
        "processedCount": job.processed, "totalCount": job.total}
    if bug("status-early") and not job.over:
        data |= {"status": "completed", "progress": 1.0}
    if bug("status-forever"):
        data |= {"status": "processing", "progress": 0.99}
    return answers.json_answer(backend, enveloped(backend, request, data))


async def events(request: Request) -> Response:
    """Stream the events of a job."""
    job = job_here(request, "stream")
    return stream.answer(backend_of(request), job, request.headers.get("last-event-id"))


async def results(request: Request) -> Response:
    """Return what a completed job has found."""
    backend = backend_of(request)
    bug = backend.bug
    job = job_here(request, "results")
    refuse_results(backend, job)
    if job.kind == "import":
        rows = [book.lite() for book in job.found]
        for number, row in enumerate(rows):
            deform(backend, job, row, "v2", number)
        data: dict[str, Any] = {"jobId": job.id, **job.extra["facts"], "books": rows}
        if bug("v2-import-totals"):
            data["booksCreated"] = data["totalCount"]
    else:
        data = {"jobId": job.id, "status": "completed", "books": shown(backend, job, "v2"),
                "totalCount": job.total}
    if bug("v2-batch-nulls") and job.kind == "batch":
        left = iter(data["books"])
        data["books"] = [next(left) if book else None for book in job.extra["asked"]]
    if bug("results-empty-first") and job.result_reads == 0:
        data["books"] = []
    if bug("ws-results-short") and job.opened:
        data["books"] = data["books"][:-1]
    if bug("results-null"):
        data["books"] = None
    job.result_reads += 1
    return answers.plain(backend, words.dump(bug, enveloped(backend, request, data), "results"))


async def cancel(request: Request) -> Response:
    """Cancel a job and remove its results; doing it again changes nothing."""
    backend = backend_of(request)
    bug = backend.bug
    job_id = request.path_params["job_id"]
    was = backend.gone.get(job_id)
    if was is not None and job_id not in backend.jobs:
        if bug("delete-again-500"):
            raise Refused(500, "INTERNAL_ERROR", "TypeError: cannot read properties of undefined")
        status, removed = "canceled", 0
    else:
        job = job_of(backend, request, tuple(FOLDERS))
        status, removed = (job.status if job.over else "canceled"), job.units if job.kind == "scan" else 1
        backend.remove(job, v2_voice)
    message = "The job was canceled" if removed else "The job was over"
    data = {"jobId": job_id, "status": status, "message": message,
            "cleanup": {"r2ObjectsDeleted": removed, "kvCacheCleared": bool(removed)}}
    if bug("v2-delete-empty"):
        return Response()
    return answers.json_answer(backend, enveloped(backend, request, data))


async def enrich_book(request: Request) -> Response:
    """Look one book up by its barcode."""
    backend = backend_of(request)
    bug = backend.bug
    admit(backend, request, device_of(request), v2=True)
    body = await body_of(request)
    code = text_of(body.get("barcode", body.get("isbn")), "barcode", 1, 17).replace("-", "")
    if not books.valid_isbn(code):
        raise Refused(400, "INVALID_REQUEST", "The barcode is no ISBN")
    book = books.of_isbn(code)
    if bug("v2-lookup-shared"):
        # The key of the cache has no barcode in it.
        if backend.lookup and time.monotonic() - backend.lookup[0] < 1.0:
            book = backend.lookup[1]
        elif book:
            backend.lookup = (time.monotonic(), book)
    if book is None:
        if bug("v2-unknown-book-200"):
            return answers.json_answer(backend, enveloped(backend, request, {}))
        raise Refused(404, "NOT_FOUND", "No provider has the book")
    isbn = (book.isbn or "")[3:] if bug("v2-isbn-cut") else book.isbn
    data = {"title": book.title, "author": book.author, "isbn": isbn, "coverUrl": book.cover,
            "vectorized": bool(body.get("vectorize"))}
    return answers.json_answer(backend, enveloped(backend, request, data))


def routes() -> list[Route]:
    """Return the paths of v2."""
    paths = [Route("/api/batch-scan", upload_shelf, methods=["POST"]),
             Route("/api/batch-enrich", enrich_batch, methods=["POST"]),
             Route("/v1/enrichment/batch", enrich_batch, methods=["POST"]),
             Route("/api/v2/imports", import_file, methods=["POST"]),
             Route("/api/v2/books/enrich", enrich_book, methods=["POST"]),
             Route("/v1/jobs/{job_id}", cancel, methods=["DELETE"])]
    for folder in FOLDERS.values():
        base = f"/api/v2/{folder}/{{job_id}}"
        paths += [Route(f"{base}/stream", events, methods=["GET"]),
                  Route(f"{base}/results", results, methods=["GET"]),
                  Route(base, status, methods=["GET"])]
    return paths
