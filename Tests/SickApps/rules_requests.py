"""Rules on single requests: device ids, photos, tokens, and the repetition of what was refused."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from recorder import Exchange

PHOTO_BYTES_MAX = 10_000_000
PNG = b"\x89PNG\r\n\x1a\n"
# A first wait of 1 s or more, and time for a busy machine.
BACKOFF_MIN = 0.5


def device_form(log: list[Exchange]) -> Iterator[str]:
    """Every request has a UUID v4 as its device id (section 1.1)."""
    for one in log:
        text = one.headers.get("x-device-id", "")
        try:
            right = uuid.UUID(text).version == 4 and len(text) == 36
        except ValueError:
            right = False
        if not right:
            yield f"{one.kind}: X-Device-ID is {text or 'missing'}"


def device_constant(log: list[Exchange]) -> Iterator[str]:
    """A phone has one device id (GAP-10); each recording is of one phone."""
    known = {one.headers["x-device-id"] for one in log if "x-device-id" in one.headers}
    if len(known) > 1:
        yield f"{len(known)} device ids"


def upload_form(log: list[Exchange]) -> Iterator[str]:
    """An upload has 1 to 5 photos of at most 10 MB (sections 1.1 and 1.2)."""
    for one in log:
        if one.kind != "upload":
            continue
        parts = [part for part in one.parts or [] if part.name == "photos[]"]
        if not 1 <= len(parts) <= 5:
            yield f"{len(parts)} parts photos[]"
        for part in parts:
            if part.size > PHOTO_BYTES_MAX:
                yield f"a photo of {part.size} bytes"
            if not part.head.startswith((b"\xff\xd8", PNG)):
                yield f"a photo that begins with {part.head!r}"


def accept(log: list[Exchange]) -> Iterator[str]:
    """A stream is asked for as text/event-stream (section 1.1)."""
    for one in log:
        if one.kind == "stream" and one.headers.get("accept") != "text/event-stream":
            yield f"Accept: {one.headers.get('accept')}"


def token_place(log: list[Exchange]) -> Iterator[str]:
    """No address contains a token (C13)."""
    for one in log:
        if "token=" in one.query:
            yield f"{one.kind}: ?token="


def token_right(log: list[Exchange]) -> Iterator[str]:
    """A request that names a job has the token of that job (section 1.1)."""
    tokens = {one.job: one.body["data"]["authToken"] for one in log if one.kind == "upload" and one.status == 202}
    for one in log:
        if one.job in tokens and one.kind != "upload":
            given = one.headers.get("authorization")
            if given != f"Bearer {tokens[one.job]}":
                others = [f"Bearer {token}" for token in tokens.values()]
                said = "that of another job" if given in others else given or "missing"
                yield f"{one.kind}: Authorization is {said}"


def wait_kept(log: list[Exchange]) -> Iterator[str]:
    """No upload comes within a wait that the server has asked for (sections 1.7 and 1.8)."""
    uploads = [one for one in log if one.kind == "upload"]
    for refused in uploads:
        for one in uploads:
            early = refused.answered + refused.wait - one.began
            if refused.wait and one.began > refused.answered and early > 0.05:
                yield f"an upload {early:.2f} s too early after {refused.status}"


def upload_backoff(log: list[Exchange]) -> Iterator[str]:
    """A failed upload is repeated after a pause (section 5, related rules)."""
    for first, then in _pairs(log, "upload"):
        if first.status >= 500 and then.began - first.answered < BACKOFF_MIN:
            yield f"repeated {then.began - first.answered:.2f} s after {first.status}"


def refusal_final(log: list[Exchange]) -> Iterator[str]:
    """A request is not repeated after an error that is final (section 1.7)."""
    for kind in ("upload", "stream", "results", "delete", "status"):
        for first, _ in _pairs(log, kind):
            if 400 <= first.status < 500 and first.status not in (408, 429):
                yield f"{kind} again after {first.status}"


def poll_pace(log: list[Exchange]) -> Iterator[str]:
    """The status is asked for at most once in 2 s (section 1.4)."""
    for first, then in _pairs(log, "status"):
        if then.began - first.answered < 1.95:
            yield f"a poll {then.began - first.answered:.2f} s after the one before"


def subject(one: Exchange) -> str:
    """Return what a request is about: its photos, or its job."""
    if one.kind == "upload":
        return " ".join(part.digest for part in one.parts or [])
    return one.job


def _pairs(log: list[Exchange], kind: str) -> Iterator[tuple[Exchange, Exchange]]:
    """Yield each request of a kind with the next one about the same."""
    last: dict[str, Exchange] = {}
    for one in log:
        if one.kind == kind:
            if subject(one) in last:
                yield last[subject(one)], one
            last[subject(one)] = one


RULES = [device_form, device_constant, upload_form, accept, token_place, token_right, wait_kept, upload_backoff,
         refusal_final, poll_pace]
