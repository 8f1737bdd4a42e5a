#!/usr/bin/env python3
"""A server and a client of WebSocket, both by `websockets`, for a proxy between them.

usage: proxied_websocket.py server           serves until SIGTERM
       proxied_websocket.py client BASE      prints what happens at each address of the server, a line of JSON each

`/ws/progress?jobId=...` is the socket of a job (Docs/contract.md section 3.4), `/refused` refuses, `/die` resets the connection, and
`/late` says nothing before the client closes. All other addresses, also sockets of other jobs, return what they get.
"""
import asyncio
import http
import json
import signal
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus

JOB = "scan_11111111-2222-4333-8444-555555555555"
TOKEN = "bookstrack-auth.t0ken"
STAGES = ["job_started", "job_progress", "ping", "job_progress", "job_progress", "job_complete"]
# Longer than one read, and than the buffers of a socket.
SIZES = [0, 125, 126, 65_535, 65_536, 3_000_000]


def message(kind, number):
    return json.dumps(
        {
            "type": kind,
            "jobId": JOB,
            "pipeline": "ai_scan",
            "timestamp": 1_769_947_200_000 + number,
            "version": "1.0.0",
            "payload": {"progress": number / 10, "status": "processing", "currentItem": "B\u00fccher \u4e66"},
        },
        ensure_ascii=False,
    )


# MARK: The server


def refuse(connection, request):
    if request.path == "/refused":
        return connection.respond(http.HTTPStatus.UNAUTHORIZED, "no such token\n")
    return None


async def answer(connection):
    path = connection.request.path
    if path.endswith(JOB):
        await follow(connection)
    elif path == "/die":
        await connection.recv()
        connection.transport.abort()
    elif path == "/late":
        await connection.wait_closed()
    else:
        async for text in connection:
            await connection.send(text)


async def follow(connection):
    if json.loads(await connection.recv())["type"] != "ready":
        return await connection.close(1008, "not ready")
    await connection.send(message("ready_ack", 0))
    for number, kind in enumerate(STAGES):
        text = message(kind, number)
        if number == 3:
            # In fragments, with a control frame between them.
            await connection.send(text[start : start + 20] for start in range(0, len(text), 20))
            await (await connection.ping(b"between"))
        else:
            await connection.send(text)
    await connection.close(1000, "done")


async def run_server():
    ends = asyncio.get_running_loop().create_future()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, lambda: ends.done() or ends.set_result(None))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT])
    def select(_, offered):
        return TOKEN if TOKEN in offered else None

    async with serve(
        answer, "127.0.0.1", 0, process_request=refuse, select_subprotocol=select, max_size=8 << 20
    ) as server:
        print(f"listening http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await ends


# MARK: The client


async def progress(base):
    async with connect(f"{base}/ws/progress?jobId={JOB}", subprotocols=[TOKEN, "other"]) as socket:
        seen = [f"subprotocol {socket.subprotocol}", compression(socket)]
        try:
            await socket.send(json.dumps({"type": "ready", "timestamp": 1}))
            async for text in socket:
                read = json.loads(text)
                seen.append(f"{read['type']} {read['timestamp']} {read['payload']['currentItem']}")
        except ConnectionClosed:
            pass
        return seen + end(socket)


def compression(socket):
    return f"extensions {socket.response.headers.get('Sec-WebSocket-Extensions', '').split(';')[0]}"


def end(socket):
    """A connection that ended without a close frame has the code 1006."""
    return [f"closed {socket.close_code} {socket.close_reason}"]


async def echo(base):
    seen = []
    async with connect(f"{base}/echo?a=b%20c", max_size=8 << 20) as socket:
        seen.append(compression(socket))
        for size in SIZES:
            text, data = "\u00e9" * (size // 2), bytes(number * 7 % 251 for number in range(size))
            await socket.send(text)
            await socket.send(data)
            seen.append([await socket.recv() == text, await socket.recv() == data])
        # Many at once, which come in order.
        for number in range(500):
            await socket.send(str(number))
        seen.append([await socket.recv() for _ in range(500)] == [str(number) for number in range(500)])
        await (await socket.ping(b"1"))
    return seen + end(socket)


async def refused(base):
    try:
        async with connect(f"{base}/refused"):
            return ["opened"]
    except InvalidStatus as error:
        return [f"{error.response.status_code} {error.response.body.decode()}"]


async def dead(base):
    async with connect(f"{base}/die") as socket:
        await socket.send("now")
        await socket.wait_closed()
    return end(socket)


async def late(base):
    async with connect(f"{base}/late") as socket:
        await socket.close(4_000, "enough")
    return end(socket)


async def run_client(base):
    base = "ws" + base.removeprefix("http")
    for check in (progress, echo, refused, dead, late):
        seen = await asyncio.wait_for(check(base), 20)
        print(json.dumps({"check": check.__name__, "seen": seen}), flush=True)


asyncio.run(run_server() if sys.argv[1] == "server" else run_client(sys.argv[2]))
