"""Which occasion brings a switch out, and by which rule it is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recorder import Exchange, Occasion, Refusal

BACKENDS = {
    "plain": [],
    "quota": ["--quota", "2", "--window", "3"],
    "stripped": ["--completed-max", "1"],
    "pings": ["--ping", "0.1"],
    "slow": ["--job", "4,5"],
    "open": ["--bug", "event-open-after-end"],
}


@dataclass(frozen=True)
class Setting:
    """What an app meets: a backend, an occasion, and how much it does."""

    backend: str = "plain"
    occasion: Occasion = Occasion()
    scans: int = 1
    starts: int = 1
    every: float = 0.1
    stay: float = 0.0


PLAIN = Setting()
TWO = Setting(scans=2)
THREE = Setting(scans=3)
RESTART = Setting(starts=2)
EIGHT = Setting("slow", scans=8)
QUOTA = Setting("quota", scans=3)
QUOTA_SLOW = Setting("quota", scans=4, every=0.6)
STRIPPED = Setting("stripped")
PINGS = Setting("pings")
OPEN = Setting("open", stay=3.0)
CUT = Setting(occasion=Occasion(cuts=1))
CUT_TWO = Setting(occasion=Occasion(cuts=1, cut_after=2))
CUT_THRICE = Setting(occasion=Occasion(cuts=3))
CUT_EACH = Setting(occasion=Occasion(cuts=3), scans=3)
ENDS = Setting(occasion=Occasion(cuts=1, clean=True))
SPLIT = Setting(occasion=Occasion(split=True))
UNKNOWN = Setting(occasion=Occasion(unknown=True))
RETRYABLE = Setting(occasion=Occasion(error=True))
FINAL = Setting(occasion=Occasion(error=False))


def _refused(kind: str, status: int, times: int, wait: float | None = None, backend: str = "plain") -> Setting:
    return Setting(backend, Occasion(Refusal(kind, status, times, wait, status >= 500)))


UPLOAD_503 = _refused("upload", 503, 1)
UPLOAD_503_WAIT = _refused("upload", 503, 1, 4.0)
UPLOAD_400 = _refused("upload", 400, 99)
STREAM_404 = _refused("stream", 404, 99)
STREAM_503 = _refused("stream", 503, 2)
RESULTS_404 = _refused("results", 404, 99, backend="stripped")
RESULTS_503 = _refused("results", 503, 99, backend="stripped")
DELETE_404 = _refused("delete", 404, 1)
DELETE_503 = _refused("delete", 503, 1)

# The name of a switch, its setting, and the rule that sees it.
BREAKS: dict[str, tuple[Setting, str]] = {
    "device-per-request": (PLAIN, "device_constant"),
    "device-per-scan": (TWO, "device_constant"),
    "device-per-start": (RESTART, "device_constant"),
    "device-not-uuid": (PLAIN, "device_form"),
    "device-uuid-v1": (PLAIN, "device_form"),
    "device-no-dashes": (PLAIN, "device_form"),
    "device-missing": (PLAIN, "device_form"),
    "device-missing-results": (STRIPPED, "device_form"),
    "device-random-delete": (PLAIN, "device_constant"),
    "upload-part-image": (PLAIN, "upload_form"),
    "upload-part-photos": (PLAIN, "upload_form"),
    "upload-too-large": (PLAIN, "upload_form"),
    "upload-six-photos": (PLAIN, "upload_form"),
    "upload-heic": (PLAIN, "upload_form"),
    "upload-no-boundary": (PLAIN, "upload_form"),
    "upload-202-unknown": (PLAIN, "upload_repeated"),
    "upload-again-after-cut": (CUT, "upload_repeated"),
    "wait-ignored": (QUOTA, "wait_kept"),
    "wait-halved": (QUOTA, "wait_kept"),
    "wait-units": (QUOTA, "wait_kept"),
    "wait-other-scans": (QUOTA_SLOW, "wait_kept"),
    "wait-503-ignored": (UPLOAD_503_WAIT, "wait_kept"),
    "retry-no-backoff": (UPLOAD_503, "upload_backoff"),
    "retry-upload-refusal": (UPLOAD_400, "refusal_final"),
    "retry-error-endless": (RETRYABLE, "upload_repeated"),
    "retry-error-thrice": (RETRYABLE, "upload_repeated"),
    "retry-final-error": (FINAL, "upload_repeated"),
    "retry-stream-refusal": (STREAM_404, "refusal_final"),
    "retry-results-404": (RESULTS_404, "refusal_final"),
    "retry-delete-refusal": (DELETE_404, "refusal_final"),
    "stream-no-last-event-id": (CUT, "last_event_id"),
    "stream-other-last-event-id": (CUT_EACH, "last_event_id"),
    "stream-first-event-id": (CUT_TWO, "last_event_id"),
    "stream-null-event-id": (PLAIN, "last_event_id"),
    "stream-reconnect-at-once": (CUT_THRICE, "stream_backoff"),
    "stream-kept-open": (OPEN, "stream_closed"),
    "stream-after-terminal": (PLAIN, "stream_needless"),
    "stream-eof-is-end": (ENDS, "stream_resumed"),
    "stream-accept-json": (PLAIN, "accept"),
    "stream-chunks-as-events": (SPLIT, "stream_needless"),
    "stream-ping-ends-job": (PINGS, "delete_late"),
    "stream-unknown-ends-job": (UNKNOWN, "delete_late"),
    "token-in-url": (PLAIN, "token_place"),
    "token-query-only": (PLAIN, "token_right"),
    "token-latest": (THREE, "token_right"),
    "token-no-bearer": (PLAIN, "token_right"),
    "token-missing-delete": (PLAIN, "token_right"),
    "results-despite-books": (PLAIN, "results_needless"),
    "results-beside-books": (PLAIN, "results_needless"),
    "results-polled": (PLAIN, "results_early"),
    "results-full": (STRIPPED, "results_lean"),
    "results-no-format": (STRIPPED, "results_lean"),
    "delete-never": (PLAIN, "delete_sent"),
    "delete-before-books": (STRIPPED, "delete_late"),
    "delete-while-running": (PLAIN, "delete_late"),
    "delete-after-failed-results": (RESULTS_503, "delete_late"),
    "delete-cancel-path": (PLAIN, "delete_place"),
    "delete-once": (DELETE_503, "delete_insists"),
    "poll-tight": (PLAIN, "poll_pace"),
}
WASTES: dict[str, tuple[Setting, str]] = {
    "stream-two-at-once": (PLAIN, "streams_two"),
    "stream-no-slots": (EIGHT, "streams_many"),
    "results-twice": (STRIPPED, "results_once"),
    "delete-twice": (PLAIN, "delete_once"),
}
# No rule sees these; the function finds the trace of the switch.
HARMLESS: dict[str, Callable[[list[Exchange]], bool]] = {
    "device-uppercase": lambda log: all(one.headers["x-device-id"].isupper() for one in log),
    "harmless-status-polling": lambda log: any(one.kind == "status" for one in log),
    "harmless-user-agent": lambda log: not log[0].headers["user-agent"].startswith("SwiftWing"),
    "harmless-new-connections": lambda log: all(one.headers.get("connection") == "close" for one in log),
    "harmless-five-photos": lambda log: len(log[0].parts or []) == 5,
    "harmless-chunked-upload": lambda log: log[0].headers.get("transfer-encoding") == "chunked",
}
# Occasions that a healthy app has to get over, beside those of the switches.
HEALTHY = [STREAM_503]
