"""Symptoms of results, states, errors, tokens and waits."""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import datetime
from typing import Any

import words
from bugs import Switches
from phone import Answer, Phone, Ticket
from trial import OTHER, REVIEW, SMALL, check, titles


async def finished(phone: Phone, photo: bytes = SMALL) -> Ticket:
    """Return a job that is completed."""
    return (await phone.whole(photo))[0]


@check("results-lite-no-review")
async def lite_no_review(phone: Phone) -> bool:
    """Lite results have fewer books, and none to review."""
    job = await finished(phone, REVIEW)
    lite, full = await phone.books(job), await phone.books(job, "full")
    return len(lite) < len(full) and all(book["enrichmentStatus"] != "review_needed" for book in lite)


@check("results-full-differs")
async def full_differs(phone: Phone) -> bool:
    """Full results have no ISBN, lite ones have."""
    job = await finished(phone)
    lite, full = await phone.books(job), await phone.books(job, "full")
    return any(book["isbn"] for book in lite) and not any(book["isbn"] for book in full)


async def result_titles(phone: Phone) -> list[str | None]:
    """Return the titles of the results of a new job."""
    return [book["title"] for book in await phone.books(await finished(phone))]


@check("results-half")
async def half(phone: Phone) -> bool:
    """Half of the books are there."""
    return await result_titles(phone) == titles(SMALL)[:len(titles(SMALL)) // 2]


@check("results-one-missing")
async def one_missing(phone: Phone) -> bool:
    """The order is reversed, and the first book is missing."""
    return await result_titles(phone) == titles(SMALL)[:0:-1]


@check("results-empty-first")
async def empty_first(phone: Phone) -> bool:
    """The second answer has books, the first has none."""
    job = await finished(phone)
    first, second = await phone.books(job), await phone.books(job)
    return not first and len(second) > 0


@check("results-status-back")
async def status_back(phone: Phone) -> bool:
    """All books are pending."""
    return {book["enrichmentStatus"] for book in await phone.books(await finished(phone))} == {"pending"}


@check("results-totals")
async def totals(phone: Phone) -> bool:
    """The summary has one book more than the results."""
    job, feed = await phone.whole(SMALL)
    summary = feed.last()["summary"]
    promised = summary.get("totalUnique", summary.get("booksUnique"))
    return bool(promised == len(await phone.books(job)) + 1)


@check("results-author-lost")
async def author_lost(phone: Phone) -> bool:
    """Books have no author."""
    return not any("author" in book for book in await phone.books(await finished(phone)))


@check("results-swapped")
async def swapped(phone: Phone) -> bool:
    """Authors are titles."""
    return [book["author"] for book in await phone.books(await finished(phone))] == titles(SMALL)


@check("results-key-books")
async def key_books(phone: Phone) -> bool:
    """Results are under another key."""
    data = (await phone.results(await finished(phone))).data()
    return "results" not in data and len(data["books"]) > 0


@check("results-bare")
async def bare(phone: Phone) -> bool:
    """There is no `data`."""
    body = (await phone.results(await finished(phone))).json()
    return "data" not in body and len(body["results"]) > 0


@check("results-null")
async def null(phone: Phone) -> bool:
    """Results are null."""
    data = (await phone.results(await finished(phone))).data()
    return data.get("results", data.get("books", "missing")) is None


async def results_at(phone: Phone, seconds: float) -> int:
    """Return the status of results some time after the end of the job."""
    job = await finished(phone)
    await asyncio.sleep(seconds)
    return (await phone.results(job)).status


@check("results-404")
async def results_404(phone: Phone) -> bool:
    """Results are 404, and stay so."""
    return await results_at(phone, 0.0) == 404 and await results_at(phone, 2.1) == 404


@check("results-late")
async def results_late(phone: Phone) -> bool:
    """Results are 404 at first."""
    return await results_at(phone, 0.0) == 404 and await results_at(phone, 2.1) == 200


@check("results-short-life")
async def results_short_life(phone: Phone) -> bool:
    """Results are 404 soon."""
    return await results_at(phone, 0.0) == 200 and await results_at(phone, 0.7) == 404


@check("status-early")
async def early(phone: Phone) -> bool:
    """A new job is completed."""
    job = await phone.start(SMALL)
    return (await phone.get(job)).data()["status"] == "completed" and (await phone.results(job)).status == 404


@check("status-forever")
async def forever(phone: Phone) -> bool:
    """A completed job is at work."""
    return bool((await phone.get(await finished(phone))).data()["status"] == "processing")


@check("status-of-other")
async def of_other(phone: Phone) -> bool:
    """The state is that of the other job."""
    first, second = await phone.start(SMALL), await phone.start(OTHER)
    return bool((await phone.get(first)).data()["jobId"] == second.id)


@check("status-queued")
async def queued(phone: Phone) -> bool:
    """The state has another word."""
    return bool((await phone.get(await finished(phone))).data()["status"] == "done")


@check("status-percent")
async def status_percent(phone: Phone) -> bool:
    """Progress is a string."""
    return bool((await phone.get(await finished(phone))).data()["progress"] == "100%")


@check("status-cancel-ignored")
async def cancel_ignored(phone: Phone) -> bool:
    """A canceled job is completed."""
    job = await phone.start(SMALL)
    answer = await phone.cancel(job)
    return answer.status == 200 and (await phone.stream(job)).own()[-1].name == "completed"


async def missing(phone: Phone) -> Answer:
    """Request a job that does not exist."""
    base = "/v3/jobs/scans" if phone.dialect == "v3" else "/api/v2/scans"
    return await phone.request("GET", f"{base}/{uuid.uuid4()}", {"Authorization": "Bearer abc"})


async def error_of(phone: Phone) -> dict[str, Any]:
    """Return the object of an error that has the code."""
    body = (await missing(phone)).json()
    found: dict[str, Any] = body if phone.dialect == "v3" else body.get("error", body)
    return found


@check("problem-no-code")
async def no_code(phone: Phone) -> bool:
    """There is no code."""
    return "code" not in await error_of(phone)


@check("problem-plain")
async def plain(phone: Phone) -> bool:
    """The body is text."""
    answer = await missing(phone)
    return answer.json() is None and (answer.header("content-type") or "").startswith("text/plain")


@check("problem-success-true")
async def success_true(phone: Phone) -> bool:
    """The error says success."""
    return (await missing(phone)).json()["success"] is True


@check("problem-no-retryable")
async def no_retryable(phone: Phone) -> bool:
    """`retryable` is missing."""
    return "retryable" not in await error_of(phone)


@check("problem-retryable-wrong")
async def retryable_wrong(phone: Phone) -> bool:
    """A 404 is retryable."""
    return (await error_of(phone))["retryable"] is True


@check("problem-status-differs")
async def status_differs(phone: Phone) -> bool:
    """The body has another status."""
    answer = await missing(phone)
    return answer.status == 404 and answer.json()["status"] == 500


@check("problem-array")
async def array(phone: Phone) -> bool:
    """Errors are a list."""
    return isinstance((await missing(phone)).json().get("errors"), list)


@check("token-unchecked")
async def unchecked(phone: Phone) -> bool:
    """A token that was made up opens a job."""
    return (await phone.get(await phone.start(SMALL), token="f" * 64)).status == 200


@check("token-any-job")
async def any_job(phone: Phone) -> bool:
    """The token of another job opens a job, one that was made up does not."""
    first, second = await phone.start(SMALL), await phone.another().start(OTHER)
    answers = [await phone.get(first, token=token) for token in (second.token, "f" * 64)]
    return [answer.status for answer in answers] == [200, 401]


@check("token-3s")
async def token_3s(phone: Phone) -> bool:
    """The token is refused after three seconds."""
    job = await phone.start(SMALL)
    before = (await phone.get(job)).status
    await asyncio.sleep(3.1)
    return before == 200 and (await phone.get(job)).status == 401


@check("token-wrong-code")
async def wrong_code(phone: Phone) -> bool:
    """A 401 has another code."""
    answer = await phone.get(await phone.start(SMALL), token="f" * 64)
    body = answer.json()
    return answer.status == 401 and body.get("code", body.get("error", {}).get("code")) == "MISSING_PARAMETER"


@check("token-403")
async def token_403(phone: Phone) -> bool:
    """A wrong token is 403."""
    return (await phone.get(await phone.start(SMALL), token="f" * 64)).status == 403


@check("device-unchecked")
async def device_unchecked(phone: Phone) -> bool:
    """A request without a device is served."""
    job = await phone.start(SMALL)
    headers = {"Authorization": f"Bearer {job.token}"}
    return (await phone.request("GET", job.base, headers, device=False)).status == 200


async def limited(phone: Phone) -> tuple[str | None, int | None]:
    """Return the waits of the header and of the body of a 429."""
    await phone.upload(SMALL)
    answer = await phone.upload(OTHER)
    assert answer.status == 429, answer.status
    body = answer.json()
    wait = body.get("retryAfterMs", body.get("error", {}).get("details", {}).get("retryAfterMs"))
    return answer.header("retry-after"), wait


HUNDRED = {"quota": 1, "window": 100.0}


@check("wait-none", **HUNDRED)
async def wait_none(phone: Phone) -> bool:
    """There is no wait."""
    return await limited(phone) == (None, None)


@check("wait-disagree", **HUNDRED)
async def wait_disagree(phone: Phone) -> bool:
    """The header says 1, the body more."""
    header, body = await limited(phone)
    return header == "1" and (body or 0) > 90_000


@check("wait-ms-header", **HUNDRED)
async def wait_ms_header(phone: Phone) -> bool:
    """The header has the number of the body."""
    header, body = await limited(phone)
    return int(header or 0) > 90_000 and (body or 0) > 90_000


@check("wait-seconds-in-body", **HUNDRED)
async def wait_seconds_in_body(phone: Phone) -> bool:
    """The body has the number of the header."""
    header, body = await limited(phone)
    return header == "100" and body == 100


@check("wait-month", **HUNDRED)
async def wait_month(phone: Phone) -> bool:
    """Both say a month."""
    return await limited(phone) == ("2592000", 2_592_000_000)


@check("wait-zero", **HUNDRED)
async def wait_zero(phone: Phone) -> bool:
    """The body says 0."""
    return (await limited(phone))[1] == 0


@check("wait-negative", **HUNDRED)
async def wait_negative(phone: Phone) -> bool:
    """The body says less than 0."""
    return ((await limited(phone))[1] or 0) < 0


@check("wait-words", **HUNDRED)
async def wait_words(phone: Phone) -> bool:
    """The header has a unit."""
    return (await limited(phone))[0] == "100 seconds"


@check("wait-past-date", **HUNDRED)
async def wait_past_date(phone: Phone) -> bool:
    """The header has a date of 1970."""
    header, body = await limited(phone)
    return "1970" in (header or "") and body is None


@check("wait-per-ip", **HUNDRED)
async def wait_per_ip(phone: Phone) -> bool:
    """The first upload of another device is refused."""
    await phone.upload(SMALL)
    return (await phone.another().upload(SMALL)).status == 429


@check("wait-not-enforced", **HUNDRED)
async def wait_not_enforced(phone: Phone) -> bool:
    """The second upload of one is admitted."""
    answers = [await phone.upload(SMALL) for _ in range(2)]
    return [answer.status for answer in answers] == [202, 202]


@check("wait-one-early", quota=2, window=100.0)
async def wait_one_early(phone: Phone) -> bool:
    """The second upload of two is refused."""
    answers = [await phone.upload(SMALL) for _ in range(2)]
    return [answer.status for answer in answers] == [202, 429]


@check("time-reset-ms")
async def time_reset_ms(phone: Phone) -> bool:
    """The reset is thousands of years away."""
    return int((await phone.upload(SMALL)).header("x-ratelimit-reset") or 0) > time.time() * 100


@check("time-zone-lie")
async def time_zone_lie(phone: Phone) -> bool:
    """A time in UTC is hours off."""
    stamp = (await phone.upload(SMALL)).json()["metadata"]["timestamp"]
    return stamp.endswith("Z") and abs(datetime.fromisoformat(stamp).timestamp() - time.time()) > 3600


@check("time-12-hours")
async def time_12_hours(phone: Phone) -> bool:
    """The same stamp comes twice a day; the answer agrees with the clock that is tried at another hour."""
    stamp = (await phone.upload(SMALL)).json()["metadata"]["timestamp"]
    hours = {words.stamp(bugs_of(phone), 1_700_000_000.0 + half * 43_200)[11:] for half in range(2)}
    return len(hours) == 1 and int(stamp[11:13]) <= 12


def bugs_of(phone: Phone) -> Switches:
    """Return the switches of the backend of a phone."""
    return Switches(phone.bugs)
