"""Checks of the healthy backend's WebSocket against section 3.4 of the contract."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime

from checks_v2 import KNOWN
from phone import Phone
from talk import talk
from trial import BIG, OTHER, SMALL, backend, titles

ENVELOPE = {"type", "jobId", "pipeline", "timestamp", "version", "payload"}


async def socket(phone: Phone) -> None:
    """A WebSocket has the envelope, the payloads and the close of the contract."""
    v2 = Phone(phone.port, "v2")
    answer = await v2.upload(SMALL)
    job = v2.ticket(answer)
    assert answer.data()["websocketUrl"] == f"ws://127.0.0.1:{phone.port}/ws/progress?jobId={job.id}"
    told = await talk(v2, job)
    found = told.messages()
    assert found[0]["type"] == "ready_ack" and set(found[0]["payload"]) == {"type", "timestamp"}, found[0]
    kinds = told.kinds()
    assert kinds == ["job_started", *["job_progress"] * (2 + len(titles(SMALL))), "job_complete"], kinds
    assert all(set(message) == ENVELOPE and message["jobId"] == job.id for message in found)
    assert {message["pipeline"] for message in found} == {"ai_scan"} and {
        message["version"] for message in found} == {"1.0.0"}
    times = [message["timestamp"] for message in told.own()]
    assert times == sorted(times) and abs(times[-1] / 1000 - time.time()) < 60, times
    assert set(told.payload("job_started")) == {"totalCount", "estimatedDuration"}
    assert set(told.payload("job_progress")) == {"progress", "status", "processedCount", "totalCount"}
    last = told.payload("job_complete")
    assert last["summary"]["totalDetected"] == len(titles(SMALL)) and last["summary"]["failureCount"] == 0
    assert last["summary"]["resourceId"] == f"job-results:{job.id}"
    assert datetime.fromisoformat(last["expiresAt"]).timestamp() > time.time() + 80_000
    assert told.code == 1000 and told.protocol == f"bookstrack-auth.{job.token}"
    assert [book["title"] for book in await v2.books(job)] == titles(SMALL)
    late = await v2.start(OTHER)
    await asyncio.sleep(0.8)
    again = await talk(v2, late)
    assert again.kinds() == ["job_complete"] and again.code == 1000, again.raw


async def refused_sockets(phone: Phone) -> None:
    """A WebSocket opens with the unused token of its job alone."""
    v2 = Phone(phone.port, "v2")
    one, two = await v2.start(SMALL), await v2.start(OTHER)
    for token in (two.token, "0" * 64):
        assert (await talk(v2, one, token=token)).status == 401
    path = f"/ws/progress?jobId={one.id}"
    plain = await v2.request("GET", path)
    assert plain.status == 426 and plain.header("upgrade") == "websocket", plain.headers
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    for where, status in (("/ws/progress", 400), (path, 401), ("/ws/progress?jobId=none&token=x", 404)):
        answer = await v2.request("GET", where, upgrade, close=False)
        assert answer.status == status and answer.json()["success"] is False, (where, answer.status)
    assert (await talk(v2, one, until="job_started")).status == 101
    assert (await talk(v2, one)).status == 401
    await v2.delete(one)
    assert (await talk(v2, one, again=True)).status == 410


async def returns(unused: Phone) -> None:
    """A client that comes back gets the state, and what follows; a canceled job ends with an error and 1011."""
    async with backend(job=(1.0, 1.0), ping=0.2) as port:
        v2 = Phone(port, "v2")
        job = v2.ticket(await v2.post("/api/batch-enrich", {"barcodes": KNOWN[:5]}))
        await talk(v2, job, until="job_progress")
        told = await talk(v2, job, again=True)
        kinds = told.kinds()
        assert kinds[0] == "reconnected" and kinds[-1] == "job_complete" and "job_started" not in kinds, kinds
        assert {message["pipeline"] for message in told.own()} == {"batch_enrichment"}
        state = told.payload("reconnected")
        assert set(state) == {"progress", "status", "processedCount", "totalCount", "lastUpdate", "message"}
        assert state["totalCount"] == 5 and state["progress"] > 0
        assert "ping" in [message["type"] for message in told.messages()]
        for word, before in (("cancel", []), ("cancel_batch", ["batch-canceling"])):
            told = await talk(v2, await v2.start(BIG), word, "ping")
            assert told.kinds()[-1] == "error" and told.code == 1011, told.raw
            assert [kind for kind in told.kinds() if kind.startswith("batch")] == before
            failure = told.payload("error")
            assert failure["data"] is None and failure["error"]["code"] == "CANCELED" and failure["retryable"] is False


async def bounds(unused: Phone) -> None:
    """A sixth connection and a long message are closed; a client that is not ready is waited for."""
    async with backend(job=(3.0, 3.0)) as port:
        v2 = Phone(port, "v2")
        job = await v2.start(BIG)
        assert (await talk(v2, job, ready=False, seconds=0.3)).raw == []
        told = await asyncio.gather(*(talk(v2, job, again=True, seconds=1.0) for _ in range(6)))
        assert sorted(str(part.code) for part in told) == ["1008", *["None"] * 5], [part.code for part in told]
        assert (await talk(v2, job, "x" * 11_000, again=True)).code == 1009
