"""The requests of one scan: their headers, their addresses, and how many there were."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from device import Device
from retry import NO_ANSWER, Answer, read_body

USER_AGENT = "SwiftWing/1.0 iOS/26.0"
# Pings come every 30 s (section 2.5): after three of them without a byte, the connection is lost.
STREAM_SILENCE_MAX = 95.0


class ScanFailed(Exception):
    """A scan ends without books; the text is its outcome."""


class JobAbandoned(Exception):
    """The app forgets a job that the server still works on."""


@dataclass
class Job:
    """A job that the server has accepted."""

    id: str
    token: str
    stream: httpx.URL
    last_id: str = ""
    first_id: str = ""
    retry: float = 0.0
    seen: set[tuple[str, str, str]] = field(default_factory=set)

    @property
    def path(self) -> str:
        """The path of rows 5 and 6 of section 1.1."""
        return f"/v3/jobs/scans/{self.id}"


class Wire:
    """Sends the requests of one scan."""

    def __init__(self, device: Device, scan: int) -> None:
        self.device = device
        self.bugs = device.bugs
        self.scan = scan
        self.sent: Counter[str] = Counter()

    async def request(self, kind: str, method: str, path: str, job: Job | None, **body: Any) -> Answer:
        """Send a request and return its answer, also if none came."""
        extra = body.pop("headers", {})
        headers = self._headers(kind, job) | extra
        self.sent[kind] += 1
        try:
            got = await self.device.http.request(method, self._address(path, job), headers=headers, **body)
        except httpx.RequestError:
            return NO_ANSWER
        return Answer(got.status_code, got.headers, read_body(got.content))

    @asynccontextmanager
    async def stream(self, job: Job, last_id: str) -> AsyncIterator[httpx.Response]:
        """Open the event stream of a job; it is closed at the end of the block."""
        headers = self._headers("stream", job) | {"Cache-Control": "no-cache"}
        headers["Accept"] = "application/json" if self.bugs("stream-accept-json") else "text/event-stream"
        if last_id:
            headers["Last-Event-ID"] = last_id
        self.sent["stream"] += 1
        http = self.device.http
        timeout = httpx.Timeout(30, read=STREAM_SILENCE_MAX)
        request = http.build_request("GET", self._address(job.stream, job), headers=headers, timeout=timeout)
        response = await http.send(request, stream=True)
        try:
            yield response
        finally:
            if response not in self.device.kept_open:
                await response.aclose()

    def resolved(self, address: str) -> httpx.URL | None:
        """Return an address of this server, or nothing if it is another server's (section 1.2)."""
        server = self.device.server
        try:
            url = server.join(address)
        except httpx.InvalidURL:
            return None
        here = (url.scheme, url.host, url.port) == (server.scheme, server.host, server.port)
        return url if here else None

    def _headers(self, kind: str, job: Job | None) -> dict[str, str]:
        headers = {}
        device = self.device.id_for(kind, self.scan)
        if device is not None:
            headers["X-Device-ID"] = device
        if kind == "upload":
            headers["User-Agent"] = "Shelfie/0.3" if self.bugs("harmless-user-agent") else USER_AGENT
        if self.bugs("harmless-new-connections"):
            headers["Connection"] = "close"
        if job is not None and job.token and not self._hides_token(kind):
            token = self.device.latest_token if self.bugs("token-latest") else job.token
            headers["Authorization"] = token if self.bugs("token-no-bearer") else f"Bearer {token}"
        return headers

    def _hides_token(self, kind: str) -> bool:
        return self.bugs("token-query-only") or self.bugs("token-missing-delete") and kind == "delete"

    def _address(self, path: str | httpx.URL, job: Job | None) -> httpx.URL:
        url = self.device.server.join(path)
        if job is not None and (self.bugs("token-in-url") or self.bugs("token-query-only")):
            url = url.copy_merge_params({"token": job.token})
        return url
