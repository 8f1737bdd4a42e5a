"""Symptoms of jobs that are followed by WebSocket."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime

from checks_v2 import KNOWN
from phone import Phone
from talk import Talk, pong, talk
from trial import BIG, OTHER, SMALL, TINY, check, titles


async def whole(phone: Phone, photo: bytes = SMALL) -> Talk:
    """Upload a photo and follow its job to the close."""
    return await talk(phone, await phone.start(photo))


async def returned(phone: Phone) -> Talk:
    """Leave a job after it has said something, and come back."""
    job = await phone.start(SMALL)
    first = await talk(phone, job, until="job_progress")
    assert first.kinds()[-1] == "job_progress", first.raw
    return await talk(phone, job, again=True)


@check("ws-token-unchecked")
async def token_unchecked(phone: Phone) -> bool:
    """A token that nobody has opens."""
    return (await talk(phone, await phone.start(SMALL), token="0" * 64, seconds=0.2)).status == 101


@check("ws-token-any-job")
async def token_any_job(phone: Phone) -> bool:
    """The token of another job opens."""
    one, two = await phone.start(SMALL), await phone.start(OTHER)
    return (await talk(phone, one, token=two.token, seconds=0.2)).status == 101


@check("ws-token-again")
async def token_again(phone: Phone) -> bool:
    """The token opens twice."""
    job = await phone.start(SMALL)
    assert (await talk(phone, job, seconds=0.2)).status == 101
    return (await talk(phone, job, seconds=0.2)).status == 101


@check("ws-protocol-none")
async def protocol_none(phone: Phone) -> bool:
    """No subprotocol is chosen."""
    told = await talk(phone, await phone.start(SMALL), seconds=0.2)
    return not told.error and told.protocol is None


@check("ws-protocol-wrong")
async def protocol_wrong(phone: Phone) -> bool:
    """The client refuses the subprotocol."""
    return (await talk(phone, await phone.start(SMALL), seconds=0.2)).error == "NegotiationError"


@check("ws-accept-key")
async def accept_key(phone: Phone) -> bool:
    """The client refuses the answer to its key."""
    return (await talk(phone, await phone.start(SMALL), seconds=0.2)).error == "InvalidHeaderValue"


@check("ws-plain-200")
async def plain_200(phone: Phone) -> bool:
    """There is no upgrade, and no refusal."""
    job = await phone.start(SMALL)
    return (await phone.request("GET", f"/ws/progress?jobId={job.id}")).status == 200


@check("ws-url-other")
async def url_other(phone: Phone) -> bool:
    """The address is that of another job."""
    await phone.start(SMALL)
    data = (await phone.upload(OTHER)).data()
    return not data["websocketUrl"].endswith(f"jobId={data['jobId']}")


@check("ws-deleted-opens")
async def deleted_opens(phone: Phone) -> bool:
    """A removed job is complete."""
    job = await phone.start(SMALL)
    await talk(phone, job)
    await phone.delete(job)
    return (await talk(phone, job, again=True)).kinds() == ["job_complete"]


@check("ws-before-ready")
async def before_ready(phone: Phone) -> bool:
    """Messages come to a client that has said nothing."""
    return "job_started" in (await talk(phone, await phone.start(SMALL), ready=False, seconds=0.6)).kinds()


@check("ws-no-ready-ack")
async def no_ready_ack(phone: Phone) -> bool:
    """The first message is about the job."""
    return (await whole(phone)).messages()[0]["type"] == "job_started"


@check("ws-ready-unseen")
async def ready_unseen(phone: Phone) -> bool:
    """Nothing comes for a while."""
    told = await talk(phone, await phone.start(SMALL), seconds=0.8)
    return told.status == 101 and not told.raw


@check("ws-lost")
async def lost(phone: Phone) -> bool:
    """There is one message fewer than the job has."""
    return len((await whole(phone)).own()) == 4 + len(titles(SMALL)) - 1


@check("ws-slow")
async def slow(phone: Phone) -> bool:
    """A job of 0.35 s is told in more than a second."""
    moments = (await whole(phone)).moments
    return moments[-1] - moments[0] > 1.0


@check("ws-swapped")
async def swapped(phone: Phone) -> bool:
    """A message is older than the one before it."""
    times = [message["timestamp"] for message in (await whole(phone)).own()]
    return times != sorted(times)


@check("ws-foreign", job=(1.0, 1.0))
async def foreign(phone: Phone) -> bool:
    """A message names another job."""
    one, two = await phone.start(SMALL), await phone.start(OTHER)
    told = await asyncio.gather(talk(phone, one), talk(phone, two))
    return any(message["jobId"] != job.id for job, part in zip((one, two), told, strict=True) for message in part.own())


@check("ws-foreign-counts", job=(1.0, 1.0))
async def foreign_counts(phone: Phone) -> bool:
    """A job with one photo has seven units of work."""
    job = await phone.start(SMALL)
    await phone.post("/api/batch-enrich", {"barcodes": KNOWN[:7]})
    return 7 in [message["payload"].get("totalCount") for message in (await talk(phone, job)).own()]


@check("ws-backwards")
async def backwards(phone: Phone) -> bool:
    """Progress falls."""
    shares = [message["payload"]["progress"] for message in (await whole(phone)).own()
              if message["type"] == "job_progress"]
    return shares != sorted(shares)


@check("ws-percent")
async def percent(phone: Phone) -> bool:
    """Progress is above 1."""
    return (await whole(phone)).payload("job_progress")["progress"] > 1


@check("ws-not-json")
async def not_json(phone: Phone) -> bool:
    """No message can be read."""
    told = await whole(phone)
    return bool(told.raw) and not told.messages()


@check("ws-joined")
async def joined(phone: Phone) -> bool:
    """A message has two lines."""
    return any("\n" in str(text) for text in (await whole(phone)).raw)


@check("ws-type-unknown")
async def type_unknown(phone: Phone) -> bool:
    """Progress has a name of its own."""
    kinds = (await whole(phone)).kinds()
    return "progress" in kinds and "job_progress" not in kinds


@check("ws-no-job-id")
async def no_job_id(phone: Phone) -> bool:
    """No message names its job."""
    return not any("jobId" in message for message in (await whole(phone)).messages())


@check("ws-flat")
async def flat(phone: Phone) -> bool:
    """There is no payload."""
    return not any("payload" in message for message in (await whole(phone)).messages())


@check("ws-version")
async def version(phone: Phone) -> bool:
    """The version is none of the contract."""
    return {message["version"] for message in (await whole(phone)).messages()} == {"4"}


@check("ws-seconds")
async def seconds(phone: Phone) -> bool:
    """A timestamp has ten digits."""
    return all(len(str(message["timestamp"])) == 10 for message in (await whole(phone)).messages())


@check("ws-time-local")
async def time_local(phone: Phone) -> bool:
    """A timestamp is hours behind."""
    return all(6 < time.time() / 3600 - message["timestamp"] / 3_600_000 < 8 for message in (await whole(phone)).messages())


@check("ws-pipeline")
async def pipeline(phone: Phone) -> bool:
    """A batch is a scan."""
    job = phone.ticket(await phone.post("/api/batch-enrich", {"barcodes": KNOWN[:3]}))
    return {message["pipeline"] for message in (await talk(phone, job)).messages()} == {"ai_scan"}


@check("ws-binary")
async def binary(phone: Phone) -> bool:
    """A message is no text."""
    return all(isinstance(text, bytes) for text in (await whole(phone)).raw)


@check("ws-no-terminal")
async def no_terminal(phone: Phone) -> bool:
    """The end is a close."""
    told = await whole(phone)
    return told.code == 1000 and told.kinds()[-1] == "job_progress"


@check("ws-complete-twice")
async def complete_twice(phone: Phone) -> bool:
    """There are two ends."""
    return (await whole(phone)).kinds()[-2:] == ["job_complete", "job_complete"]


@check("ws-error-after")
async def error_after(phone: Phone) -> bool:
    """A failure is behind the end."""
    return (await whole(phone)).kinds()[-2:] == ["job_complete", "error"]


@check("ws-progress-after")
async def progress_after(phone: Phone) -> bool:
    """Progress is behind the end."""
    return (await whole(phone)).kinds()[-2:] == ["job_complete", "job_progress"]


@check("ws-complete-renamed")
async def complete_renamed(phone: Phone) -> bool:
    """The end has another name."""
    return (await whole(phone)).kinds()[-1] == "job_completed"


@check("ws-complete-early", job=(1.0, 1.0))
async def complete_early(phone: Phone) -> bool:
    """The job is complete, and has no results."""
    job = await phone.start(SMALL)
    told = await talk(phone, job, until="job_complete")
    return told.kinds()[-1] == "job_complete" and (await phone.results(job)).status == 404


@check("ws-summary-counts")
async def summary_counts(phone: Phone) -> bool:
    """One more book was found than there is."""
    summary = (await whole(phone)).payload("job_complete")["summary"]
    return bool(summary["totalDetected"] == len(titles(SMALL)) + 1)


@check("ws-resource-other")
async def resource_other(phone: Phone) -> bool:
    """The results are those of another job."""
    other, job = await phone.start(OTHER), await phone.start(SMALL)
    summary = (await talk(phone, job)).payload("job_complete")["summary"]
    return bool(summary["resourceId"] == f"job-results:{other.id}")


@check("ws-expiry-past")
async def expiry_past(phone: Phone) -> bool:
    """Results expire before they are there."""
    return datetime.fromisoformat((await whole(phone)).payload("job_complete")["expiresAt"]).timestamp() < time.time()


@check("ws-results-short")
async def results_short(phone: Phone) -> bool:
    """The last book is missing."""
    job = await phone.start(SMALL)
    await talk(phone, job)
    return [book["title"] for book in await phone.books(job)] == titles(SMALL)[:-1]


@check("ws-close-1011")
async def close_1011(phone: Phone) -> bool:
    """A job that has completed is closed as a failure."""
    told = await whole(phone)
    return told.code == 1011 and told.kinds()[-1] == "job_complete"


@check("ws-abort")
async def abort(phone: Phone) -> bool:
    """There is no close frame."""
    told = await whole(phone)
    return told.code == 1006 and told.kinds()[-1] == "job_complete"


@check("ws-never-closed")
async def never_closed(phone: Phone) -> bool:
    """The connection is open behind its end."""
    told = await whole(phone)
    return told.code is None and told.kinds()[-1] == "job_complete"


@check("ws-no-ping", job=(0.9, 0.9))
async def no_ping(phone: Phone) -> bool:
    """A quiet connection is quiet."""
    return "ping" not in [message["type"] for message in (await whole(phone, TINY)).messages()]


@check("ws-no-pong", job=(0.9, 0.9))
async def no_pong(phone: Phone) -> bool:
    """A ping frame has no answer."""
    return not await pong(phone, await phone.start(TINY))


@check("ws-idle-cut", job=(2.0, 2.0))
async def idle_cut(phone: Phone) -> bool:
    """A pause ends the connection."""
    told = await whole(phone, TINY)
    return told.code == 1006 and "job_complete" not in told.kinds()


@check("ws-four", job=(1.2, 1.2))
async def four(phone: Phone) -> bool:
    """The fifth connection has nothing about its job."""
    jobs = [await phone.start(BIG) for _ in range(5)]
    told = await asyncio.gather(*(talk(phone, job) for job in jobs))
    return min(len(part.own()) for part in told) == 0


@check("ws-return-401")
async def return_401(phone: Phone) -> bool:
    """A client cannot come back."""
    job = await phone.start(SMALL)
    assert (await talk(phone, job, until="job_started")).status == 101
    return (await talk(phone, job, again=True)).status == 401


@check("ws-return-silent", job=(1.0, 1.0))
async def return_silent(phone: Phone) -> bool:
    """The state does not come."""
    kinds = (await returned(phone)).kinds()
    return "job_progress" in kinds and "reconnected" not in kinds


@check("ws-return-forgets", job=(1.0, 1.0))
async def return_forgets(phone: Phone) -> bool:
    """Nothing was done."""
    return bool((await returned(phone)).payload("reconnected")["progress"] == 0)


@check("ws-return-anew", job=(1.0, 1.0))
async def return_anew(phone: Phone) -> bool:
    """All messages come again."""
    return (await returned(phone)).kinds()[0] == "job_started"


@check("ws-return-deaf", job=(1.0, 1.0))
async def return_deaf(phone: Phone) -> bool:
    """Nothing follows the state."""
    told = await returned(phone)
    return told.kinds() == ["reconnected"] and told.code is None


@check("ws-return-snake", job=(1.0, 1.0))
async def return_snake(phone: Phone) -> bool:
    """Names are in snake case."""
    return "total_count" in (await returned(phone)).payload("reconnected")
