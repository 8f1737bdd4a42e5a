"""The scenario that suits a bug which `backend-trial` by itself does not name."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

STRICT = str(pathlib.Path(__file__).parent / "strict.scenario")
BATCHES = "backend-trial-v2"


@dataclass(frozen=True)
class Choice:
    """What a run is started with, how the backend is, and why the bug shows then."""

    why: str
    settings: tuple[str, ...] = ()
    backend: tuple[str, ...] = ()
    scenario: str = STRICT


def slow(seconds: str, *others: str) -> Choice:
    """Jobs of so many seconds."""
    return Choice("it shows in jobs that take longer",
                  ("trial.job-max=3m", "duration=10s", "drain=3m", "slo.scan.time=p(95) < 3m", "slo.job.time=p(95) < 3m"),
                  (f"--job={seconds}", *others))


LEFT_OPEN = Choice("the contract leaves it open: a finding, which an objective judges")
LOST = Choice("it shows when a photo is uploaded again, because its answer was lost",
              ("faults=[{do: reset, on: upload, after: 40 bytes, chance: 40%}]",))
ANY_ERROR = Choice("the first request shows that there is no Talaria, unless errors may have any form",
                   ("trial.lenient=[target.error-form]",))

CHOICES: dict[str, Choice] = {
    **dict.fromkeys((
        "upload-internal-host", "resume-never-ends", "retry-first-photo", "time-reset-ms", "http-no-last-chunk",
        "event-open-after-end", "event-canceled-open", "event-two-terminals", "event-terminal-only", "event-backwards",
        "event-no-message", "event-empty-books", "event-duplicate-book", "event-isbn-wrong", "delete-slow"), LEFT_OPEN),
    **dict.fromkeys(("load-scratch", "retry-doubles-books", "retry-no-books"), LOST),
    **dict.fromkeys(("problem-plain", "http-html-errors"), ANY_ERROR),
    "id-ping-zero": Choice("a ping has to come", backend=("--ping=1",)),
    "event-no-ping": slow("120,125", "--books=1,1", "--big=0"),
    "status-cancel-ignored": slow("15,20"),
    "retry-refused-counts": Choice("the limit is stated, and its window is short",
                                   ("trial.limit=1 per 5s", "drain=30s", "slo.upload.time=p(95) < 1m"), ("--quota=1", "--window=5")),
    "http-204-body": Choice("without faults, the phones' own client reads the answers", ("faults=[]",)),
    "http-length-long": Choice("a request has its time", ("drain=90s",)),
    "load-latency": Choice("there are hundreds of jobs", ("duration=60s", "fleet.readers.arrivals=3/s", "fleet.phones.arrivals=3/s")),
    "status-forever": Choice("a job is there for a while after its end",
                             ("faults=[{do: http-error, status: 503, on: cleanup, count: 3}]", "slo.http.5xx=count < 1000")),
    "v2-wrong-folder": Choice("the contract leaves it open", ("slo.contract.findings=count == 0", "drain=20s"), scenario=BATCHES),
    **dict.fromkeys(("wait-one-early", "wait-not-enforced", "wait-per-ip"), Choice(
        "the limit is stated", ("trial.limit=10 per 20m", "fleet.hasty.scans=12"))),
    "v2-batch-50": Choice("a batch has more than 50 books", ("server.books=60..80", "drain=20s"), scenario=BATCHES),
    "v2-heartbeat-data": Choice("a heartbeat has to come", ("slo.contract.findings=count == 0", "drain=20s"), ("--ping=1",),
                                BATCHES),
}
