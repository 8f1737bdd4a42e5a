#!/usr/bin/env python3
"""A collector of OpenTelemetry on a port of 127.0.0.1, which reads what it gets by the published messages (`opentelemetry-proto`).

JSON is read as OTLP says: ids are lowercase hexadecimal digits of 16 and 8 bytes, integers of 64 bits are texts, and there is no
field that the messages do not have. Protobuf is read as well. Anything else is answered with 400 and listed in `wrong`.

GET /_seen answers what has arrived, as one JSON object: spans, the names and types of metrics with their points, and `wrong`.
It says `listening http://127.0.0.1:PORT` and ends with SIGTERM.

usage: collector.py [--busy N | --silent | --refuse] [--delay SECONDS]
"""

import argparse
import base64
import http.server
import json
import re
import signal
import sys
import threading
import time

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
TEXTS = re.compile(r".*UnixNano|intValue|asInt|count|bucketCounts")


def checked(value, key=""):
    """The value with the ids as protobuf's JSON has them. Raises for what OTLP writes otherwise."""
    if isinstance(value, dict):
        return {key: checked(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [checked(inner, key) for inner in value]
    if key in IDS:
        if not re.fullmatch(r"[0-9a-f]{%d}" % (2 * IDS[key]), value):
            raise ValueError(f"{key} is {value!r}")
        data = bytes.fromhex(value)
        assert len(data) == IDS[key] and any(data)
        return base64.b64encode(data).decode()
    if TEXTS.fullmatch(key) and not isinstance(value, str):
        raise ValueError(f"{key} is {value!r}, and not a text")
    return value


def plain(value):
    kind = value.WhichOneof("value")
    return [plain(inner) for inner in value.array_value.values] if kind == "array_value" else getattr(value, kind or "string_value")


def attributes(message):
    return {attribute.key: plain(attribute.value) for attribute in message.attributes}


class Seen:
    def __init__(self):
        self.lock = threading.Lock()
        self.requests, self.spans, self.metrics, self.wrong = 0, [], {}, []

    def traces(self, request):
        for resource in request.resource_spans:
            own = attributes(resource.resource)
            for scope in resource.scope_spans:
                for span in scope.spans:
                    assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8)
                    assert span.end_time_unix_nano >= span.start_time_unix_nano > 0
                    self.spans.append(
                        {
                            "service": own["service.name"],
                            "resource": own,
                            "trace": span.trace_id.hex(),
                            "span": span.span_id.hex(),
                            "parent": span.parent_span_id.hex(),
                            "name": span.name,
                            "kind": span.kind,
                            "start": span.start_time_unix_nano,
                            "end": span.end_time_unix_nano,
                            "status": span.status.code,
                            "attributes": attributes(span),
                            "events": [[event.time_unix_nano, event.name, attributes(event)] for event in span.events],
                        }
                    )

    def take_metrics(self, request):
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    kind = metric.WhichOneof("data")
                    points = getattr(metric, kind).data_points
                    assert points and all(point.time_unix_nano > point.start_time_unix_nano > 0 for point in points)
                    if kind == "histogram":
                        assert all(sum(point.bucket_counts) == point.count for point in points)
                    first = points[0]
                    value = first.count if kind in ("summary", "histogram") else getattr(first, first.WhichOneof("value"))
                    self.metrics[metric.name] = {"kind": kind, "unit": metric.unit, "points": len(points), "first": value}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"{}", headers=()):
        self.send_response(status)
        for name, value in [*headers, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        seen = self.server.seen
        with seen.lock:
            body = {"requests": seen.requests, "spans": seen.spans, "metrics": seen.metrics, "wrong": seen.wrong}
            self.answer(200, json.dumps(body).encode())

    def do_POST(self):
        seen, options = self.server.seen, self.server.options
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with seen.lock:
            seen.requests += 1
            number = seen.requests
        time.sleep(options.delay)
        if options.silent:
            time.sleep(60)
            return
        if options.refuse:
            return self.answer(400)
        if number <= options.busy:
            return self.answer(503, headers=[("Retry-After", "1")])
        with seen.lock:
            try:
                self.take(body, seen)
            except Exception as error:  # Whatever it is, the test is to hear of it.
                seen.wrong.append(f"{self.path}: {type(error).__name__}: {error}")
                return self.answer(400)
        self.answer(200)

    def take(self, body, seen):
        message, take = {
            "/v1/traces": (ExportTraceServiceRequest, seen.traces),
            "/v1/metrics": (ExportMetricsServiceRequest, seen.take_metrics),
        }[self.path]
        if self.headers["Content-Type"] == "application/json":
            request = ParseDict(checked(json.loads(body)), message())
        else:
            request = message.FromString(body)
        take(request)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="answer so many requests with 503 and Retry-After: 1")
    parser.add_argument("--silent", action="store_true", help="answer nothing")
    parser.add_argument("--refuse", action="store_true", help="answer 400")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS", help="before each answer")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.seen, server.options = Seen(), parser.parse_args()
    print(f"listening http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


main()
