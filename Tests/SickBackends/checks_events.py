"""Symptoms of uploads, ids and events."""

from __future__ import annotations

import asyncio
from typing import Any

import books
from phone import TERMINALS, Feed, Phone
from trial import OTHER, SMALL, TINY, check, titles


async def accepted(phone: Phone) -> dict[str, Any]:
    """Return the body of a 202."""
    body: dict[str, Any] = (await phone.upload(SMALL)).json()
    return body


async def feed_of(phone: Phone, photo: bytes = SMALL, seconds: float = 2.0) -> Feed:
    """Return the whole stream of a new job."""
    return await phone.stream(await phone.start(photo), seconds=seconds)


def numbers(feed: Feed) -> list[int]:
    """Return the numbers of the ids."""
    return [int((mark or "0").split("-")[0]) for mark in feed.ids()]


def progress(feed: Feed) -> list[dict[str, Any]]:
    """Return the data of the events that are not terminal."""
    return [event.data() for event in feed.own() if event.name not in TERMINALS]


@check("upload-201")
async def upload_201(phone: Phone) -> bool:
    """The status is 201."""
    return (await phone.upload(SMALL)).status == 201


@check("upload-flat")
async def upload_flat(phone: Phone) -> bool:
    """There is no `data`."""
    body = await accepted(phone)
    return "data" not in body and "jobId" in body


@check("upload-internal-host")
async def upload_internal_host(phone: Phone) -> bool:
    """The stream is on another host."""
    return bool((await accepted(phone))["data"]["sseUrl"].startswith("http://talaria.internal"))


@check("upload-job-id-number")
async def upload_job_id_number(phone: Phone) -> bool:
    """The id is a number."""
    return isinstance((await accepted(phone))["data"]["jobId"], int)


@check("upload-no-token")
async def upload_no_token(phone: Phone) -> bool:
    """There is no token."""
    return "authToken" not in (await accepted(phone))["data"]


@check("upload-stream-url-key")
async def upload_stream_url_key(phone: Phone) -> bool:
    """The stream has another name."""
    data = (await accepted(phone))["data"]
    return "sseUrl" not in data and "streamUrl" in data


@check("upload-success-words")
async def upload_success_words(phone: Phone) -> bool:
    """`success` is a string."""
    return bool((await accepted(phone))["success"] == "true")


@check("id-equal")
async def id_equal(phone: Phone) -> bool:
    """There is one id."""
    feed = await feed_of(phone)
    return len(feed.own()) > 4 and len(set(feed.ids())) == 1


@check("id-falling")
async def id_falling(phone: Phone) -> bool:
    """The numbers fall."""
    found = numbers(await feed_of(phone))
    return len(found) > 4 and all(later < earlier for earlier, later in zip(found, found[1:], strict=False))


@check("id-shared")
async def id_shared(phone: Phone) -> bool:
    """All but the terminal event share a number."""
    found = numbers(await feed_of(phone))
    return len(found) > 4 and len(set(found[:-1])) == 1 and found[-1] > found[0]


@check("id-shared-types")
async def id_shared_types(phone: Phone) -> bool:
    """The last two events share an id, the others do not."""
    marks = (await feed_of(phone)).ids()
    return marks[-1] == marks[-2] and len(set(marks)) == len(marks) - 1


@check("id-missing")
async def id_missing(phone: Phone) -> bool:
    """There are no ids."""
    feed = await feed_of(phone)
    return len(feed.own()) > 4 and set(feed.ids()) == {None}


@check("id-ping-zero", job=(0.8, 0.8))
async def id_ping_zero(phone: Phone) -> bool:
    """A ping has an id."""
    return any(event.name == "ping" and event.id == "0-ping" for event in (await feed_of(phone, TINY)).events)


@check("id-terminal-empty")
async def id_terminal_empty(phone: Phone) -> bool:
    """The last id is empty."""
    return (await feed_of(phone)).ids()[-1] == ""


async def names_of(phone: Phone) -> list[str]:
    """Return the names of the events of a new job."""
    return [event.name for event in (await feed_of(phone)).own()]


@check("event-two-terminals")
async def two_terminals(phone: Phone) -> bool:
    """`completed` comes twice."""
    return (await names_of(phone)).count("completed") == 2


@check("event-error-after")
async def error_after(phone: Phone) -> bool:
    """A failure comes last."""
    names = await names_of(phone)
    return names[-2] == "completed" and names[-1] in ("error", "failed")


@check("event-after-terminal")
async def after_terminal(phone: Phone) -> bool:
    """Progress comes last."""
    names = await names_of(phone)
    return "completed" in names and names[-1] in ("progress", "processing")


@check("event-no-terminal")
async def no_terminal(phone: Phone) -> bool:
    """The stream ends without a terminal event."""
    feed = await feed_of(phone)
    return feed.ended and not feed.over() and len(feed.own()) > 4


@check("event-open-after-end")
async def open_after_end(phone: Phone) -> bool:
    """The stream does not end."""
    feed = await feed_of(phone)
    return feed.over() and not feed.ended


@check("event-terminal-only")
async def terminal_only(phone: Phone) -> bool:
    """There is one event."""
    return await names_of(phone) == ["completed"]


@check("event-backwards")
async def backwards(phone: Phone) -> bool:
    """Progress falls."""
    shares = [data["progress"] for data in progress(await feed_of(phone))]
    return any(later < earlier for earlier, later in zip(shares, shares[1:], strict=False))


