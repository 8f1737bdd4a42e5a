"""Symptoms of load and of many books."""

from __future__ import annotations

import asyncio

import books
from phone import Feed, Phone, Ticket
from trial import BIG, OTHER, SEVERAL, SMALL, TINY, check, titles


async def crowd(phone: Phone, count: int) -> list[tuple[bytes, Phone, Ticket, Feed]]:
    """Let several phones scan different photos at the same time."""
    phones = [phone.another() for _ in range(count)]
    done = await asyncio.gather(*(each.whole(found) for each, found in zip(phones, SEVERAL, strict=False)))
    return [(found, each, job, feed) for found, each, (job, feed) in zip(SEVERAL, phones, done, strict=False)]


@check("load-id-clock")
async def id_clock(phone: Phone) -> bool:
    """Uploads of the same moment share an id."""
    answers = await asyncio.gather(*(phone.another().upload(found) for found in SEVERAL))
    return len({answer.data()["jobId"] for answer in answers}) < len(answers)


@check("load-lost-update")
async def lost_update(phone: Phone) -> bool:
    """Some of several completed jobs have no results."""
    answers = [await each.results(job) for _, each, job, _ in await crowd(phone, 4)]
    return any(answer.status == 404 for answer in answers)


@check("load-cache-device")
async def cache_device(phone: Phone) -> bool:
    """The second job gets the results of the first."""
    other = phone.another()
    (first, _), (second, _) = await asyncio.gather(phone.whole(SMALL), other.whole(OTHER))
    await phone.results(first)
    return bool((await other.results(second)).data()["jobId"] != second.id)


@check("load-latency")
async def latency(phone: Phone) -> bool:
    """A small request is slow after thirty jobs."""
    for _ in range(30):
        await asyncio.wait_for(phone.upload(TINY), 5)
    answers = [await phone.request("GET", "/v3/jobs/scans/none") for _ in range(3)]
    return min(answer.took for answer in answers) > 0.25


@check("load-misrouted")
async def misrouted(phone: Phone) -> bool:
    """A stream has an event of another job."""
    return any(event.data().get("jobId") != job.id for _, _, job, feed in await crowd(phone, 4)
               for event in feed.own())


@check("load-scratch")
async def scratch(phone: Phone) -> bool:
    """A job has books that are not on its photo."""
    for found, each, job, _ in await crowd(phone, 4):
        if [book["title"] for book in await each.books(job)] != titles(found):
            return True
    return False


@check("load-token-swap")
async def token_swap(phone: Phone) -> bool:
    """The token of a 202 does not open its job."""
    answers = await asyncio.gather(*(phone.upload(found) for found in SEVERAL[:4]))
    states = [await phone.get(phone.ticket(answer)) for answer in answers]
    return any(state.status == 401 for state in states)


@check("load-foreign-progress")
async def foreign_progress(phone: Phone) -> bool:
    """Progress has the id of another job."""
    return any(event.data()["jobId"] != job.id for _, _, job, feed in await crowd(phone, 3)
               for event in feed.own() if event.name in ("progress", "processing"))


@check("load-four-streams")
async def four_streams(phone: Phone) -> bool:
    """One of six streams gets nothing."""
    return any(not feed.own() for _, _, _, feed in await crowd(phone, 6))


@check("load-one-worker", job=(0.5, 0.5))
async def one_worker(phone: Phone) -> bool:
    """The last of four jobs takes as long as three."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    await crowd(phone, 4)
    return loop.time() - began > 1.5


@check("load-503", job=(1.0, 1.0))
async def unavailable(phone: Phone) -> bool:
    """An upload gets 503."""
    answers = [await phone.another().upload(found) for found in SEVERAL]
    return any(answer.status == 503 and answer.header("retry-after") is None for answer in answers)


@check("many-20")
async def many_20(phone: Phone) -> bool:
    """Twenty books are shown."""
    job, _ = await phone.whole(BIG)
    return len(await phone.books(job)) == 20


@check("many-inline-20")
async def many_inline(phone: Phone) -> bool:
    """The event has twenty books, the results have all."""
    job, feed = await phone.whole(BIG)
    return len(feed.last()["books"]) == 20 and len(await phone.books(job)) == len(titles(BIG))


@check("many-page-lost")
async def many_page(phone: Phone) -> bool:
    """The books from 11 to 20 are missing."""
    job, _ = await phone.whole(BIG)
    return [book["title"] for book in await phone.books(job)] == titles(BIG)[:10] + titles(BIG)[20:]


@check("many-page-overlap")
async def many_overlap(phone: Phone) -> bool:
    """There are more books than on the photo, and the different ones are right."""
    job, _ = await phone.whole(BIG)
    shown = [book["title"] for book in await phone.books(job)]
    return len(shown) > len(titles(BIG)) and list(dict.fromkeys(shown)) == titles(BIG)


@check("many-last-page-short")
async def many_last_page(phone: Phone) -> bool:
    """Only full pages of ten are there."""
    job, _ = await phone.whole(BIG)
    return len(await phone.books(job)) == len(books.of_photo(BIG)) // 10 * 10


@check("many-line-split")
async def many_line_split(phone: Phone) -> bool:
    """The data of the terminal event is no JSON."""
    _, feed = await phone.whole(BIG)
    return feed.over() and not feed.last()


@check("many-stalls")
async def many_stalls(phone: Phone) -> bool:
    """The job does not end."""
    _, feed = await phone.whole(BIG)
    return not feed.over()
