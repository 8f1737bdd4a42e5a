"""A backend of v2 that is followed by WebSocket: starlette on uvicorn with the `websockets` library.

    sockets.py MODE
    sockets.py --binary PROGRAM [MODE ...]

MODE is what the server does to the first jobs, once each: nothing, if `plain`; a close with a code such as `1013`
after the first message; or `401`, `404` or `503` instead of the 101. With `--binary`, phones of the program follow jobs of a
server in each mode, or in those that are named: all complete, and each loss has its code.
"""

import asyncio
import datetime
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

MODE = sys.argv[1]
MODES = ["plain", "1000", "1001", "1011", "1013", "4000", "401", "404", "503"]
SCENARIO = """
scenario: 1
name: sockets
drain: 50s
fleet:
  shelves:
    {journey: bookshelf-scan, transport: websocket, phones: 8, scans: 2, arrivals: 6/s, photos: {paint: 1, size: 320x240}}
"""
# What a target breaks that refuses a token that was not used, or a job that is there.
BROKEN = {"401": "target.auth", "404": "target.job-kept"}
JOBS = {}
HITS = {"left": 2 if MODE in ("401", "404") else 8}


def now():
    return int(time.time() * 1000)


def clock(ahead=0):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=ahead)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def envelope(data):
    return JSONResponse({"success": True, "data": data, "metadata": {"timestamp": clock()}})


def failure(status, code):
    return JSONResponse({"success": False, "error": {"code": code, "message": "no", "retryable": status >= 500}}, status)


def hit(job):
    """Whether the fault of the mode meets the job: the first ones, each once."""
    if HITS["left"] == 0 or job["hit"]:
        return False
    HITS["left"] -= 1
    job["hit"] = True
    return True


async def upload(request):
    form = await request.form()
    photos = form.getlist("photos")
    job = "scan_" + str(uuid.uuid4())
    token = uuid.uuid4().hex * 2
    JOBS[job] = {"token": token, "began": time.monotonic(), "used": 0, "hit": False, "over": False}
    answer = envelope(
        {
            "jobId": job,
            "authToken": token,
            "token": token,
            "websocketUrl": f"ws://{request.headers['host']}/ws/progress?jobId={job}",
            "totalPhotos": len(photos),
            "status": "processing",
        }
    )
    answer.status_code = 202
    return answer


async def results(request):
    job = JOBS.get(request.path_params["job"])
    if job is None:
        return failure(404, "NOT_FOUND")
    books = [{"title": f"Book {index}", "author": "A. Author", "enrichmentStatus": "success"} for index in range(3)]
    return envelope({"jobId": request.path_params["job"], "status": "completed", "totalCount": 3, "books": books})


async def delete(request):
    JOBS.pop(request.path_params["job"], None)
    return envelope({"status": "canceled"})


async def progress(peer):
    id = peer.query_params.get("jobId", "")
    job = JOBS.get(id)
    offered = peer.headers.get("sec-websocket-protocol", "")
    name = f"bookstrack-auth.{job['token']}" if job else None
    if job is None or offered != name or (job["used"] and peer.query_params.get("reconnect") != "true"):
        await refuse(peer, 401)
        return
    if MODE in ("401", "404", "503") and hit(job):
        await refuse(peer, int(MODE))
        return
    job["used"] += 1
    await peer.accept(subprotocol=name)
    hello = json.loads(await asyncio.wait_for(peer.receive_text(), 5))
    assert hello["type"] == "ready", hello
    try:
        await tell(peer, id, job)
    except WebSocketDisconnect:
        pass


async def refuse(peer, status):
    codes = {401: "UNAUTHORIZED", 404: "NOT_FOUND", 503: "CIRCUIT_OPEN"}
    await peer.send_denial_response(failure(status, codes[status]))


