"""What the messages on the WebSocket of a job say (contract 3.4)."""

from __future__ import annotations

import json
import time
from typing import Any

import words
from jobs import Backend, Event, Job

PIPELINES = {"scan": "ai_scan", "batch": "batch_enrichment", "import": "csv_import"}
KINDS = {"initialized": "job_started", "processing": "job_progress", "completed": "job_complete", "failed": "error"}
DAY = 86_400.0
DENVER_MS = 7 * 3_600_000


def now_ms() -> int:
    """Return the milliseconds since 1970."""
    return int(time.time() * 1000)


def envelope(backend: Backend, job: Job, kind: str, payload: dict[str, Any], at: int) -> str:
    """Return the text of a message."""
    bug = backend.bug
    if bug("ws-type-unknown") and kind == "job_progress":
        kind = "progress"
    if bug("ws-complete-renamed") and kind == "job_complete":
        kind = "job_completed"
    if bug("ws-time-local"):
        at -= DENVER_MS
    if bug("ws-seconds"):
        at //= 1000
    pipeline = PIPELINES["scan" if bug("ws-pipeline") else job.kind]
    message: dict[str, Any] = {"type": kind, "jobId": job.id, "pipeline": pipeline, "timestamp": at,
                               "version": "4" if bug("ws-version") else "1.0.0"}
    if bug("ws-no-job-id"):
        del message["jobId"]
    message |= payload if bug("ws-flat") else {"payload": payload}
    # A careless backend writes the object as its language shows it.
    return str(message) if bug("ws-not-json") else words.dump(bug, message, "event").decode("utf-8", "replace")


def of_event(backend: Backend, job: Job, event: Event) -> tuple[str, dict[str, Any], int]:
    """Return type, payload and time of the message for an event of a job."""
    at = int(event.id.partition("-")[0] or now_ms())
    facts: dict[str, Any] = json.loads(event.data or b"{}")
    kind = KINDS.get(event.name, "job_progress")
    as_stream = backend.config.payload == "stream"
    if as_stream and kind == "error":
        return kind, facts, at
    if kind == "job_started" and not as_stream:
        return kind, {"totalCount": facts["totalCount"], "estimatedDuration": int(backend.config.job[1] * 1000)}, at
    if kind == "job_complete":
        return kind, complete(backend, job, at), at
    if kind == "error":
        error = facts["error"]
        return kind, {"data": None, "metadata": {"timestamp": words.stamp(backend.bug)},
                      "error": {"code": error["code"], "message": error["message"], "details": None},
                      "retryable": error["retryable"]}, at
    return kind, state(backend, job, facts), at


def state(backend: Backend, job: Job, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of a progress message."""
    bug = backend.bug
    payload = {key: facts[key] for key in ("progress", "status", "processedCount", "totalCount")}
    if backend.config.payload == "stream":
        payload["jobId"] = job.id
    if bug("ws-backwards") and payload["progress"] > 0.5:
        # The second half of the work counts from nothing again.
        payload["progress"] = round(payload["progress"] - 0.5, 4)
    if bug("ws-percent"):
        payload["progress"] = round(payload["progress"] * 100, 2)
    other = backend.other(job)
    if bug("ws-foreign-counts") and other:
        payload |= {"processedCount": other.processed, "totalCount": other.total}
    return payload


def complete(backend: Backend, job: Job, at: int) -> dict[str, Any]:
    """Return the payload of the last message of a job that has completed."""
    bug = backend.bug
    taken = job.extra.get("succeeded", job.units)
    owner = previous(backend, job) if bug("ws-resource-other") else job.id
    summary: dict[str, Any] = {
        "totalProcessed": job.total, "successCount": taken, "failureCount": job.total - taken,
        "duration": int(((job.ended or time.time()) - job.created) * 1000), "resourceId": f"job-results:{owner}"}
    as_stream = backend.config.payload == "stream"
    if job.kind == "scan" and as_stream:
        summary |= {"photosProcessed": job.units, "booksDetected": len(job.found)}
    elif job.kind == "scan":
        approved = sum(book.status == "success" for book in job.found)
        summary |= {"totalDetected": len(job.found), "approved": approved, "needsReview": len(job.found) - approved}
    if bug("ws-summary-counts"):
        detected = ("booksDetected",) if as_stream else ("totalDetected", "approved")
        counted = detected if job.kind == "scan" else ("totalProcessed", "successCount")
        summary |= {key: summary[key] + 1 for key in counted}
    expiry = at / 1000 + (-3600.0 if bug("ws-expiry-past") else DAY)
    payload = {"summary": summary, "expiresAt": words.stamp(bug, expiry)}
    if as_stream:
        payload |= {"type": "job_complete", "jobId": job.id, "pipeline": PIPELINES[job.kind]}
    return payload


def previous(backend: Backend, job: Job) -> str:
    """Return the id of the job that was made before this one."""
    known = [other.id for other in backend.jobs.values() if other.number < job.number]
    return known[-1] if known else "none"


def reconnected(backend: Backend, job: Job) -> dict[str, Any]:
    """Return the state of a job for a client that has come back."""
    bug = backend.bug
    at = job.last_ms
    payload: dict[str, Any] = {
        "progress": job.progress, "status": job.status, "processedCount": job.processed, "totalCount": job.total,
        "lastUpdate": at, "message": "The connection was restored"}
    if backend.config.payload == "stream":
        payload = {"jobId": job.id} | {key: payload[key] for key in list(payload)[:4]}
    if bug("ws-return-forgets"):
        payload |= {"progress": 0.0, "status": "initialized", "processedCount": 0, "totalCount": 0}
    if bug("ws-return-snake"):
        renamed = {"processedCount": "processed_count", "totalCount": "total_count", "lastUpdate": "last_update"}
        payload = {renamed.get(key, key): value for key, value in payload.items()}
    return payload
