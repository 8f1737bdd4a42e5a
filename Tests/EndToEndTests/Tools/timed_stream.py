"""Follows an event stream and says when each event came, in milliseconds since the stream's head.

    timed_stream.py URL DEVICE TOKEN
"""

import http.client
import json
import sys
import time
from urllib.parse import urlsplit


def main():
    url, device, token = sys.argv[1:4]
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=15)
    connection.request("GET", parts.path, headers={
        "X-Device-ID": device, "Authorization": f"Bearer {token}", "Accept": "text/event-stream"})
    answer = connection.getresponse()
    began = time.monotonic()
    if answer.status != 200:
        print(f"status {answer.status}", file=sys.stderr)
        return 1
    fields = {}
    while line := answer.readline():
        text = line.decode().rstrip("\n")
        if text == "" and "data" in fields:
            print(json.dumps({
                "ms": (time.monotonic() - began) * 1000, "name": fields.get("event", "message"),
                "id": fields.get("id", ""), "data": fields["data"]}))
            fields = {}
        elif text and not text.startswith(":"):
            name, _, value = text.partition(": ")
            fields[name] = value
    return 0


if __name__ == "__main__":
    sys.exit(main())
