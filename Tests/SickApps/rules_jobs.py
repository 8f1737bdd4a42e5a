"""Rules on the life of a job: its streams, its results, its repetition, and its end."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from recorder import Exchange
from rules_requests import BACKOFF_MIN, subject


def of_jobs(log: list[Exchange], *kinds: str) -> dict[str, list[Exchange]]:
    """Return the requests of some kinds for each job."""
    jobs: dict[str, list[Exchange]] = defaultdict(list)
    for one in log:
        if one.job and one.kind in kinds:
            jobs[one.job].append(one)
    return jobs


def ending(streams: list[Exchange]) -> tuple[float, str, dict[str, Any]] | None:
    """Return when and how a job ended for the app, by its first terminal event."""
    found = [entry for entry in (stream.terminal() for stream in streams) if entry]
    if not found:
        return None
    at, event = min(found, key=lambda entry: entry[0])
    return at, event.name, json.loads(event.data)


def received(log: list[Exchange], job: str) -> float | None:
    """Return when the app had all that the job has for it."""
    end = ending(of_jobs(log, "stream")[job])
    if end is not None and (end[1] == "error" or end[2].get("books")):
        return end[0]
    got = [one.answered for one in of_jobs(log, "results")[job] if one.status == 200]
    return min(got) if got else None


def last_event_id(log: list[Exchange]) -> Iterator[str]:
    """A stream continues from the last id of its job (section 2.2)."""
    for streams in of_jobs(log, "stream").values():
        for one in streams:
            # What a stream brings that is still open, another stream need not know.
            over = [stream for stream in streams if 0 < stream.ended <= one.began]
            known = [(at, event.id) for stream in over for at, event in stream.events]
            right = max(known)[1] if known else ""
            given = one.headers.get("last-event-id", "")
            if given != right:
                yield f"Last-Event-ID is {given or 'missing'}, not {right or 'missing'}"


def stream_backoff(log: list[Exchange]) -> Iterator[str]:
    """A stream is opened again after a pause (section 4.4, C19)."""
    for streams in of_jobs(log, "stream").values():
        for first, then in zip(streams, streams[1:]):
            end = first.ended or first.answered
            if not first.terminal() and 0 <= then.began - end < BACKOFF_MIN:
                yield f"a reconnection after {then.began - end:.2f} s"


def stream_closed(log: list[Exchange]) -> Iterator[str]:
    """A stream is closed after its terminal event (section 4.5)."""
    for one in log:
        end = one.terminal()
        if end and one.ended - end[0] > 2:
            yield f"open for {one.ended - end[0]:.1f} s after its end"


def stream_needless(log: list[Exchange]) -> Iterator[str]:
    """No stream is opened after the terminal event of its job (section 2.1)."""
    for streams in of_jobs(log, "stream").values():
        end = ending(streams)
        for one in streams:
            if end and one.began > end[0]:
                yield f"a stream {one.began - end[0]:.1f} s after the end"


def stream_resumed(log: list[Exchange]) -> Iterator[str]:
    """A stream that ends without a terminal event is opened again (Q2)."""
    for streams in of_jobs(log, "stream").values():
        if streams[-1].status == 200 and streams[-1].ended and not ending(streams):
            yield "a stream ended, and its job did not"


def streams_two(log: list[Exchange]) -> Iterator[str]:
    """A job has one stream at a time; this is a waste only."""
    for streams in of_jobs(log, "stream").values():
        for first, then in zip(streams, streams[1:]):
            if first.status == 200 and then.began < first.ended:
                yield "two streams of a job at once"


def streams_many(log: list[Exchange]) -> Iterator[str]:
    """A device has at most five streams at once (section 8); this is a waste only."""
    streams = [one for one in log if one.kind == "stream" and one.status == 200]
    for one in streams:
        if sum(other.began <= one.began < other.ended for other in streams) > 5:
            yield "more than five streams at once"


def upload_repeated(log: list[Exchange]) -> Iterator[str]:
    """A photo is uploaded again once, and only after a retryable error of its job (C20)."""
    jobs: dict[str, list[str]] = defaultdict(list)
    for one in log:
        if one.kind != "upload" or one.status != 202:
            continue
        for job in jobs[subject(one)][-1:]:
            end = ending(of_jobs(log, "stream")[job])
            if end is None or end[1] != "error" or end[0] > one.began:
                yield "a photo again although it has a job"
            elif end[2].get("retryable") is not True:
                yield "a photo again after a final error"
        jobs[subject(one)].append(one.job)
        if len(jobs[subject(one)]) > 2:
            yield f"{len(jobs[subject(one)])} jobs of a photo"


def results_needless(log: list[Exchange]) -> Iterator[str]:
    """Results are not fetched if the books are there (GAP-3)."""
    for job, asked in of_jobs(log, "results").items():
        end = ending(of_jobs(log, "stream")[job])
        if end and end[2].get("books") and asked[0].began > end[0]:
            yield "results although the event had books"


def results_early(log: list[Exchange]) -> Iterator[str]:
    """Results are not fetched before their job is completed (section 1.3)."""
    for job, asked in of_jobs(log, "results").items():
        end = ending(of_jobs(log, "stream")[job])
        polls = [one for one in of_jobs(log, "status")[job] if one.status == 200]
        polled = any(one.body["data"]["status"] == "completed" for one in polls)
        if not polled and (end is None or asked[0].began < end[0]):
            yield f"{len(asked)} requests for results, the first before the end"


def results_lean(log: list[Exchange]) -> Iterator[str]:
    """Results are fetched with format=lite (GAP-8)."""
    for one in log:
        if one.kind == "results" and "format=lite" not in one.query:
            yield f"results with {one.query or 'no format'}"


def results_once(log: list[Exchange]) -> Iterator[str]:
    """Results are fetched once; more is a waste only."""
    for asked in of_jobs(log, "results").values():
        if any(one.status == 200 for one in asked[:-1]):
            yield "the same results again"


def delete_sent(log: list[Exchange]) -> Iterator[str]:
    """A job is removed after its books are received (section 1.1, row 4)."""
    for job in of_jobs(log, "upload"):
        if received(log, job) and not of_jobs(log, "delete")[job]:
            yield "no cleanup"


def delete_late(log: list[Exchange]) -> Iterator[str]:
    """No job is removed before its books are received (section 1.3, Q14)."""
    for job, asked in of_jobs(log, "delete", "cancel").items():
        at = received(log, job)
        if at is None or asked[0].began < at:
            yield "a DELETE before the books were received"


def delete_place(log: list[Exchange]) -> Iterator[str]:
    """A job that is over is cleaned up and not canceled (C18)."""
    for one in log:
        if one.kind == "cancel":
            yield f"a cancel got {one.status}"


def delete_insists(log: list[Exchange]) -> Iterator[str]:
    """A DELETE that failed is repeated (Q23)."""
    for asked in of_jobs(log, "delete").values():
        if asked[-1].status >= 500 and len(asked) == 1:
            yield f"no DELETE after {asked[-1].status}"


def delete_once(log: list[Exchange]) -> Iterator[str]:
    """A job is removed once; more is a waste only."""
    for asked in of_jobs(log, "delete").values():
        if any(one.status in (200, 204) for one in asked[:-1]):
            yield "a DELETE again after success"


RULES = [last_event_id, stream_backoff, stream_closed, stream_needless, stream_resumed, streams_two, streams_many,
         upload_repeated, results_needless, results_early, results_lean, results_once, delete_sent, delete_late,
         delete_place, delete_insists, delete_once]
WASTES = (streams_two, streams_many, results_once, delete_once)
