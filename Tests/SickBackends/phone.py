"""A client for the checks: it shows every byte of an answer, and forgives nothing and corrects nothing."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

BOUNDARY = "----sick-backends"
SIZE = re.compile(rb"[0-9a-fA-F]+")
TERMINALS = ("completed", "complete", "error", "failed")


@dataclass
class Answer:
    """One answer, with its headers in their order and its body as it came."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    ended: bool
    took: float

    def header(self, name: str) -> str | None:
        """Return the first header of this name."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    def json(self) -> Any:
        """Return the value of the body, or nothing if it is no JSON in UTF-8."""
        try:
            return json.loads(self.body.decode())
        except ValueError:
            return None

    def data(self) -> dict[str, Any]:
        """Return `data` of the body, or nothing in it."""
        body = self.json()
        inner = body.get("data") if isinstance(body, dict) else None
        return inner if isinstance(inner, dict) else {}


@dataclass
class Seen:
    """One event as a client reads it."""

    id: str | None
    name: str
    text: str

    def data(self) -> dict[str, Any]:
        """Return the data, or nothing in it if it is no JSON object."""
        try:
            value = json.loads(self.text)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass
class Feed:
    """All of a stream that came within a time."""

    status: int
    headers: list[tuple[str, str]]
    raw: bytes = b""
    events: list[Seen] = field(default_factory=list)
    ended: bool = False
    first_at: float | None = None

    def own(self) -> list[Seen]:
        """Return the events that are no pings."""
        return [event for event in self.events if event.name != "ping"]

    def last(self) -> dict[str, Any]:
        """Return the data of the first terminal event."""
        return next((event.data() for event in self.own() if event.name in TERMINALS), {})

    def over(self) -> bool:
        """Tell whether there was a terminal event."""
        return any(event.name in TERMINALS for event in self.events)

    def ids(self) -> list[str | None]:
        """Return the ids of the events that are no pings."""
        return [event.id for event in self.own()]


@dataclass
class Ticket:
    """What a client keeps of a 202."""

    id: str
    token: str
    base: str


def head_of(raw: bytes) -> tuple[int, list[tuple[str, str]]]:
    """Return the status and the headers of the head of an answer."""
    first, *lines = raw.decode("latin-1").split("\r\n")
    pairs = [line.partition(":")[::2] for line in lines if line]
    return int(first.split(" ")[1]), [(key.lower(), value.strip()) for key, value in pairs]


def unchunked(raw: bytes) -> bytes:
    """Return the bytes of a chunked body as far as they came."""
    body = b""
    while True:
        size, found, rest = raw.partition(b"\r\n")
        if not found or not SIZE.fullmatch(size) or int(size, 16) == 0:
            return body
        body += rest[:int(size, 16)]
        raw = rest[int(size, 16) + 2:]


def events_of(text: str) -> list[Seen]:
    """Return the events of a stream, as the standard says they are read."""
    events: list[Seen] = []
    name, last = "", None
    data: list[str] = []
    for line in text.split("\n"):
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                events.append(Seen(last, name or "message", "\n".join(data)))
            name, data, last = "", [], None
        elif key == "event":
            name = value
        elif key == "data":
            data.append(value)
        elif key == "id":
            last = value
    return events


def multipart(name: str, files: list[bytes], kind: str = "image/jpeg") -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of an upload."""
    body = b"".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="spine.jpg"\r\n'
        f"Content-Type: {kind}\r\n\r\n".encode() + file + b"\r\n" for file in files)
    body += f"--{BOUNDARY}--\r\n".encode()
    return {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}, body


