"""Symptoms of the bugs that were written after the checks of the program."""

from __future__ import annotations

import asyncio
import re
import time

from checks_v2 import KNOWN, ROWS, UNKNOWN, batch, imported
from phone import Phone, multipart
from trial import BIG, OTHER, SMALL, TINY, check, titles


def raw_upload(phone: Phone) -> bytes:
    """Return the bytes of an upload on a connection that is kept."""
    v3 = phone.dialect == "v3"
    headers, body = multipart("photos[]" if v3 else "photos", [SMALL])
    lines = {"Host": "127.0.0.1", "X-Device-ID": phone.device, "Content-Length": str(len(body)), **headers}
    path = "/v3/jobs/scans" if v3 else "/api/batch-scan"
    head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


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
    _, writer = await asyncio.open_connection("127.0.0.1", phone.port)
    writer.write(raw_upload(phone)[:-8])
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


@check("load-device-channel")
async def device_channel(phone: Phone) -> bool:
    """The streams of a device have events of each other's jobs, that of another device has not."""
    phones = [(phone, SMALL), (phone, OTHER), (phone.another(), SMALL)]
    done = await asyncio.gather(*(each.whole(found) for each, found in phones))
    foreign = [any(event.data()["jobId"] != job.id for event in feed.own()) for job, feed in done]
    return foreign == [True, True, False]


@check("load-terminal-held", job=(0.6, 0.6), ping=1.2)
async def terminal_held(phone: Phone) -> bool:
    """The first of two jobs ends for its client with the ping, the second at once."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    first = asyncio.create_task(phone.whole(TINY))
    await asyncio.sleep(0.3)
    await phone.whole(TINY)
    second_took = loop.time() - began - 0.3
    _, feed = await first
    return feed.over() and loop.time() - began > 1.1 and second_took < 1.0


@check("resume-gap", job=(1.0, 1.0))
async def resume_gap(phone: Phone) -> bool:
    """A stream that is resumed early has no end, one that is resumed late has all."""
    job = await phone.start(SMALL)
    first = await phone.stream(job, seconds=0.6)
    again = await phone.stream(job, first.own()[-1].id, seconds=0.8)
    last = await phone.stream(job, first.own()[-1].id, seconds=0.8)
    return not again.over() and not again.ended and last.over() and len(last.own()) > 1


@check("resume-whole-seconds", job=(1.5, 1.5))
async def whole_seconds(phone: Phone) -> bool:
    """Of the events behind an id, those of its second are missing, and only those."""
    job, first = await phone.whole(SMALL)
    marks = [mark or "" for mark in first.ids()]
    # The event before the last pair of one second.
    place = max(place for place in range(len(marks) - 2) if marks[place][:10] == marks[place + 1][:10])
    expected = [mark for mark in marks if mark[:10] > marks[place][:10]] or marks[-1:]
    return marks[place + 1:] != expected == (await phone.stream(job, marks[place])).ids()


@check("many-30-events")
async def many_30(phone: Phone) -> bool:
    """A stream with many events stays open without its end; the job is over."""
    job, feed = await phone.whole(BIG)
    return len(feed.own()) == 30 and not feed.ended and (await phone.results(job)).status == 200


@check("delete-shard")
async def delete_shard(phone: Phone) -> bool:
    """The removal of one job removes that of another device with the same first digit."""
    found = {}
    while True:
        other = phone.another()
        job = await other.start(TINY)
        digit = job.id[-36]
        if digit in found:
            break
        found[digit] = other, job
    await other.delete(job)
    answers = {key: await each.get(kept) for key, (each, kept) in found.items()}
    return [answers[key].status == 410 for key in answers] == [key == digit for key in answers]


@check("delete-id-reused")
async def id_reused(phone: Phone) -> bool:
    """A new job has the id of one that was removed, and another token."""
    first = await phone.start(SMALL)
    await phone.delete(first)
    second = await phone.another().start(OTHER)
    return first.id == second.id and first.token != second.token


@check("odd-same-key")
async def same_key(phone: Phone) -> bool:
    """Some books are missing from results, and none whose title is ASCII."""
    job, _ = await phone.whole(BIG)
    shown = [book["title"] for book in await phone.books(job)]
    lost = [title for title in titles(BIG) if title not in shown]
    return len(lost) > 2 and not any(title.isascii() for title in lost)


@check("http-chunk-characters")
async def chunk_characters(phone: Phone) -> bool:
    """The end of a stream is sent, but cannot be read."""
    _, feed = await phone.whole(BIG)
    return b"event: completed" in feed.raw and not feed.over()


@check("http-kept-status")
async def kept_status(phone: Phone) -> bool:
    """An error behind an upload has the status of the upload."""
    reader, writer = await asyncio.open_connection("127.0.0.1", phone.port)
    writer.write(raw_upload(phone))
    path = "/v3/none" if phone.dialect == "v3" else "/api/v2/none"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    raw = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    return re.findall(rb"HTTP/1.1 (\d+)", raw) == [b"202", b"202"] and b"NOT_FOUND" in raw


@check("v2-status-upper")
async def status_upper(phone: Phone) -> bool:
    """Events and the status have a word in upper case."""
    job, feed = await phone.whole(SMALL)
    return [feed.last()["status"], (await phone.get(job)).data()["status"]] == ["COMPLETED"] * 2


@check("v2-batch-nulls")
async def batch_nulls(phone: Phone) -> bool:
    """A book that nobody has is null among the others."""
    _, _, found = await batch(phone, [KNOWN[0], UNKNOWN, KNOWN[1]])
    return len(found) == 3 and found[1] is None and found[2]["isbn"] == KNOWN[1]


@check("v2-import-adds-up")
async def import_adds_up(phone: Phone) -> bool:
    """The second device has created the books of both, of which its results have half."""
    _, first = await imported(phone)
    _, second = await imported(phone.another())
    return len(second["books"]) == 3 and [first["booksCreated"], second["booksCreated"]] == [3, 6] \
        and len(second["errors"]) == 2 and second["totalCount"] == len(ROWS) - 1


@check("v2-lookup-shared")
async def lookup_shared(phone: Phone) -> bool:
    """Another device gets the book of the first, and a second later its own."""
    async def look_up(each: Phone, code: str) -> bool:
        return bool((await each.post("/api/v2/books/enrich", {"barcode": code})).data()["isbn"] == code)

    right = [await look_up(phone, KNOWN[0]), await look_up(phone.another(), KNOWN[1])]
    await asyncio.sleep(1.1)
    return [*right, await look_up(phone.another(), KNOWN[1])] == [True, False, True]


@check("v2-delete-empty")
async def delete_empty(phone: Phone) -> bool:
    """The removal of a job is 200 without a body, and the job is gone."""
    job = await phone.start(SMALL)
    answer = await phone.delete(job)
    return answer.status == 200 and answer.body == b"" and (await phone.get(job)).status == 410
