"""talaria.py with OpenTelemetry's own instrumentation for ASGI, which exports its spans to a collector.

usage: traced_talaria.py COLLECTOR [options of talaria.py]
"""

import asyncio
import contextvars
import os
import runpy
import sys

import uvicorn
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider(resource=Resource.create({"service.name": "talaria"}))
exporter = OTLPSpanExporter(endpoint=sys.argv.pop(1) + "/v1/traces")
provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=300))

config = uvicorn.Config


def traced(application):
    # Without the spans of single messages, of which a stream has many.
    application = OpenTelemetryMiddleware(application, tracer_provider=provider, exclude_spans=["receive", "send"])

    async def alone(scope, receive, send):
        # uvicorn may begin the next request of a connection in the context of the one before, whose span would be its parent.
        await asyncio.create_task(application(scope, receive, send), context=contextvars.Context())

    return alone


uvicorn.Config = lambda application, **rest: config(traced(application), **rest)
runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "talaria.py"), run_name="__main__")