class Phone:
    """A device that speaks v3 or v2 with a backend."""

    def __init__(self, port: int, dialect: str = "v3", device: str | None = None) -> None:
        self.port = port
        self.dialect = dialect
        self.device = device or str(uuid.uuid4()).upper()
        self.bugs: tuple[str, ...] = ()

    def another(self) -> Phone:
        """Return another device at the same backend."""
        return Phone(self.port, self.dialect)

    async def request(self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"",
                      seconds: float = 5.0, close: bool = True, device: bool = True) -> Answer:
        """Send a request on a connection of its own, and read all that comes until it is closed."""
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = {"Host": f"127.0.0.1:{self.port}", "X-Device-ID": self.device, **(headers or {})}
        if not device:
            del lines["X-Device-ID"]
        if close:
            lines["Connection"] = "close"
        if body or method == "POST":
            lines["Content-Length"] = str(len(body))
        head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        raw, ended = b"", False
        try:
            async with asyncio.timeout(seconds):
                while piece := await reader.read(65536):
                    raw += piece
                ended = True
        except TimeoutError:
            pass
        except ConnectionError:
            ended = True
        writer.close()
        if b"\r\n\r\n" not in raw:
            return Answer(0, [], raw, ended, time.monotonic() - began)
        top, _, rest = raw.partition(b"\r\n\r\n")
        status, pairs = head_of(top)
        if ("transfer-encoding", "chunked") in pairs:
            rest = unchunked(rest)
        return Answer(status, pairs, rest, ended, time.monotonic() - began)

    async def upload(self, *photos: bytes) -> Answer:
        """Upload photos."""
        path, name = ("/v3/jobs/scans", "photos[]") if self.dialect == "v3" else ("/api/batch-scan", "photos")
        headers, body = multipart(name, list(photos))
        return await self.request("POST", path, headers, body)

    def ticket(self, answer: Answer) -> Ticket:
        """Return what a client keeps of a 202, whatever its form is."""
        data = answer.data() or answer.json() or {}
        job = str(data.get("jobId"))
        folders = {"scan": "scans", "enrichment": "enrichments", "import": "imports"}
        base = "/v3/jobs/scans" if self.dialect == "v3" else f"/api/v2/{folders[job.split('_')[0]]}"
        return Ticket(job, str(data.get("authToken")), f"{base}/{job}")

    async def start(self, *photos: bytes) -> Ticket:
        """Upload photos and return the job."""
        return self.ticket(await self.upload(*photos))

    async def post(self, path: str, value: Any) -> Answer:
        """Send a JSON body."""
        headers = {"Content-Type": "application/json"}
        return await self.request("POST", path, headers, json.dumps(value).encode())

    async def library(self, text: str) -> Answer:
        """Import a library file."""
        headers, body = multipart("file", [text.encode()], "text/csv")
        return await self.request("POST", "/api/v2/imports", headers, body)

    async def get(self, job: Ticket, part: str = "", token: str | None = None) -> Answer:
        """Request a part of a job."""
        headers = {"Authorization": f"Bearer {token or job.token}"}
        if part == "/stream":
            headers["Accept"] = "text/event-stream"
        return await self.request("GET", job.base + part, headers)

    async def results(self, job: Ticket, form: str = "lite") -> Answer:
        """Request the results of a job."""
        return await self.get(job, f"/results?format={form}" if self.dialect == "v3" else "/results")

    async def books(self, job: Ticket, form: str = "lite") -> list[dict[str, Any]]:
        """Return the books of the results of a job."""
        data = (await self.results(job, form)).data()
        return data.get("results") or data.get("books") or []

    async def delete(self, job: Ticket) -> Answer:
        """Remove a job."""
        path = f"{job.base}/cleanup" if self.dialect == "v3" else f"/v1/jobs/{job.id}"
        return await self.request("DELETE", path, {"Authorization": f"Bearer {job.token}"}, seconds=2.0)

    async def cancel(self, job: Ticket) -> Answer:
        """Cancel a job."""
        path = job.base if self.dialect == "v3" else f"/v1/jobs/{job.id}"
        return await self.request("DELETE", path, {"Authorization": f"Bearer {job.token}"})

    async def stream(self, job: Ticket, last: str | None = None, seconds: float = 2.5) -> Feed:
        """Read the stream of a job for a time, or until it ends."""
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        resume = f"Last-Event-ID: {last}\r\n" if last else ""
        writer.write((f"GET {job.base}/stream HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                      f"Connection: close\r\nX-Device-ID: {self.device}\r\n"
                      f"Authorization: Bearer {job.token}\r\n"
                      f"Accept: text/event-stream\r\n{resume}\r\n").encode())
        raw, feed = b"", Feed(0, [])
        try:
            async with asyncio.timeout(seconds):
                while piece := await reader.read(65536):
                    raw += piece
                    if feed.first_at is None and b"data:" in raw:
                        feed.first_at = time.monotonic() - began
                feed.ended = True
        except TimeoutError:
            pass
        except ConnectionError:
            feed.ended = True
        writer.close()
        top, _, rest = raw.partition(b"\r\n\r\n")
        if top:
            feed.status, feed.headers = head_of(top)
        feed.raw = rest
        feed.events = events_of(unchunked(rest).decode("utf-8", "replace")) if feed.status == 200 else []
        return feed

    async def whole(self, *photos: bytes) -> tuple[Ticket, Feed]:
        """Upload photos and read the stream of the job to its end."""
        job = await self.start(*photos)
        return job, await self.stream(job)
