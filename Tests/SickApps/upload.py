"""The upload of photos: its form, its 202, and its repetitions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import photos as pictures
from retry import Answer, backoff
from wire import Job, ScanFailed, Wire

PATH = "/v3/jobs/scans"
# S0 allows one automatic repetition with a delay of 2 s (section 5, related rules).
REPEATS_MAX = 1
REPEAT_WAIT = 2.0
DEFAULT_LIMIT_WAIT = 60.0
# A wait of 0 or less is no leave to try without a pause.
LIMIT_WAIT_MIN = 1.0


async def upload(wire: Wire, photos: list[bytes]) -> Job:
    """Upload the photos of a scan until they are accepted or refused for good."""
    # One upload at a time: while the device has to wait, none of its scans uploads (section 1.8).
    turn = nullcontext() if wire.bugs("wait-other-scans") else wire.device.uploading
    async with turn:
        repeats = 0
        while True:
            answer = await _send(wire, photos)
            accepted = (200,) if wire.bugs("upload-202-unknown") else (200, 202)
            if answer.status in accepted:
                return _job(wire, answer)
            if answer.status == 429:
                await asyncio.sleep(_limit_wait(wire, answer))
                continue
            repeats += 1
            refused = answer.refused and not _ignores_refusal(wire, answer)
            if refused or repeats > REPEATS_MAX:
                raise ScanFailed(f"upload-{answer.status}")
            await asyncio.sleep(_repeat_wait(wire, answer, repeats))


def prepared(wire: Wire, photos: list[bytes]) -> list[bytes]:
    """Return the photos as they are uploaded; one that cannot be made small enough ends the scan."""
    if wire.bugs("upload-too-large"):
        return [pictures.with_preview(photo) for photo in photos]
    if wire.bugs("upload-heic"):
        return [pictures.as_heic(photo) for photo in photos]
    ready = [photo if pictures.fits(photo) else pictures.lean(photo) for photo in photos]
    if not all(map(pictures.fits, ready)):
        raise ScanFailed("photo-too-large")
    return ready


async def _send(wire: Wire, photos: list[bytes]) -> Answer:
    name = "photos[]"
    if wire.bugs("upload-part-image"):
        name = "image"
    if wire.bugs("upload-part-photos"):
        name = "photos"
    files = [(name, ("spine.jpg", photo, "image/jpeg")) for photo in photos]
    body: dict[str, Any] = {"files": files}
    if wire.bugs("upload-no-boundary"):
        body["headers"] = {"Content-Type": "multipart/form-data"}
    if wire.bugs("harmless-chunked-upload"):
        body = _in_chunks(wire, files)
    return await wire.request("upload", "POST", PATH, None, **body)


def _in_chunks(wire: Wire, files: list[Any]) -> dict[str, Any]:
    request = wire.device.http.build_request("POST", wire.device.server, files=files)
    content = b"".join(request.stream)  # type: ignore[arg-type]

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(content), 65_536):
            yield content[at:at + 65_536]

    return {"content": chunks(), "headers": {"Content-Type": request.headers["content-type"]}}


def _limit_wait(wire: Wire, answer: Answer) -> float:
    wait = answer.wait()
    wait = DEFAULT_LIMIT_WAIT if wait is None else wait
    if wait > wire.device.patience:
        raise ScanFailed("rate-limited")
    if wire.bugs("wait-ignored"):
        return 0.1
    if wire.bugs("wait-halved"):
        return max(0.1, wait / 2)
    if wire.bugs("wait-units"):
        return max(0.1, wait / 1000)
    return max(LIMIT_WAIT_MIN, wait)


def _ignores_refusal(wire: Wire, answer: Answer) -> bool:
    if answer.status == 202:
        return True
    return 400 <= answer.status < 500 and wire.bugs("retry-upload-refusal")


def _repeat_wait(wire: Wire, answer: Answer, repeats: int) -> float:
    if wire.bugs("retry-no-backoff"):
        return 0.0
    asked = 0.0 if wire.bugs("wait-503-ignored") else answer.wait() or 0.0
    if asked > wire.device.patience:
        raise ScanFailed(f"upload-{answer.status}")
    return max(asked, backoff(REPEAT_WAIT, repeats))


def _job(wire: Wire, answer: Answer) -> Job:
    """Return the job of a 202: `success`, `jobId` and `sseUrl` are needed (section 1.2)."""
    body = answer.body if isinstance(answer.body, dict) else {}
    data = body.get("data")
    if body.get("success") is not True or not isinstance(data, dict):
        raise ScanFailed("upload-unreadable")
    name, address, token = data.get("jobId"), data.get("sseUrl"), data.get("authToken", "")
    if not isinstance(name, str) or not name or not isinstance(address, str):
        raise ScanFailed("upload-unreadable")
    if not isinstance(token, str) or not (token.isascii() and token.isprintable() and " " not in token):
        raise ScanFailed("upload-unreadable")
    stream = wire.resolved(address)
    if stream is None:
        raise ScanFailed("stream-elsewhere")
    wire.device.latest_token = token
    return Job(name, token, stream)
