"""Symptoms that only v2 has."""

from __future__ import annotations

import itertools
import time
from datetime import datetime
from typing import Any

import books
from phone import Phone, Ticket
from trial import SMALL, TINY, check


def barcode(number: int) -> str:
    """Return a valid ISBN."""
    twelve = f"978{number:09d}"
    return twelve + books.check_digit(twelve)


KNOWN = list(itertools.islice((code for code in map(barcode, itertools.count()) if books.of_isbn(code)), 60))
UNKNOWN = next(code for code in map(barcode, itertools.count()) if not books.of_isbn(code))
ROWS = ["Title,Author,ISBN", f'"Zen, and Motorcycles",Pirsig,{KNOWN[0]}', f"Dune,Herbert,{KNOWN[1]}",
        f"Dune,Herbert,{KNOWN[1]}", "Broken,Nobody,123", f"Kindred,Butler,{KNOWN[2]}"]


async def batch(phone: Phone, codes: list[str]) -> tuple[Ticket, dict[str, Any], list[dict[str, Any]]]:
    """Look books up as a job; return the job, its terminal event and its books."""
    job = phone.ticket(await phone.post("/api/batch-enrich", {"barcodes": codes}))
    feed = await phone.stream(job)
    return job, feed.last(), await phone.books(job)


async def imported(phone: Phone) -> tuple[dict[str, Any], dict[str, Any]]:
    """Import a library file; return the terminal event and the results."""
    job = phone.ticket(await phone.library("\n".join(ROWS) + "\n"))
    feed = await phone.stream(job)
    return feed.last(), (await phone.results(job)).data()


@check("time-expiry-past")
async def expiry_past(phone: Phone) -> bool:
    """Results expire before they are there."""
    _, feed = await phone.whole(SMALL)
    return datetime.fromisoformat(feed.last()["expiresAt"]).timestamp() < time.time()


@check("v2-no-envelope")
async def no_envelope(phone: Phone) -> bool:
    """There is no `success`."""
    body = (await phone.upload(SMALL)).json()
    return "success" not in body and "jobId" in body


@check("v2-token-gone")
async def token_gone(phone: Phone) -> bool:
    """There is no token."""
    return not {"authToken", "token"} & (await phone.upload(SMALL)).data().keys()


@check("v2-wrong-folder")
async def wrong_folder(phone: Phone) -> bool:
    """The stream is not where the 202 says."""
    data = (await phone.upload(SMALL)).data()
    headers = {"Authorization": f"Bearer {data['token']}"}
    return (await phone.request("GET", data["sseUrl"], headers, seconds=1.0)).status == 404


@check("v2-first-event", job=(2.0, 2.0))
async def first_event(phone: Phone) -> bool:
    """A new job does not begin with `initialized`."""
    feed = await phone.stream(await phone.start(SMALL), seconds=0.4)
    return feed.own()[0].name == "processing" and (feed.ids()[0] or "").endswith("-initial")


@check("v2-heartbeat-data", job=(0.9, 0.9))
async def heartbeat_data(phone: Phone) -> bool:
    """A heartbeat is an event without a name."""
    _, feed = await phone.whole(TINY)
    return any(event.name == "message" and event.text == "heartbeat" for event in feed.events)


@check("v2-failures-hidden")
async def failures_hidden(phone: Phone) -> bool:
    """A row with a flaw is no failure."""
    last, results = await imported(phone)
    return last["summary"]["failureCount"] == 0 and len(results["errors"]) == 1


@check("v2-batch-50")
async def batch_50(phone: Phone) -> bool:
    """Fifty of sixty books are there."""
    return len((await batch(phone, KNOWN))[2]) == 50


@check("v2-batch-shifted")
async def batch_shifted(phone: Phone) -> bool:
    """A book has the title of the next."""
    found = (await batch(phone, KNOWN[:5]))[2]
    right = [books.of_isbn(code) for code in KNOWN[:5]]
    shown = [book["title"] for book in found]
    expected = [book.title for book in right if book]
    return shown != expected and shown == expected[1:] + expected[:1]


@check("v2-import-comma")
async def import_comma(phone: Phone) -> bool:
    """A title ends at its comma."""
    _, results = await imported(phone)
    return "Zen, and Motorcycles" not in [book["title"] for book in results["books"]]


@check("v2-import-last-row")
async def import_last_row(phone: Phone) -> bool:
    """There are four rows."""
    return bool((await imported(phone))[1]["totalCount"] == len(ROWS) - 2)


@check("v2-import-duplicates")
async def import_duplicates(phone: Phone) -> bool:
    """A book is there twice."""
    shown = [book["title"] for book in (await imported(phone))[1]["books"]]
    return shown.count("Dune") == 2


@check("v2-import-row-numbers")
async def import_row_numbers(phone: Phone) -> bool:
    """The fourth row is the fifth."""
    return [flaw["row"] for flaw in (await imported(phone))[1]["errors"]] == [5]


@check("v2-import-totals")
async def import_totals(phone: Phone) -> bool:
    """All rows are new books."""
    _, results = await imported(phone)
    return bool(results["booksCreated"] == results["totalCount"] > len(results["books"]))


@check("v2-isbn-cut")
async def isbn_cut(phone: Phone) -> bool:
    """The ISBN has ten digits of thirteen."""
    answer = await phone.post("/api/v2/books/enrich", {"barcode": KNOWN[0]})
    return bool(answer.data()["isbn"] == KNOWN[0][3:])


@check("v2-unknown-book-200")
async def unknown_book(phone: Phone) -> bool:
    """A book that nobody has is found."""
    return (await phone.post("/api/v2/books/enrich", {"barcode": UNKNOWN})).status == 200
