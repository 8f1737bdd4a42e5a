"""What the drivers share. A driver follows one event stream with one client, as the documentation of the client shows.

It prints `ready` when the client is loaded, reads one line of JSON, `{"url", "headers", "again"}`, and prints a line of JSON for each
`event`, `end` and `failed`. A client that opens a stream again by itself is left alone. Another one is opened again, if `again` says
so, a second after the stream has ended or failed, with the last id that it told. The driver ends with its standard input.
"""

import asyncio
import inspect
import json
import os
import sys
import threading
import time

PAUSE = 1.0
OPENED_MAX = 20


def tell(what, **values):
    print(json.dumps({"what": what, **values}), flush=True)


def order():
    """The URL, the headers of the request, and whether to open the stream again."""
    tell("ready")
    order = json.loads(sys.stdin.readline())
    return order["url"], order["headers"], order["again"]


def end_with_standard_input():
    sys.stdin.read()
    os._exit(0)


def event(name, data, id=None):
    """One event as the client gives it to its user. The id is None if the client has none."""
    tell("event", event=name, data=data, id=id)


def attempt(follow, *arguments):
    try:
        result = follow(*arguments)
        if inspect.iscoroutine(result):
            asyncio.run(result)
        tell("end")
    except Exception as error:
        tell("failed", error="%s: %s" % (type(error).__name__, " ".join(str(error).split())[:200]))


def by_itself(follow):
    """A client that opens a stream again by itself: `follow(url, headers)`."""
    url, headers, _ = order()
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    attempt(follow, url, headers)


def by_its_user(follow):
    """A client that reads one answer: `follow(url, headers, saw)`. `saw(id)` notes the last id."""
    url, headers, again = order()
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    last = []
    for _ in range(OPENED_MAX if again else 1):
        attempt(follow, url, dict(headers, **({"Last-Event-ID": last[-1]} if last else {})), lambda id: last.append(id) if id else None)
        time.sleep(PAUSE)
