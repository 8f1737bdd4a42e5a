"""When a request may be repeated, and after which wait."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

BACKOFF_MAX = 30.0


@dataclass(frozen=True)
class Answer:
    """What came of a request; status 0 means that no answer came."""

    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def refused(self) -> bool:
        """Whether the server means what it says: another attempt gets the same answer (section 1.7)."""
        if self.status in (0, 408, 429):
            return False
        return self.status < 500 or self.field("retryable") is False

    def field(self, name: str) -> Any:
        """Return a field of a problem body; no field is required (section 1.7)."""
        return self.body.get(name) if isinstance(self.body, dict) else None

    def wait(self) -> float | None:
        """Return the seconds that the server asks for: the body first, then the header (section 1.7)."""
        milliseconds = self.field("retryAfterMs")
        if isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool):
            return max(0.0, float(milliseconds) / 1000)
        return _header_wait(self.headers.get("retry-after", ""))


NO_ANSWER = Answer(0, {}, None)


def read_body(content: bytes) -> Any:
    """Return a JSON body, or nothing if it is none."""
    try:
        return json.loads(content)
    except ValueError:
        return None


def backoff(base: float, failures: int) -> float:
    """Return the wait after a number of failures: it doubles, and has jitter that never shortens it."""
    return min(BACKOFF_MAX, base * 2.0 ** (failures - 1)) * (1 + random.random() / 2)


def _header_wait(value: str) -> float | None:
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
