"""Symptoms of resumed streams, of retries and of removal."""

from __future__ import annotations

import asyncio

from phone import Answer, Feed, Phone, Ticket
from trial import OTHER, SMALL, TINY, check, titles


async def resumed(phone: Phone, seconds: float = 0.8) -> tuple[Feed, Feed]:
    """Read a stream to its end, and read it again from behind its third event."""
    job, first = await phone.whole(SMALL)
    assert len(first.own()) >= 6, "the stream began too late"
    first.events = first.own()
    return first, await phone.stream(job, first.events[2].id, seconds)


@check("resume-ignored")
async def resume_ignored(phone: Phone) -> bool:
    """Only the last event comes."""
    _, again = await resumed(phone)
    return len(again.own()) == 1 and again.over()


@check("resume-live-only")
async def resume_live_only(phone: Phone) -> bool:
    """Nothing comes."""
    _, again = await resumed(phone)
    return again.status == 200 and not again.own() and not again.ended


@check("resume-one-early")
async def resume_one_early(phone: Phone) -> bool:
    """The third event comes again."""
    first, again = await resumed(phone)
    return again.ids() == first.ids()[2:]


@check("resume-one-late")
async def resume_one_late(phone: Phone) -> bool:
    """The fourth event does not come."""
    first, again = await resumed(phone)
    return again.ids() == first.ids()[4:]


@check("resume-from-start")
async def resume_from_start(phone: Phone) -> bool:
    """All events come."""
    first, again = await resumed(phone)
    return again.ids()[-len(first.ids()):] == first.ids()


@check("resume-changed-data")
async def resume_changed_data(phone: Phone) -> bool:
    """The same ids come with other data."""
    first, again = await resumed(phone)
    return again.ids() == first.ids()[3:] and again.events != first.events[3:]


@check("resume-half-books")
async def resume_half_books(phone: Phone) -> bool:
    """The terminal event has fewer books than before."""
    first, again = await resumed(phone)
    return 0 < len(again.last()["books"]) < len(first.last()["books"])


@check("resume-never-ends")
async def resume_never_ends(phone: Phone) -> bool:
    """The stream stays open behind its terminal event."""
    _, again = await resumed(phone)
    return again.over() and not again.ended


@check("resume-no-terminal")
async def resume_no_terminal(phone: Phone) -> bool:
    """The stream ends without a terminal event."""
    _, again = await resumed(phone)
    return again.status == 200 and again.ended and not again.over()


@check("resume-ids-restart")
async def resume_ids_restart(phone: Phone) -> bool:
    """The ids are small numbers."""
    _, again = await resumed(phone)
    return bool(again.ids()) and all(len(mark or "long id") < 3 for mark in again.ids())


@check("resume-no-ids")
async def resume_no_ids(phone: Phone) -> bool:
    """There are no ids."""
    _, again = await resumed(phone)
    return bool(again.ids()) and all(mark is None for mark in again.ids())


@check("resume-newest-first")
async def resume_newest_first(phone: Phone) -> bool:
    """The terminal event comes first."""
    first, again = await resumed(phone)
    return len(first.events) > 4 and again.own()[0].name == "completed"


@check("resume-unknown-id-500")
async def resume_unknown(phone: Phone) -> bool:
    """An id that nobody knows gets 500."""
    job, _ = await phone.whole(SMALL)
    return (await phone.stream(job, "1-progress")).status == 500


@check("resume-404")
async def resume_404(phone: Phone) -> bool:
    """A resumed stream gets 404."""
    return (await resumed(phone))[1].status == 404


@check("resume-204")
async def resume_204(phone: Phone) -> bool:
    """A resumed stream gets 204."""
    return (await resumed(phone))[1].status == 204


@check("token-once")
async def token_once(phone: Phone) -> bool:
    """The second stream gets 401."""
    return (await resumed(phone))[1].status == 401


@check("retry-first-photo")
async def retry_first_photo(phone: Phone) -> bool:
    """The second photo has the books of the first."""
    await phone.whole(SMALL)
    job, _ = await phone.whole(OTHER)
    return [book["title"] for book in await phone.books(job)] == titles(SMALL)


async def twice(phone: Phone) -> tuple[Ticket, Answer]:
    """Scan a photo, remove the job, and upload the photo again."""
    job, _ = await phone.whole(SMALL)
    await phone.delete(job)
    return job, await phone.upload(SMALL)


