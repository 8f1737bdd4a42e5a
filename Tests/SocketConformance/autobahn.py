#!/usr/bin/env python3
"""Holds an end of WebSocket that echoes against the cases of the Autobahn Testsuite, by `kosoku`, which runs them on Python 3.

usage: autobahn.py server URL     the end is a server at ws://...
       autobahn.py client         the end is a client of the server that is named in the first line, `listening PORT`: it takes the
                                  number of cases from /getCaseCount, echoes on /runCase?case=N&agent=NAME for each, from 1 on, and
                                  finishes by /updateReports?agent=NAME

Prints a line for each case: its number, and the verdicts on the messages and on the close. Not asked for are compression (12 and 13),
which is an extension, and messages of many megabytes, which test how fast an end is (9).
"""
import asyncio
import os
import sys

from kosoku import FailureError, run_fuzzingclient, run_fuzzingserver

LEFT_OUT = ["9.*", "12.*", "13.*"]
CONCURRENCY = 16


def show(results):
    for result in results:
        print(result.case_id, result.behavior.value, result.behavior_close.value.replace(" ", "-"))


async def judge(results):
    try:
        show(await results)
    except FailureError as failure:
        show(failure.results)


async def run_client():
    async with run_fuzzingserver(exclude_cases=LEFT_OUT, port=0) as server:
        print(f"listening {server.port}", flush=True)
        await judge(server.get_result())


async def run_server(url):
    await judge(run_fuzzingclient(url, exclude_cases=LEFT_OUT, concurrency=CONCURRENCY))


asyncio.run(run_client() if sys.argv[1] == "client" else run_server(sys.argv[2]))
sys.stdout.flush()
# The native part of the suite now and then aborts when the interpreter ends, after all is said.
os._exit(0)
