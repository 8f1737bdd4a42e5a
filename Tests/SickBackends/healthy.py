"""Checks of the healthy backend against the contract, over a process that the command line started."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import traceback
import urllib.request
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import books
from bugs import TABLE
from checks_v2 import KNOWN, ROWS, UNKNOWN, batch, imported
from healthy_sockets import bounds, refused_sockets, returns, socket
from phone import Answer, Phone, multipart
from trial import BIG, OTHER, SMALL, TINY, backend, titles

FOLDER = Path(__file__).parent
Part = Callable[[Phone], Awaitable[None]]
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


def problem(answer: Answer, status: int, code: str, retryable: bool = False) -> None:
    """Demand a problem of RFC 9457."""
    body = answer.json()
    assert answer.status == status, f"{answer.status} in place of {status}"
    assert answer.header("content-type") == "application/problem+json", answer.headers
    assert body["success"] is False and body["status"] == status and body["code"] == code, body
    assert body["retryable"] is retryable and body["title"] and body["detail"], body
    assert body["type"] == "https://api.oooefam.net/errors/" + code.lower().replace("_", "-"), body
    assert body["metadata"]["requestId"] == answer.header("x-request-id"), body
    assert status != 401 or answer.header("www-authenticate") == "Bearer", answer.headers


async def upload(phone: Phone) -> None:
    """The 202 has all fields, and its links work."""
    answer = await phone.upload(SMALL, PNG)
    body = answer.json()
    data = body["data"]
    assert answer.status == 202 and body["success"] is True
    assert re.fullmatch(r"[0-9a-f]{64}", data["authToken"]) and uuid.UUID(data["jobId"]).version == 4
    assert data["sseUrl"] == f"/v3/jobs/scans/{data['jobId']}/stream", data
    assert data["statusUrl"] == f"/v3/jobs/scans/{data['jobId']}", data
    assert set(body["_links"]) == {"self", "stream", "cancel"} and "status" not in data
    stamp = body["metadata"]["timestamp"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp), stamp
    assert abs(datetime.fromisoformat(stamp).timestamp() - time.time()) < 60
    assert answer.header("x-ratelimit-limit") and answer.header("x-ratelimit-remaining")
    with urllib.request.urlopen(urllib.request.Request(
            f"http://127.0.0.1:{phone.port}{data['statusUrl']}",
            headers={"X-Device-ID": phone.device, "Authorization": f"Bearer {data['authToken']}"})) as state:
        assert json.load(state)["data"]["jobId"] == data["jobId"]


async def refused_uploads(phone: Phone) -> None:
    """Uploads beyond the limits are refused with their codes."""
    headers, body = multipart("image", [SMALL])
    problem(await phone.request("POST", "/v3/jobs/scans", headers, body), 400, "INVALID_REQUEST")
    problem(await phone.request("POST", "/v3/jobs/scans", {"Content-Type": "text/plain"}, b"x"), 400,
            "INVALID_REQUEST")
    problem(await phone.upload(*[TINY] * 6), 400, "BATCH_TOO_LARGE")
    problem(await phone.upload(b"RIFF0000WEBP"), 400, "INVALID_FILE")
    problem(await phone.upload(b"\xff\xd8" + bytes(10_000_000)), 413, "FILE_TOO_LARGE")
    problem(await phone.request("POST", "/v3/jobs/scans", device=False), 400, "MISSING_PARAMETER")
    problem(await phone.request("POST", "/v3/jobs/scans", {"X-Device-ID": "phone"}), 400, "INVALID_REQUEST")
    problem(await phone.request("GET", "/v3/none"), 404, "NOT_FOUND")
    wrong = await phone.request("PUT", "/v3/jobs/scans")
    problem(wrong, 405, "METHOD_NOT_ALLOWED")
    assert wrong.header("allow") == "POST", wrong.headers


async def events(phone: Phone) -> None:
    """A stream has rising ids, progress that rises to its end, and the books of the photo."""
    job, feed = await phone.whole(SMALL)
    found = feed.own()
    assert dict(feed.headers)["content-type"].startswith("text/event-stream") and feed.ended
    assert feed.raw.partition(b"\r\n")[2].startswith(b": connection established\n")
    marks = [int((event.id or "").partition("-")[0]) for event in found]
    assert all(a < b for a, b in zip(marks, marks[1:], strict=False)), feed.ids()
    assert all(f"-{event.name}" in (event.id or "") for event in found), feed.ids()
    assert all(event.name == event.data()["type"] for event in found)
    shares = [event.data()["progress"] for event in found[:-1]]
    assert shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1, shares
    fields = {"jobId", "status", "processedCount", "totalCount", "message", "timestamp"}
    assert all(set(event.data()) >= fields for event in found[:-1])
    assert [event.name for event in found].count("completed") == 1 and found[-1].name == "completed"
    last = feed.last()
    assert [book["title"] for book in last["books"]] == titles(SMALL)
    assert last["resultsUrl"] == f"{job.base}/results"
    assert last["summary"]["totalUnique"] == len(titles(SMALL))
    assert last["summary"]["approved"] + last["summary"]["needsReview"] == len(titles(SMALL))
    again = await phone.stream(job)
    assert [event.name for event in again.own()] == ["completed"] and again.events == found[-1:]


async def resumed(phone: Phone) -> None:
    """A stream continues behind an id, and replays the buffer for an id that is unknown."""
    job, feed = await phone.whole(SMALL)
    found = feed.own()
    for place in (0, 2, len(found) - 2):
        again = await phone.stream(job, found[place].id)
        assert again.own() == found[place + 1:] and again.ended, place
    assert (await phone.stream(job, found[-1].id)).own() == found[-1:]
    assert (await phone.stream(job, "1-progress")).own()[-len(found):] == found
    assert b": reconnected from event 1-progress\n" in (await phone.stream(job, "1-progress")).raw


async def refused_streams(phone: Phone) -> None:
    """Tokens and devices are checked in the order of the contract."""
    job = await phone.start(SMALL)
    token = {"Authorization": f"Bearer {job.token}"}
    problem(await phone.request("GET", f"{job.base}/stream", token, device=False), 401, "UNAUTHORIZED")
    accept = {"Accept": "text/event-stream"}
    problem(await phone.request("GET", f"{job.base}/stream", accept), 401, "INVALID_TOKEN")
    problem(await phone.get(job, "/stream", "0" * 64), 401, "INVALID_TOKEN")
    problem(await phone.get(job, "/results?format=tiny"), 400, "INVALID_REQUEST")
    problem(await phone.request("GET", f"{job.base}/results", token, device=False), 400, "MISSING_PARAMETER")
    problem(await phone.results(job), 404, "NOT_FOUND")
    problem(await phone.request("GET", f"{job.base}/stream", {**token, "Accept": "text/html"}), 400,
            "INVALID_ACCEPT_HEADER")
    problem(await phone.request("GET", f"/v3/jobs/scans/{uuid.uuid4()}", token), 404, "NOT_FOUND")


async def results(phone: Phone) -> None:
    """Results are the inline books; full ones have more fields."""
    job, feed = await phone.whole(BIG)
    body = (await phone.results(job)).json()
    assert body["success"] is True and body["data"]["jobId"] == job.id
    assert body["data"]["status"] == "completed"
    assert body["data"]["results"] == feed.last()["books"] and len(body["data"]["results"]) > 40
    full, lite = await phone.books(job, "full"), await phone.books(job)
    assert [{key: book[key] for key in row} for book, row in zip(full, lite, strict=True)] == lite
    assert all(book["format"] in books.FORMATS and book["pageCount"] > 0 for book in full)
    assert all(book["isbn"] is None or books.valid_isbn(book["isbn"]) for book in full)
    assert any(book["isbn"] is None for book in full)
    assert {book["enrichmentStatus"] for book in full} <= set(books.STATUSES)


async def removed(phone: Phone) -> None:
    """A removed job is gone, its streams end, and removing it again changes nothing."""
    job = await phone.start(BIG)
    reading = asyncio.create_task(phone.stream(job))
    await asyncio.sleep(0.1)
    gone = await phone.delete(job)
    assert gone.status == 204 and gone.body == b""
    feed = await reading
    assert feed.ended and feed.own()[-1].name == "error"
    for part in ("", "/stream", "/results"):
        problem(await phone.get(job, part), 410, "GONE")
    assert (await phone.delete(job)).status == 204
    job.base = f"/v3/jobs/scans/{uuid.uuid4()}"
    problem(await phone.delete(job), 404, "NOT_FOUND")


async def canceled(phone: Phone) -> None:
    """A cancel ends streams with an error event; a job that is over cannot be canceled."""
    job = await phone.start(BIG)
    assert (await phone.cancel(job)).data() == {"jobId": job.id, "status": "canceled"}
    assert (await phone.cancel(job)).status == 200
    last = (await phone.stream(job)).last()
    assert last["type"] == "error" and last["code"] == "CANCELED" and last["retryable"] is False, last
    problem(await phone.results(job), 404, "NOT_FOUND")
    over, _ = await phone.whole(TINY)
    problem(await phone.cancel(over), 409, "CONFLICT")


async def states(phone: Phone) -> None:
    """The status has five fields, once in two seconds."""
    job, _ = await phone.whole(TINY)
    data = (await phone.get(job)).data()
    assert data == {"jobId": job.id, "status": "completed", "progress": 1.0,
                    "processedCount": 1, "totalCount": 1}
    early = await phone.get(job)
    problem(early, 429, "RATE_LIMIT_EXCEEDED", retryable=True)
    assert 0 < early.json()["retryAfterMs"] <= 2001 and early.header("retry-after") in ("1", "2", "3")


async def repeated(phone: Phone) -> None:
    """The same photo has the same books, in another job and on another device."""
    (one, first), (two, second) = await asyncio.gather(phone.whole(OTHER), phone.another().whole(OTHER))
    assert one.id != two.id and one.token != two.token
    assert first.last()["books"] == second.last()["books"]


async def shelf(phone: Phone) -> None:
    """A shelf of v2: 202, events, results and removal."""
    v2 = Phone(phone.port, "v2")
    answer = await v2.upload(SMALL)
    data = answer.data()
    assert answer.status == 202 and data["jobId"].startswith("scan_") and data["totalPhotos"] == 1
    assert data["authToken"] == data["token"] and data["status"] == "initialized"
    job = v2.ticket(answer)
    feed = await v2.stream(job)
    assert feed.own()[-1].name == "completed" and feed.ended and b"retry: 5000\n" in feed.raw
    last = feed.last()
    assert last["type"] == "job_complete" and last["pipeline"] == "ai_scan" and last["progress"] == 1.0
    assert last["summary"]["booksUnique"] == len(titles(SMALL))
    assert datetime.fromisoformat(last["expiresAt"]).timestamp() > time.time() + 3600
    assert [book["title"] for book in await v2.books(job)] == titles(SMALL)
    token = await v2.request("GET", f"{job.base}/stream?token={job.token}")
    assert token.status == 200 and b"event: completed" in token.body
    refused = await v2.get(job, token="0" * 64)
    assert refused.status == 401 and refused.json()["error"]["code"] == "INVALID_TOKEN"
    for _ in range(2):
        assert (await v2.delete(job)).data()["jobId"] == job.id
    assert (await v2.results(job)).status == 410


async def lists(phone: Phone) -> None:
    """Batches, imports and single books of v2."""
    v2 = Phone(phone.port, "v2")
    _, last, found = await batch(v2, KNOWN[:3] + [UNKNOWN])
    assert last["summary"]["successCount"] == 3 and last["summary"]["failureCount"] == 1
    assert [book["isbn"] for book in found] == KNOWN[:3]
    last, facts = await imported(v2)
    assert last["pipeline"] == "csv_import" and facts["totalCount"] == len(ROWS) - 1
    assert facts["booksCreated"] == 3 and facts["duplicatesSkipped"] == 1 and facts["enrichmentFailed"] == 1
    assert facts["errors"] == [{"row": 4, "isbn": "123", "error": "ISBN is invalid"}]
    assert (await imported(v2))[1]["booksUpdated"] == 3
    assert (await v2.post("/api/v2/books/enrich", {"barcode": KNOWN[0]})).data()["isbn"] == KNOWN[0]
    assert (await v2.post("/api/v2/books/enrich", {"barcode": UNKNOWN})).status == 404
    wrongs: list[dict[str, Any]] = [
        {}, {"barcodes": []}, {"barcodes": ["1"] * 101}, {"books": [{"title": ""}]}]
    for wrong in wrongs:
        assert (await v2.post("/api/batch-enrich", wrong)).json()["error"]["code"] == "INVALID_REQUEST", wrong


async def limits(unused: Phone) -> None:
    """The limit counts each device, forgets after its window, and both waits agree."""
    async with backend(quota=2, window=1.0) as port:
        phone = Phone(port)
        answers = [await phone.upload(TINY) for _ in range(3)]
        assert [answer.status for answer in answers] == [202, 202, 429]
        problem(answers[2], 429, "RATE_LIMIT_EXCEEDED", retryable=True)
        wait = answers[2].json()["retryAfterMs"]
        assert 0 < wait <= 1000 and answers[2].header("retry-after") == "1"
        assert (await phone.another().upload(TINY)).status == 202
        await asyncio.sleep(wait / 1000)
        assert (await phone.upload(TINY)).status == 202


async def lifetimes(unused: Phone) -> None:
    """Tokens, results, events and jobs expire one after another."""
    async with backend(job=(0.1, 0.1), token_lifetime=0.8, results_lifetime=1.0, buffer=0.4) as port:
        phone = Phone(port)
        job, _ = await phone.whole(SMALL)
        await asyncio.sleep(0.45)
        late = await phone.stream(job, "1-progress")
        assert len(late.own()) == 1 and "books" not in late.last() and late.last()["resultsUrl"]
        await asyncio.sleep(0.4)
        problem(await phone.get(job), 401, "TOKEN_EXPIRED")
        await asyncio.sleep(0.4)
        problem(await phone.get(job), 410, "GONE")
    async with backend(completed_max=500) as port:
        _, feed = await Phone(port).whole(SMALL)
        assert "books" not in feed.last() and feed.last()["resultsUrl"]


async def pings(unused: Phone) -> None:
    """A quiet stream has pings without ids."""
    async with backend(job=(0.9, 0.9)) as port:
        _, feed = await Phone(port).whole(TINY)
        found = [event for event in feed.events if event.name == "ping"]
        assert found and all(event.id is None and event.data()["timestamp"] for event in found)


PARTS: tuple[Part, ...] = (
    upload, refused_uploads, events, resumed, refused_streams, results, removed, canceled, states, repeated,
    shelf, lists, limits, lifetimes, pings, socket, refused_sockets, returns, bounds)


def command_line() -> None:
    """`--list` has every switch, and a wrong name is refused."""
    program: list[Any] = [sys.executable, FOLDER / "talaria.py"]
    listed = subprocess.run([*program, "--list"], capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(TABLE)
    assert subprocess.run([*program, "--bug", "none"], capture_output=True, check=False).returncode != 0


def run() -> list[str]:
    """Check the healthy backend, and return what is wrong."""
    flaws: list[str] = []
    process = subprocess.Popen([sys.executable, FOLDER / "talaria.py", "--port", "0", "--job", "0.4,0.4",
                                "--quota", "1000"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        for part in PARTS:
            try:
                asyncio.run(asyncio.wait_for(part(Phone(port)), 60))
            except Exception:
                last = " ".join(traceback.format_exc().splitlines()[-4:])
                flaws.append(f"healthy, {part.__name__}: {last}")
        command_line()
    finally:
        process.terminate()
        process.wait()
    print(f"{len(PARTS)} parts of the contract, {len(flaws)} failed")
    for flaw in flaws:
        print(f"FAILED  {flaw}")
    return flaws
