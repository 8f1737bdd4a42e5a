"""Follows a run's live page as a reader of event streams does, and prints what it saw as JSON.

usage: follow.py URL

  policy     the page's Content-Security-Policy
  frames     the id of each frame
  windows    how many windows the chart of phones had, frame by frame from its first on
  first      the parts of the first frame
  late       the parts that a reader got at once who came in the middle of the run
  again      the parts that a reader got at once who had the frame before the present one
  finished   what the stream said at its end
  whole      whether the stream ended as it should
  statuses   of requests for other things, by their names
"""

import http.client
import json
import re
import sys
import urllib.parse


class Stream:
    def __init__(self, host, last=None):
        self.connection = http.client.HTTPConnection(host, timeout=45)
        headers = {"Accept": "text/event-stream"}
        if last:
            headers["Last-Event-ID"] = last
        self.connection.request("GET", "/events", headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.status
        assert self.answer.getheader("Content-Type") == "text/event-stream"

    def event(self):
        """The next event as (kind, id, data); None at the end."""
        kind, number, data = "message", None, []
        while True:
            line = self.answer.readline()
            if not line:
                return None
            line = line.decode().rstrip("\n")
            if not line:
                if data:
                    return kind, number, "\n".join(data)
                continue
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "event":
                kind = value
            elif name == "id":
                number = value
            elif name == "data":
                data.append(value)

    def frame(self):
        """The parts up to the next frame, its id, and the word of the end; no id at the end."""
        parts = {}
        while event := self.event():
            kind, number, data = event
            if kind == "part":
                name, _, html = data.partition("\n")
                parts[name] = html
            elif kind == "frame":
                return parts, number, None
            elif kind == "finished":
                return parts, None, data
        return parts, None, None


def status(host, method, path, headers=None):
    connection = http.client.HTTPConnection(host, timeout=10)
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def main(url):
    host = urllib.parse.urlsplit(url).netloc
    connection = http.client.HTTPConnection(host, timeout=10)
    connection.request("GET", "/")
    page = connection.getresponse()
    assert page.status == 200 and b"<!doctype html>" in page.read()
    seen = {"policy": page.getheader("Content-Security-Policy"), "frames": [], "windows": [], "finished": None}
    seen["statuses"] = {
        "elsewhere": status(host, "GET", "/report.html"),
        "post": status(host, "POST", "/events"),
        "head": status(host, "HEAD", "/"),
        "rebound": status(host, "GET", "/", {"Host": "evil.example"}),
    }
    stream = Stream(host)
    while True:
        parts, number, word = stream.frame()
        if number is None:
            seen["finished"] = word
            break
        seen["frames"].append(number)
        chart = re.search(r'<figure class="chart" id="phones">.*?data-values="([^"|]*)', parts.get("time", ""), re.S)
        if chart:
            seen["windows"].append(len(chart.group(1).split(";")))
        if len(seen["frames"]) == 1:
            seen["first"] = sorted(parts)
        if len(seen["frames"]) == 3:
            seen["late"] = sorted(Stream(host).frame()[0])
            seen["again"] = sorted(Stream(host, seen["frames"][1]).frame()[0])
    # Nothing comes behind the last word, and the body has its end.
    seen["whole"] = seen["finished"] is not None and stream.event() is None and stream.answer.isclosed()
    print(json.dumps(seen))


main(sys.argv[1])
