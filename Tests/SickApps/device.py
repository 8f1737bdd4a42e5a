"""A phone: its id, which is kept in a folder, and what its scans share."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path

import httpx

from bugs import Bugs

SCANS_AT_ONCE_MAX = 5


class Device:
    """One phone with its own connections. At most five scans run at once (section 4.2, step 7)."""

    def __init__(self, number: int, server: str, folder: Path, bugs: Bugs, patience: float) -> None:
        self.number = number
        self.server = httpx.URL(server)
        self.bugs = bugs
        self.patience = patience
        self.slots = asyncio.Semaphore(100 if bugs("stream-no-slots") else SCANS_AT_ONCE_MAX)
        self.uploading = asyncio.Lock()
        self.latest_token = ""
        self.latest_event_id = ""
        # An iterator that nobody holds would close its response.
        self.kept_open: dict[httpx.Response, AsyncIterator[bytes]] = {}
        self._tasks: list[asyncio.Task[object]] = []
        kept = str(uuid.uuid4()) if bugs("device-per-start") else self._kept_id(folder)
        self._id = self._spelled(kept)
        # A kept connection must be reusable: the wait for a busy one is no failure of the server.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=5)
        timeout = httpx.Timeout(30, connect=10)
        self.http = httpx.AsyncClient(trust_env=False, limits=limits, timeout=timeout)

    def id_for(self, kind: str, scan: int) -> str | None:
        """Return the id for a request of a scan, or nothing if the header is left out."""
        bugs = self.bugs
        if bugs("device-missing") or bugs("device-missing-results") and kind == "results":
            return None
        if bugs("device-per-request") or bugs("device-random-delete") and kind == "delete":
            return self._spelled(str(uuid.uuid4()))
        if bugs("device-per-scan"):
            return self._id[:-4] + f"{scan:04x}"
        return self._id

    def in_background(self, work: Coroutine[object, object, object]) -> None:
        """Run work beside the scans until the app is closed."""
        self._tasks.append(asyncio.create_task(work))

    async def close(self) -> None:
        """Wait for what runs in the background, and close all connections."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for response in self.kept_open:
            await response.aclose()
        await self.http.aclose()

    def _kept_id(self, folder: Path) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"device-{self.number}.id"
        if not file.exists():
            file.write_text(f"{uuid.uuid4()}\n")
        return file.read_text().strip()

    def _spelled(self, text: str) -> str:
        if self.bugs("device-not-uuid"):
            return f"iPhone-{text[:8]}"
        if self.bugs("device-uuid-v1"):
            return text[:14] + "1" + text[15:]
        if self.bugs("device-no-dashes"):
            return text.replace("-", "")
        return text.upper() if self.bugs("device-uppercase") else text