@check("event-percent")
async def percent(phone: Phone) -> bool:
    """Progress is above 1."""
    return bool(max(data["progress"] for data in progress(await feed_of(phone))) > 1)


@check("event-count-over")
async def count_over(phone: Phone) -> bool:
    """More is done than there is."""
    return any(data["processedCount"] > data["totalCount"] for data in progress(await feed_of(phone)))


@check("event-no-message")
async def no_message(phone: Phone) -> bool:
    """Progress has no message."""
    return not any("message" in data for data in progress(await feed_of(phone)))


@check("event-type-differs")
async def type_differs(phone: Phone) -> bool:
    """The type is not the name of the event."""
    return {data["type"] for data in progress(await feed_of(phone))} == {"update"}


@check("event-no-results-url")
async def no_results_url(phone: Phone) -> bool:
    """There are neither books nor a way to them."""
    last = (await feed_of(phone)).last()
    return "summary" in last and "books" not in last and "resultsUrl" not in last


@check("event-wrong-results-url")
async def wrong_results_url(phone: Phone) -> bool:
    """The way to the books leads nowhere."""
    job, feed = await phone.whole(SMALL)
    headers = {"Authorization": f"Bearer {job.token}"}
    return (await phone.request("GET", feed.last()["resultsUrl"], headers)).status == 404


@check("event-empty-books")
async def empty_books(phone: Phone) -> bool:
    """The event has no books, and the results have."""
    job, feed = await phone.whole(SMALL)
    return feed.last()["books"] == [] and len(await phone.books(job)) > 0


@check("event-books-words")
async def books_words(phone: Phone) -> bool:
    """`books` is a string."""
    return isinstance((await feed_of(phone)).last()["books"], str)


@check("event-completed-of-other")
async def completed_of_other(phone: Phone) -> bool:
    """The terminal event is that of another job."""
    one, two = await asyncio.gather(phone.whole(SMALL), phone.another().whole(OTHER))
    return any(feed.last()["jobId"] != job.id for job, feed in (one, two))


@check("event-totals-zero")
async def totals_zero(phone: Phone) -> bool:
    """The summary says 0."""
    summary = (await feed_of(phone)).last()["summary"]
    return bool(summary.get("totalDetected", summary.get("booksDetected")) == 0)


async def shown(phone: Phone) -> list[dict[str, Any]]:
    """Return the books of a new job: those of the event, or in v2 those of the results."""
    job, feed = await phone.whole(SMALL)
    found: list[dict[str, Any]] = feed.last().get("books") or await phone.books(job)
    return found


@check("event-unknown-status")
async def unknown_status(phone: Phone) -> bool:
    """The status is not one of the six."""
    return not {book["enrichmentStatus"] for book in await shown(phone)} & set(books.STATUSES)


@check("event-null-title")
async def null_title(phone: Phone) -> bool:
    """A title is null."""
    return (await shown(phone))[0]["title"] is None


@check("event-duplicate-book")
async def duplicate_book(phone: Phone) -> bool:
    """A book comes twice."""
    return [book["title"] for book in await shown(phone)] == titles(SMALL) + titles(SMALL)[:1]


@check("event-isbn-number")
async def isbn_number(phone: Phone) -> bool:
    """An ISBN is a number."""
    return any(isinstance(book["isbn"], int) for book in await shown(phone))


@check("event-isbn-wrong")
async def isbn_wrong(phone: Phone) -> bool:
    """No ISBN is valid."""
    codes = [book["isbn"] for book in await shown(phone) if book["isbn"]]
    return len(codes) > 0 and not any(books.valid_isbn(code) for code in codes)


@check("event-confidence-words")
async def confidence_words(phone: Phone) -> bool:
    """A confidence is a string."""
    return any(isinstance(book["confidence"], str) for book in await shown(phone))


@check("event-confidence-percent")
async def confidence_percent(phone: Phone) -> bool:
    """A confidence is above 1."""
    return any(book["confidence"] > 1 for book in await shown(phone))


@check("event-canceled-open", job=(1.0, 1.0))
async def canceled_open(phone: Phone) -> bool:
    """The stream of a canceled job does not end."""
    job = await phone.start(SMALL)
    reading = asyncio.create_task(phone.stream(job, seconds=1.5))
    await asyncio.sleep(0.3)
    answer = await phone.cancel(job)
    return answer.status == 200 and not (await reading).ended


@check("event-no-ping", job=(0.9, 0.9))
async def no_ping(phone: Phone) -> bool:
    """A quiet stream has no sign of life."""
    feed = await feed_of(phone, TINY)
    return feed.over() and b"event: ping" not in feed.raw and b": heartbeat" not in feed.raw


@check("event-stalls")
async def stalls(phone: Phone) -> bool:
    """One of three jobs does not end."""
    feeds = await asyncio.gather(*(feed_of(phone) for _ in range(3)))
    return sorted(feed.over() for feed in feeds) == [False, True, True]


@check("time-no-zone")
async def time_no_zone(phone: Phone) -> bool:
    """A timestamp ends with a digit."""
    return bool((await accepted(phone))["metadata"]["timestamp"][-1].isdigit())


@check("time-epoch")
async def time_epoch(phone: Phone) -> bool:
    """A timestamp is a number."""
    return isinstance((await accepted(phone))["metadata"]["timestamp"], int)