@check("retry-dead-job")
async def retry_dead_job(phone: Phone) -> bool:
    """The second upload gets the job that is removed."""
    job, again = await twice(phone)
    return bool(again.data()["jobId"] == job.id)


@check("retry-doubles-books")
async def retry_doubles(phone: Phone) -> bool:
    """The second job has every book twice."""
    _, again = await twice(phone)
    await phone.stream(phone.ticket(again))
    return len(await phone.books(phone.ticket(again))) == 2 * len(titles(SMALL))


@check("retry-no-books")
async def retry_no_books(phone: Phone) -> bool:
    """The second job has no books."""
    _, again = await twice(phone)
    await phone.stream(phone.ticket(again))
    return not await phone.books(phone.ticket(again))


@check("retry-conflict")
async def retry_conflict(phone: Phone) -> bool:
    """The second upload gets 409."""
    return (await twice(phone))[1].status == 409


@check("retry-kills-first")
async def retry_kills_first(phone: Phone) -> bool:
    """The first job does not end when there is a second."""
    job = await phone.start(SMALL)
    await phone.start(OTHER)
    return not (await phone.stream(job, seconds=1.5)).over()


@check("retry-refused-counts", quota=1, window=1.0)
async def retry_refused_counts(phone: Phone) -> bool:
    """An upload after the window is refused because of one within it."""
    await phone.upload(SMALL)
    await asyncio.sleep(0.6)
    refused = await phone.upload(SMALL)
    await asyncio.sleep(0.6)
    return refused.status == 429 and (await phone.upload(SMALL)).status == 429


@check("delete-nothing")
async def delete_nothing(phone: Phone) -> bool:
    """The job is there after its removal."""
    job, _ = await phone.whole(SMALL)
    await phone.delete(job)
    return (await phone.get(job)).status == 200


@check("delete-stream-open", job=(1.0, 1.0))
async def delete_stream_open(phone: Phone) -> bool:
    """The stream of a removed job does not end."""
    job = await phone.start(SMALL)
    reading = asyncio.create_task(phone.stream(job, seconds=1.5))
    await asyncio.sleep(0.3)
    gone = await phone.delete(job)
    return gone.status in (200, 204) and not (await reading).ended


@check("delete-results-stay")
async def delete_results_stay(phone: Phone) -> bool:
    """Results are there after the removal, and the job is not."""
    job, _ = await phone.whole(SMALL)
    await phone.delete(job)
    return (await phone.results(job)).status == 200 and (await phone.get(job)).status == 410


async def deleted_twice(phone: Phone) -> int:
    """Return the status of the second removal."""
    job, _ = await phone.whole(SMALL)
    await phone.delete(job)
    return (await phone.delete(job)).status


@check("delete-again-500")
async def delete_again_500(phone: Phone) -> bool:
    """The second removal gets 500."""
    return await deleted_twice(phone) == 500


@check("delete-again-401")
async def delete_again_401(phone: Phone) -> bool:
    """The second removal gets 401."""
    return await deleted_twice(phone) == 401


@check("delete-405")
async def delete_405(phone: Phone) -> bool:
    """The removal gets 405."""
    return (await phone.delete(await phone.start(SMALL))).status == 405


@check("delete-500-but-done")
async def delete_500(phone: Phone) -> bool:
    """The removal gets 500, and the job is gone."""
    job, _ = await phone.whole(SMALL)
    return (await phone.delete(job)).status == 500 and (await phone.get(job)).status == 410


@check("delete-slow")
async def delete_slow(phone: Phone) -> bool:
    """The removal takes longer than two seconds."""
    return (await phone.delete(await phone.start(SMALL))).status == 0


@check("delete-all-of-device")
async def delete_all(phone: Phone) -> bool:
    """The removal of one job removes another."""
    (first, _), (second, _) = await asyncio.gather(phone.whole(SMALL), phone.whole(OTHER))
    await phone.delete(first)
    return (await phone.results(second)).status == 410


@check("delete-on-end")
async def delete_on_end(phone: Phone) -> bool:
    """Results are gone although nobody removed the job."""
    job, _ = await phone.whole(SMALL)
    return (await phone.results(job)).status == 410


@check("delete-leaks-worker")
async def delete_leaks(phone: Phone) -> bool:
    """After four removals a job does nothing."""
    for _ in range(4):
        await phone.delete(await phone.start(TINY))
    _, feed = await phone.whole(SMALL)
    return not feed.over()
