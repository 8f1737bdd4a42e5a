"""Successful answers with a JSON body."""

from __future__ import annotations

import gzip
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

import words
from jobs import Backend


def metadata(backend: Backend, request: Request) -> dict[str, Any]:
    """Return when and for which request an answer was made."""
    return {"timestamp": words.stamp(backend.bug), "requestId": request.state.request_id}


def plain(backend: Backend, body: bytes, status: int = 200,
          headers: dict[str, str] | None = None) -> Response:
    """Return an answer with the bytes of a JSON body."""
    bug = backend.bug
    headers = dict(headers or {})
    if bug("http-gzip"):
        body = gzip.compress(body)
        headers["Content-Encoding"] = "gzip"
    kind = "text/html" if bug("http-json-type") else "application/json"
    answer = Response(body, status, headers, kind)
    if bug("http-duplicate-headers"):
        answer.raw_headers.append((b"content-type", b"text/plain"))
        answer.raw_headers.append((b"x-request-id", b"req-of-the-proxy"))
    return answer


def json_answer(backend: Backend, value: Any, status: int = 200, headers: dict[str, str] | None = None,
                place: str = "other") -> Response:
    """Return an answer with a value as JSON."""
    return plain(backend, words.dump(backend.bug, value, place), status, headers)
