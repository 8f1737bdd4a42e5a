"""Symptoms of the bugs that were written after the checks of the program."""

from __future__ import annotations

import asyncio
import time

from phone import Phone, multipart
from trial import OTHER, SMALL, check


@check("upload-job-late")
async def job_late(phone: Phone) -> bool:
    """A job is unknown at first."""
    job = await phone.start(SMALL)
    first = (await phone.get(job)).status
    await asyncio.sleep(0.6)
    return first == 404 and (await phone.get(job)).status == 200


@check("token-newest-only")
async def newest_token(phone: Phone) -> bool:
    """A second upload ends the first token."""
    first = await phone.start(SMALL)
    before = (await phone.get(first)).status
    second = await phone.start(OTHER)
    return [before, (await phone.get(first)).status, (await phone.get(second)).status] == [200, 401, 200]


@check("retry-locked")
async def locked(phone: Phone) -> bool:
    """An upload gets 409 after one that broke off, but not that of another device."""
    v3 = phone.dialect == "v3"
    headers, body = multipart("photos[]" if v3 else "photos", [SMALL])
    lines = {"Host": "127.0.0.1", "X-Device-ID": phone.device, "Content-Length": str(len(body)), **headers}
    _, writer = await asyncio.open_connection("127.0.0.1", phone.port)
    path = "/v3/jobs/scans" if v3 else "/api/batch-scan"
    head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
    writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body[:-8])
    await asyncio.sleep(0.2)
    writer.close()
    await asyncio.sleep(0.2)
    answers = [await each.upload(SMALL) for each in (phone, phone.another())]
    return [answer.status for answer in answers] == [409, 202]


@check("time-id-local")
async def id_local(phone: Phone) -> bool:
    """Ids are hours off, and rise."""
    _, feed = await phone.whole(SMALL)
    found = [int((mark or "0").split("-")[0]) for mark in feed.ids()]
    return len(found) > 4 and found == sorted(found) and abs(found[-1] / 1000 - time.time()) > 3600


@check("results-null-words")
async def null_words(phone: Phone) -> bool:
    """A cover is a word."""
    job, _ = await phone.whole(SMALL)
    return any(book["coverUrl"] == "null" for book in await phone.books(job))
