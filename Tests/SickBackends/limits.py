"""The limit of uploads per device, in a sliding window."""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass

from bugs import Switches

MONTH = 30 * 86400.0


@dataclass(frozen=True)
class Verdict:
    """Whether an upload is admitted, and what its answer says about the limit."""

    admitted: bool
    limit: int
    remaining: int
    wait: float
    reset: float

    def headers(self, bug: Switches) -> dict[str, str]:
        """Return the headers of a 202 or 429."""
        reset = self.reset * 1000 if bug("time-reset-ms") else self.reset
        headers = {"X-RateLimit-Limit": str(self.limit), "X-RateLimit-Remaining": str(self.remaining),
                   "X-RateLimit-Reset": str(math.ceil(reset))}
        if not self.admitted:
            headers |= self.retry_after(bug)
        return headers

    def retry_after(self, bug: Switches) -> dict[str, str]:
        """Return the header with the wait: seconds, rounded up."""
        if bug("wait-none"):
            return {}
        if bug("wait-ms-header"):
            return {"Retry-After": str(math.ceil(self.wait * 1000))}
        if bug("wait-month"):
            return {"Retry-After": str(int(MONTH))}
        if bug("wait-disagree"):
            return {"Retry-After": "1"}
        if bug("wait-words"):
            return {"Retry-After": f"{math.ceil(self.wait)} seconds"}
        if bug("wait-past-date"):
            return {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}
        return {"Retry-After": str(math.ceil(self.wait))}

    def body_wait(self, bug: Switches) -> int | None:
        """Return the wait of the body in milliseconds."""
        if bug("wait-none") or bug("wait-past-date"):
            return None
        if bug("wait-month"):
            return int(MONTH * 1000)
        if bug("wait-seconds-in-body"):
            return math.ceil(self.wait)
        if bug("wait-zero"):
            return 0
        if bug("wait-negative"):
            return -1000
        return math.ceil(self.wait * 1000)


class Limiter:
    """Counts the uploads of each device; a refused upload does not count."""

    def __init__(self, bug: Switches, quota: int, window: float) -> None:
        self.bug = bug
        self.quota = quota
        self.window = window
        self.uploads: dict[str, deque[float]] = {}

    def take(self, device: str, address: str) -> Verdict:
        """Admit or refuse an upload of this device."""
        bug = self.bug
        key = address if bug("wait-per-ip") else device
        now = time.monotonic()
        times = self.uploads.setdefault(key, deque())
        while times and times[0] <= now - self.window:
            times.popleft()
        quota = self.quota - 1 if bug("wait-one-early") else self.quota
        if bug("wait-not-enforced"):
            quota = 10**9
        admitted = len(times) < quota
        if admitted or bug("retry-refused-counts"):
            times.append(now)
        # Refused uploads may be among them, and then the wait begins anew each time.
        oldest = times[-quota] if len(times) >= quota > 0 else (times[0] if times else now)
        wait = max(0.0, oldest + self.window - now)
        reset = time.time() + (times[0] + self.window - now if times else 0.0)
        return Verdict(admitted, self.quota, max(0, quota - len(times)), wait, reset)