async def tell(peer, id, job):
    async def send(type, payload):
        message = {"type": type, "jobId": id, "pipeline": "ai_scan", "timestamp": now(), "version": "1.0.0"}
        await peer.send_text(json.dumps({**message, "payload": payload}))

    first = job["used"] == 1
    await send("ready_ack", {"timestamp": now()})
    end = {
        "summary": {"totalProcessed": 3, "successCount": 3, "failureCount": 0, "duration": 400,
                    "resourceId": "job-results:" + id},
        "expiresAt": clock(86_400), "jobId": id, "type": "job_complete", "pipeline": "ai_scan",
    }
    if job["over"]:
        await send("job_complete", end)
        await closed(peer)
        return
    state = {"processedCount": 0, "progress": 0.1, "status": "processing", "totalCount": 3}
    await send("job_started" if first else "reconnected", state)
    if MODE.isdigit() and int(MODE) >= 1000 and hit(job):
        await peer.close(int(MODE), "as it was asked to")
        return
    await send("ping", {"timestamp": now()})
    pong = json.loads(await asyncio.wait_for(peer.receive_text(), 5))
    assert pong["type"] == "pong", pong
    for step in range(1, 4):
        await asyncio.sleep(0.1)
        await send("job_progress", {**state, "processedCount": step, "progress": 0.3 * step})
    job["over"] = True
    await send("job_complete", end)
    await closed(peer)


async def closed(peer):
    """Closes a WebSocket a second after its last message, unless its client does so before."""
    try:
        await asyncio.wait_for(peer.receive(), 1)
    except TimeoutError:
        await peer.close(1000)


async def plain(request):
    answer = failure(426, "UPGRADE_REQUIRED")
    answer.headers["Upgrade"] = "websocket"
    return answer


async def missing(request, error):
    return failure(error.status_code, "NOT_FOUND" if error.status_code == 404 else "METHOD_NOT_ALLOWED")


APP = Starlette(
    exception_handlers={404: missing, 405: missing},
    routes=[
        Route("/api/batch-scan", upload, methods=["POST"]),
        Route("/api/v2/scans/{job}/results", results),
        Route("/v1/jobs/{job}", delete, methods=["DELETE"]),
        WebSocketRoute("/ws/progress", progress),
        Route("/ws/progress", plain),
    ]
)

def serve():
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server = uvicorn.Server(uvicorn.Config(APP, ws="websockets-sansio", log_level="critical"))
    server.run(sockets=[listener])


def is_loss(line, mode):
    """Whether an observation is that of the mode's loss."""
    event = json.loads(line)
    if mode in ("401", "404", "503"):
        return event.get("operation") == "stream" and event.get("status") == int(mode)
    cause = {"1000": "end-without-terminal", "4000": "closed-otherwise"}.get(mode, f"closed-{mode}")
    return event["what"] == "stream-lost" and event["cause"] == cause


def run(binary, mode, folder):
    """Have phones follow jobs of a server in this mode; return what is wrong."""
    server = subprocess.Popen([sys.executable, "-B", __file__, mode], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split()[-1]
        scenario = folder / "sockets.scenario"
        broken = BROKEN.get(mode)
        scenario.write_text(SCENARIO + (f"expect-broken: [{broken}]\n" if broken else ""))
        output = folder / mode
        ended = subprocess.run(
            [binary, "run", scenario, "--target", address, "--output", output, "--quiet", "--trace"],
            capture_output=True, text=True, timeout=100, env={**os.environ, "NO_COLOR": "1"})
    finally:
        # It has nothing to save, and its graceful end may wait for connections that are gone.
        server.kill()
        server.wait()
    if ended.returncode != 0:
        return f"exit {ended.returncode}: {ended.stdout[-1500:]}{ended.stderr[-500:]}"
    scans = json.loads((output / "summary.json").read_text())["scans"]
    if scans["completed"] != 16:
        return f"scans: {scans}"
    seen = sum(is_loss(line, mode) for line in (output / "events.ndjson").read_text().splitlines())
    least = {"plain": 0, "401": 2, "404": 2}.get(mode, 8)
    return None if seen >= least else f"{seen} losses by {mode}"


def main(binary, modes):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for mode in modes or MODES:
            wrong = run(binary, mode, pathlib.Path(folder))
            failed += wrong is not None
            print(f"{mode}: {wrong or 'ok'}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    if MODE == "--binary":
        main(sys.argv[2], sys.argv[3:])
    serve()
