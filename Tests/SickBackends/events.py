"""What the events of v3 and v2 say, and the books that a client is shown."""

from __future__ import annotations

import json
import time
from typing import Any

import words
from books import Book
from jobs import Backend, Job


def shown(backend: Backend, job: Job, place: str) -> list[dict[str, Any]]:
    """Return the books of a job as they are shown at a place: `inline`, `lite`, `full` or `v2`."""
    bug = backend.bug
    found = list(job.found)
    inline = place == "inline"
    if bug("many-20") and len(found) > 20:
        found = found[:20]
    if bug("many-inline-20") and inline:
        found = found[:20]
    if bug("many-page-lost") and not inline and len(found) > 20:
        found = found[:10] + found[20:]
    if bug("many-page-overlap") and not inline and len(found) > 20:
        found = [book for start in range(0, len(found), 10) for book in found[max(0, start - 1):start + 10]]
    if bug("many-last-page-short") and len(found) > 20:
        found = found[:len(found) // 10 * 10]
    if bug("results-lite-no-review") and place == "lite":
        found = [book for book in found if book.status != "review_needed"]
    if bug("results-one-missing") and not inline:
        found = found[::-1][:-1]
    if bug("results-half") and not inline:
        found = found[:len(found) // 2]
    if bug("odd-same-key") and not inline:
        found = list({plain_title(book): book for book in reversed(found)}.values())[::-1]
    if bug("event-duplicate-book"):
        found = found + found[:1]
    rows = [book.full() if place == "full" else book.lite() for book in found]
    for number, row in enumerate(rows):
        deform(backend, job, row, place, number)
    return rows


def plain_title(book: Book) -> str:
    """Return what a careless backend takes for the key of a book: its title without what is not ASCII."""
    return book.title.encode("ascii", "ignore").decode().strip().lower()


def deform(backend: Backend, job: Job, row: dict[str, Any], place: str, number: int) -> None:
    """Change one book as the switches say; nothing happens to it in a healthy backend."""
    bug = backend.bug
    if bug("event-unknown-status"):
        row["enrichmentStatus"] = "partial" if number % 2 else "complete"
    if bug("event-null-title") and number == 0:
        row["title"] = None
    if bug("event-isbn-number") and row["isbn"]:
        row["isbn"] = int(row["isbn"])
    if bug("event-isbn-wrong") and row["isbn"]:
        row["isbn"] = row["isbn"][:12] + str((int(row["isbn"][12]) + 1) % 10)
    if bug("event-confidence-words"):
        row["confidence"] = str(row["confidence"])
    if bug("event-confidence-percent"):
        row["confidence"] = round(row["confidence"] * 100)
    if bug("results-full-differs") and place == "full":
        row["isbn"] = None
    if bug("results-status-back") and place in ("lite", "full", "v2"):
        row["enrichmentStatus"] = "pending"
    if bug("results-author-lost") and place in ("lite", "v2"):
        del row["author"]
    if bug("results-null-words") and place != "inline":
        row |= {key: "null" for key in ("isbn", "coverUrl") if row[key] is None}
    if bug("results-swapped") and place != "inline":
        row["title"], row["author"] = row["author"], row["title"]


def counts(backend: Backend, job: Job) -> dict[str, int]:
    """Return the numbers of the summary of v3."""
    bug = backend.bug
    total = len(job.found)
    approved = sum(book.status == "success" for book in job.found)
    numbers = {"totalDetected": total, "totalUnique": len({book.key() for book in job.found}),
               "approved": approved, "needsReview": total - approved}
    if bug("results-totals"):
        numbers["totalDetected"] += 1
        numbers["totalUnique"] += 1
    if bug("event-totals-zero"):
        numbers = dict.fromkeys(numbers, 0)
    return numbers


def share_of(backend: Backend, share: float, what: str) -> float:
    """Return the progress that an event states: a number from 0 to 1."""
    bug = backend.bug
    if bug("event-backwards") and what == "book":
        # The second half of the work counts from nothing again.
        share = round(share - 0.5, 4)
    if bug("event-percent"):
        share = share * 100
    return round(share, 4)


def v3_voice(backend: Backend, job: Job, what: str, facts: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return name, id suffix and data of an event of v3."""
    bug = backend.bug
    if what == "failed":
        return "error", "error", {"type": "error", "jobId": job.id, "code": facts["code"],
                                  "message": facts["message"], "retryable": facts["retryable"]}
    if what == "completed":
        return "completed", "completed", v3_completed(backend, job)
    stages = {"started": "analyzing_image", "photo": "analyzing_image", "identified": "identifying_books",
              "book": "enriching_metadata"}
    messages = {"started": f"Starting scan of {job.units} photos...",
                "photo": f"Processing photo 1 of {job.units}...",
                "identified": f"Identified {len(job.found)} books"}
    if what == "book":
        job.processed, job.total = facts["place"] + 1, len(job.found)
        message = f"Enriched book {job.processed} of {job.total}"
    else:
        job.processed, job.total = {"started": (0, job.units), "photo": (1, job.units)}.get(
            what, (0, len(job.found)))
        message = messages[what]
    job.progress = max(job.progress, facts["share"])
    data: dict[str, Any] = {
        "type": "progress", "jobId": job.id, "status": stages[what],
        "progress": share_of(backend, facts["share"], what), "processedCount": job.processed,
        "totalCount": job.total, "message": message}
    if what == "book":
        data["currentItem"] = facts["book"].title
    data["timestamp"] = words.stamp(bug)
    if bug("event-no-message"):
        del data["message"]
    if bug("event-type-differs"):
        data["type"] = "update"
    if bug("event-count-over") and what == "book":
        data["processedCount"] += 1
    if bug("load-foreign-progress"):
        other = backend.other(job)
        if other:
            data |= {"jobId": other.id, "processedCount": other.processed, "totalCount": other.total}
    return "progress", "progress", data


def v3_completed(backend: Backend, job: Job) -> dict[str, Any]:
    """Return the data of the last event of v3."""
    bug = backend.bug
    data: dict[str, Any] = {
        "type": "completed", "jobId": job.id, "resultsUrl": f"/v3/jobs/scans/{job.id}/results",
        "summary": counts(backend, job), "books": shown(backend, job, "inline")}
    if bug("event-no-results-url"):
        del data["resultsUrl"], data["books"]
    if bug("event-wrong-results-url"):
        data["resultsUrl"] = f"/v3/jobs/scan/{job.id}/result"
        del data["books"]
    if bug("event-empty-books"):
        data["books"] = []
    if bug("event-books-words"):
        data["books"] = json.dumps(data["books"], ensure_ascii=False)
    if bug("event-completed-of-other"):
        others = [other for other in backend.jobs.values() if other is not job]
        if others:
            data["jobId"], data["resultsUrl"] = others[-1].id, f"/v3/jobs/scans/{others[-1].id}/results"
            data["books"] = shown(backend, others[-1], "inline")
    if "books" in data and len(words.dump(bug, data, "event")) > backend.config.completed_max:
        # A larger event does not fit into the storage of the streams; the client fetches the results.
        del data["books"]
    return data


def v2_status(backend: Backend, job: Job) -> str:
    """Return the status of a job of v2."""
    return job.status.upper() if backend.bug("v2-status-upper") else job.status


def v2_voice(backend: Backend, job: Job, what: str, facts: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return name, id suffix and data of an event of v2."""
    bug = backend.bug
    if what == "started":
        job.processed, job.total = 0, job.units
    elif what == "photo":
        job.processed = 0
    elif what == "book" and job.kind != "scan":
        job.processed = facts["place"] + 1
    elif what in ("identified", "book") and job.kind == "scan":
        job.processed = job.units
    job.progress = max(job.progress, facts.get("share", job.progress))
    data: dict[str, Any] = {
        "jobId": job.id, "status": v2_status(backend, job), "progress": share_of(backend, job.progress, what),
        "processedCount": job.processed, "totalCount": job.total}
    if bug("event-count-over") and what == "book":
        data["processedCount"] = data["totalCount"] + 1
    if bug("load-foreign-progress") and what != "completed":
        other = backend.other(job)
        if other:
            data |= {"jobId": other.id, "processedCount": other.processed, "totalCount": other.total}
    if what == "failed":
        data["error"] = {"code": facts["code"], "message": facts["message"], "retryable": facts["retryable"]}
        return "failed", "final", data
    if what == "completed":
        return "completed", "final", data | v2_completed(backend, job)
    if what == "started":
        return ("processing" if bug("v2-first-event") else "initialized"), "initial", data
    return "processing", "progress", data


def v2_completed(backend: Backend, job: Job) -> dict[str, Any]:
    """Return what the last event of v2 says beside its progress."""
    bug = backend.bug
    pipelines = {"scan": "ai_scan", "batch": "batch_enrichment", "import": "csv_import"}
    taken = job.extra.get("succeeded", job.units)
    summary: dict[str, Any] = {
        "totalProcessed": job.total, "successCount": taken, "failureCount": job.total - taken,
        "duration": int((time.time() - job.created) * 1000), "resourceId": f"job-results:{job.id}"}
    if job.kind == "scan":
        unique = len({book.key() for book in job.found})
        summary |= {"photosProcessed": job.units, "booksDetected": len(job.found), "booksUnique": unique,
                    "booksEnriched": sum(book.status == "success" for book in job.found)}
        if bug("results-totals"):
            summary["booksUnique"] += 1
            summary["booksDetected"] += 1
        if bug("event-totals-zero"):
            summary |= {"booksDetected": 0, "booksUnique": 0}
    if bug("v2-failures-hidden") and job.kind != "scan":
        summary |= {"successCount": job.total, "failureCount": 0}
    expiry = time.time() + backend.config.results_lifetime
    if bug("time-expiry-past"):
        # The expiry was computed in the time of Denver and written as UTC.
        expiry -= 7 * 3600
    return {"type": "job_complete", "pipeline": pipelines[job.kind], "summary": summary,
            "expiresAt": words.stamp(bug, expiry), "completedAt": words.stamp(bug)}


