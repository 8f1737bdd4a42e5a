"""Who may do what: device ids, tokens, and the photos of an upload."""

from __future__ import annotations

import asyncio
import re
import time

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from jobs import Backend, Job
from problems import Refused, limited, unauthorized

UUID4 = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
BODY_TIME = 60.0


def device_of(backend: Backend, request: Request, stream: bool = False) -> str:
    """Return the X-Device-ID of a request of v3, which must be a UUID v4."""
    device = request.headers.get("x-device-id")
    if device and UUID4.fullmatch(device) or backend.bug("device-unchecked"):
        return (device or "nobody").lower()
    if stream:
        raise unauthorized(backend, "UNAUTHORIZED", "X-Device-ID is missing or no UUID v4")
    if device is None:
        raise Refused(400, "MISSING_PARAMETER", "X-Device-ID is missing")
    raise Refused(400, "INVALID_REQUEST", "X-Device-ID must be a UUID v4")


def bearer(request: Request, query: bool = False) -> str | None:
    """Return the token of a request."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.query_params.get("token") if query else None


def job_of(backend: Backend, request: Request, kinds: tuple[str, ...], public: bool = False,
           query: bool = False, part: str = "") -> Job:
    """Return the job that a request names, if its token allows that."""
    bug = backend.bug
    backend.expire()
    job_id = request.path_params["job_id"]
    token = bearer(request, query)
    open_door = public or bug("token-unchecked")
    if token is None and not open_door:
        raise unauthorized(backend, "INVALID_TOKEN", "The bearer token is missing")
    job = backend.jobs.get(job_id)
    if job is None or job.kind not in kinds:
        if job_id in backend.gone:
            raise Refused(410, "GONE", "The job was cleaned up or has expired")
        raise Refused(404, "NOT_FOUND", "There is no such job")
    if job.extra.get("removed") and part != "results":
        raise Refused(410, "GONE", "The job was cleaned up or has expired")
    if bug("upload-job-late") and time.time() - job.created < 0.5:
        # The job is read from a copy of the database that is behind.
        raise Refused(404, "NOT_FOUND", "There is no such job")
    if open_door:
        return job
    if token != job.token:
        other = any(each.token == token for each in backend.jobs.values())
        if not (bug("token-any-job") and other):
            raise unauthorized(backend, "INVALID_TOKEN", "The token is not that of the job")
    if bug("token-newest-only") and backend.newest.get(job.device) != job.token:
        raise unauthorized(backend, "INVALID_TOKEN", "The token is not that of the job")
    if bug("token-once") and part == "stream" and job.streams:
        raise unauthorized(backend, "INVALID_TOKEN", "The token was used")
    if backend.expired(job):
        raise unauthorized(backend, "TOKEN_EXPIRED", "The token has expired")
    return job


def admit(backend: Backend, request: Request, device: str, v2: bool = False) -> dict[str, str]:
    """Admit an upload, and return the headers of its answer."""
    limiter = backend.v2_limiter if v2 else backend.limiter
    if backend.bug("retry-locked") and device in backend.locked:
        raise Refused(409, "CONFLICT", "An upload of the device is under way")
    verdict = limiter.take(device, request.client.host if request.client else "")
    if not verdict.admitted:
        raise limited(backend, verdict)
    live = sum(not job.over for job in backend.jobs.values())
    if live >= backend.config.jobs_max:
        raise Refused(503, "CIRCUIT_OPEN", "Too many jobs", {"Retry-After": "60"}, 60_000)
    if backend.bug("load-503") and live >= 3:
        raise Refused(503, "INTERNAL_ERROR", "upstream connect error or disconnect/reset before headers")
    return verdict.headers(backend.bug)


async def form_of(backend: Backend, request: Request) -> FormData:
    """Return the parts of an upload."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise Refused(400, "INVALID_REQUEST", "The content type must be multipart/form-data")
    try:
        return await asyncio.wait_for(request.form(max_files=100, max_fields=100), BODY_TIME)
    except TimeoutError as error:
        raise Refused(408, "TIMEOUT", "The body did not arrive in time") from error
    except ClientDisconnect as error:
        if backend.bug("retry-locked"):
            backend.locked.add(request.headers.get("x-device-id", "nobody").lower())
        # Nobody is there to read this answer; it keeps a lost connection out of the log of errors.
        raise Refused(400, "INVALID_REQUEST", "The client has gone") from error
    except HTTPException as error:
        raise Refused(400, "INVALID_REQUEST", error.detail) from error


async def photos_of(backend: Backend, request: Request, name: str) -> list[bytes]:
    """Return the photos of an upload, within the limits of the contract."""
    config = backend.config
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > config.batch_max + 100_000:
        raise Refused(413, "FILE_TOO_LARGE", "The photos are too large together")
    form = await form_of(backend, request)
    files = [part for part in form.getlist(name) if isinstance(part, UploadFile)]
    photos = [await part.read() for part in files]
    await form.close()
    if not photos:
        raise Refused(400, "INVALID_REQUEST", f"There is no part named {name}")
    if len(photos) > config.photos_max:
        raise Refused(400, "BATCH_TOO_LARGE", f"At most {config.photos_max} photos")
    if any(len(photo) > config.photo_max for photo in photos):
        raise Refused(413, "FILE_TOO_LARGE", "A photo is too large")
    if sum(map(len, photos)) > config.batch_max:
        raise Refused(413, "FILE_TOO_LARGE", "The photos are too large together")
    if not all(photo.startswith((b"\xff\xd8", b"\x89PNG\r\n\x1a\n")) for photo in photos):
        raise Refused(400, "INVALID_FILE", "A photo must be JPEG or PNG")
    return photos
