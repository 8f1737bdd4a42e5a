"""The endpoints of v3: `/v3/jobs/scans` and what belongs to a job."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import answers
import stream
import words
from access import admit, bearer, device_of, job_of, photos_of
from events import shown, v3_voice
from jobs import Backend, Job
from problems import Refused, unauthorized


def backend_of(request: Request) -> Backend:
    """Return the backend that serves a request."""
    backend: Backend = request.app.state.backend
    return backend


async def upload(request: Request) -> Response:
    """Take photos as a job."""
    backend = backend_of(request)
    bug = backend.bug
    device = device_of(backend, request)
    limits = admit(backend, request, device)
    photos = await photos_of(backend, request, "photos[]")
    found, mark = backend.find_books(device, photos)
    earlier = backend.seen.get(mark)
    if earlier and bug("retry-conflict"):
        raise Refused(409, "CONFLICT", "The photo was uploaded before")
    if earlier and bug("retry-dead-job"):
        # The answer of the first upload is kept for retries, for longer than its job.
        return answers.json_answer(backend, accepted(backend, request, *earlier), 202, limits)
    job = backend.create("v3", "", device, len(photos), found, mark)
    token = backend.last_token = job.token
    backend.start(job, v3_voice)
    if bug("load-token-swap"):
        await asyncio.sleep(0.05)
        token = backend.last_token
    status = 201 if bug("upload-201") else 202
    return answers.json_answer(backend, accepted(backend, request, job.id, token), status, limits)


def accepted(backend: Backend, request: Request, job_id: str, token: str) -> dict[str, Any]:
    """Return the body of the 202."""
    bug = backend.bug
    base = f"/v3/jobs/scans/{job_id}"
    if bug("upload-internal-host"):
        base = "http://talaria.internal:8787" + base
    data: dict[str, Any] = {"jobId": job_id, "authToken": token, "sseUrl": f"{base}/stream",
                            "statusUrl": base}
    body: dict[str, Any] = {
        "success": True, "data": data,
        "_links": {"self": {"href": base, "rel": "self", "method": "GET"},
                   "stream": {"href": f"{base}/stream", "rel": "stream", "method": "GET"},
                   "cancel": {"href": base, "rel": "cancel", "method": "DELETE"}},
        "metadata": answers.metadata(backend, request)}
    if bug("upload-stream-url-key"):
        data["streamUrl"] = data.pop("sseUrl")
    if bug("upload-job-id-number"):
        data["jobId"] = int(job_id[:8], 16)
    if bug("upload-flat"):
        return data
    if bug("upload-success-words"):
        body["success"] = "true"
    if bug("upload-no-token"):
        del data["authToken"]
    return body


async def events(request: Request) -> Response:
    """Stream the events of a job."""
    backend = backend_of(request)
    device_of(backend, request, stream=True)
    accept = request.headers.get("accept", "")
    if "text/event-stream" not in accept and "*/*" not in accept and "text/*" not in accept:
        raise Refused(400, "INVALID_ACCEPT_HEADER", "Accept must name text/event-stream")
    job = job_of(backend, request, ("v3",), part="stream")
    return stream.answer(backend, job, request.headers.get("last-event-id"))


async def results(request: Request) -> Response:
    """Return the books of a completed job."""
    backend = backend_of(request)
    bug = backend.bug
    device_of(backend, request)
    form = request.query_params.get("format", "full")
    if form not in ("lite", "full"):
        raise Refused(400, "INVALID_REQUEST", "format must be lite or full")
    job = job_of(backend, request, ("v3",), part="results")
    refuse_results(backend, job)
    if bug("load-cache-device"):
        # The key of the cache has no job in it.
        at, kept = backend.cache.get(form, (0.0, b""))
        if time.monotonic() - at < 1.0:
            return answers.plain(backend, kept)
    data: dict[str, Any] = {"jobId": job.id, "status": "completed", "results": shown(backend, job, form)}
    if bug("results-empty-first") and job.result_reads == 0:
        data["results"] = []
    if bug("results-key-books"):
        data["books"] = data.pop("results")
    if bug("results-null"):
        data["results"] = None
    if bug("results-bare"):
        data = {"results": data["results"]}
    job.result_reads += 1
    body: dict[str, Any] = {"success": True, "data": data, "metadata": answers.metadata(backend, request)}
    kept = words.dump(bug, body if not bug("results-bare") else data, "results")
    backend.cache[form] = (time.monotonic(), kept)
    return answers.plain(backend, kept)


def refuse_results(backend: Backend, job: Job) -> None:
    """Refuse the results of a job that has none, or none any more."""
    bug = backend.bug
    ready = job.status == "completed" and job.ended is not None
    if ready and bug("results-late"):
        ready = time.time() - (job.ended or 0.0) > 2.0
    if ready and bug("load-lost-update"):
        ready = job.id in backend.published
    lifetime = 0.5 if bug("results-short-life") else backend.config.results_lifetime
    if not ready or time.time() - (job.ended or 0.0) > lifetime or bug("results-404"):
        raise Refused(404, "NOT_FOUND", "The job has no results")


async def clean_up(request: Request) -> Response:
    """Remove a job; doing it again changes nothing."""
    backend = backend_of(request)
    bug = backend.bug
    device_of(backend, request)
    backend.expire()
    job_id = request.path_params["job_id"]
    if bug("delete-405"):
        raise Refused(405, "METHOD_NOT_ALLOWED", "DELETE is not allowed", {"Allow": "GET"})
    if job_id in backend.gone and job_id not in backend.jobs:
        if bug("delete-again-500"):
            raise Refused(500, "INTERNAL_ERROR", "TypeError: cannot read properties of undefined")
        if bug("delete-again-401"):
            raise unauthorized(backend, "INVALID_TOKEN", "The token is not that of the job")
        if bearer(request) is None and not bug("token-unchecked"):
            raise unauthorized(backend, "INVALID_TOKEN", "The bearer token is missing")
        return Response(status_code=204)
    job = job_of(backend, request, ("v3",), part="results")
    if bug("delete-500-but-done"):
        backend.remove(job, v3_voice)
        raise Refused(500, "INTERNAL_ERROR", "The photos could not be deleted")
    if bug("delete-slow"):
        await asyncio.sleep(6)
    backend.remove(job, v3_voice)
    return Response(status_code=204)


async def one_job(request: Request) -> Response:
    """Return the state of a job, or cancel it."""
    backend = backend_of(request)
    device_of(backend, request)
    job = job_of(backend, request, ("v3",))
    if request.method == "DELETE":
        return cancel(backend, job)
    return status(backend, job)


def status(backend: Backend, job: Job) -> Response:
    """Return the state of a job, at most once in two seconds."""
    bug = backend.bug
    now = time.monotonic()
    left = job.asked + backend.config.poll - now
    if job.asked and left > 0:
        wait = int(left * 1000) + 1
        seconds = {"Retry-After": str(-(-wait // 1000))}
        raise Refused(429, "RATE_LIMIT_EXCEEDED", "One request in 2 s", seconds, wait)
    job.asked = now
    data: dict[str, Any] = {"jobId": job.id, "status": job.status, "progress": round(job.progress, 4),
                            "processedCount": job.processed, "totalCount": job.total}
    if bug("status-early") and not job.over:
        data |= {"status": "completed", "progress": 1.0}
    if bug("status-forever"):
        data |= {"status": "processing", "progress": 0.99}
    if bug("status-of-other"):
        other = [other for other in backend.jobs.values() if other is not job]
        if other:
            data |= {"jobId": other[-1].id, "status": other[-1].status, "progress": other[-1].progress}
    if bug("status-queued"):
        data["status"] = {"initialized": "queued", "processing": "running"}.get(job.status, "done")
    if bug("status-percent"):
        data["progress"] = f"{round(job.progress * 100)}%"
    return answers.json_answer(backend, {"success": True, "data": data})


def cancel(backend: Backend, job: Job) -> Response:
    """Cancel a job that is at work."""
    if job.status in ("completed", "failed"):
        raise Refused(409, "CONFLICT", "The job is over")
    if job.status != "canceled" and not backend.bug("status-cancel-ignored"):
        backend.cancel(job, v3_voice)
    return answers.json_answer(backend, {"success": True, "data": {"jobId": job.id, "status": "canceled"}})


ROUTES = [
    Route("/v3/jobs/scans", upload, methods=["POST"]),
    Route("/v3/jobs/scans/{job_id}/stream", events, methods=["GET"]),
    Route("/v3/jobs/scans/{job_id}/results", results, methods=["GET"]),
    Route("/v3/jobs/scans/{job_id}/cleanup", clean_up, methods=["DELETE"]),
    Route("/v3/jobs/scans/{job_id}", one_job, methods=["GET", "DELETE"]),
]
