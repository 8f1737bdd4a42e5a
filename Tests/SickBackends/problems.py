"""How a request is refused: RFC 9457 in v3, an envelope in v2."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

import words
from jobs import Backend
from limits import Verdict

RETRYABLE = {"RATE_LIMIT_EXCEEDED", "CIRCUIT_OPEN", "PROVIDER_ERROR", "PROVIDER_TIMEOUT", "CACHE_ERROR",
             "NETWORK_ERROR", "TIMEOUT"}


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, code: str, detail: str, headers: dict[str, str] | None = None,
                 wait_ms: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers or {}
        self.wait_ms = wait_ms


def limited(backend: Backend, verdict: Verdict) -> Refused:
    """Return the 429 of an upload beyond the limit of its device."""
    return Refused(429, "RATE_LIMIT_EXCEEDED", "Too many requests from device", verdict.headers(backend.bug),
                   verdict.body_wait(backend.bug))


def unauthorized(backend: Backend, code: str, detail: str) -> Refused:
    """Return a 401."""
    if backend.bug("token-403"):
        return Refused(403, "FORBIDDEN", detail)
    if backend.bug("token-wrong-code"):
        code = "MISSING_PARAMETER"
    return Refused(401, code, detail, {"WWW-Authenticate": "Bearer"})


def answer(backend: Backend, request: Request, refused: Refused) -> Response:
    """Return the answer to a refused request, in the form of its path."""
    bug = backend.bug
    status = 200 if bug("http-errors-200") else refused.status
    headers = dict(refused.headers)
    if bug("http-html-errors"):
        page = f"<html><head><title>{status} {refused.code}</title></head><body><h1>Oops!</h1></body></html>"
        return Response(page, status, headers, "text/html")
    if bug("problem-plain"):
        return Response(f"{refused.code}: {refused.detail}\n", status, headers, "text/plain")
    if request.url.path.startswith("/v3/"):
        return Response(words.dump(bug, problem(backend, request, refused), "problem"), status, headers,
                        "application/problem+json")
    body = words.dump(bug, envelope(backend, refused), "problem")
    return Response(body, status, headers, "application/json")


def problem(backend: Backend, request: Request, refused: Refused) -> dict[str, Any]:
    """Return the body of RFC 9457."""
    bug = backend.bug
    body: dict[str, Any] = {
        "success": False, "type": "https://api.oooefam.net/errors/" + refused.code.lower().replace("_", "-"),
        "title": refused.code.replace("_", " ").title(), "status": refused.status, "detail": refused.detail,
        "instance": request.url.path, "code": refused.code, "retryable": refused.code in RETRYABLE}
    if refused.wait_ms is not None:
        body["retryAfterMs"] = refused.wait_ms
    body["metadata"] = {"timestamp": words.stamp(bug), "requestId": request.state.request_id}
    if bug("problem-no-code"):
        del body["code"]
    if bug("problem-success-true"):
        body["success"] = True
    if bug("problem-no-retryable"):
        del body["retryable"]
    if bug("problem-retryable-wrong"):
        body["retryable"] = not body["retryable"]
    if bug("problem-status-differs"):
        body["status"] = 500
    if bug("problem-array"):
        return {"errors": [body]}
    return body


def envelope(backend: Backend, refused: Refused) -> dict[str, Any]:
    """Return the error body of v2."""
    bug = backend.bug
    error: dict[str, Any] = {"code": refused.code, "message": refused.detail,
                             "retryable": refused.code in RETRYABLE}
    body: dict[str, Any] = {"success": False, "error": error}
    if refused.wait_ms is not None:
        error["details"] = {"retryAfterMs": refused.wait_ms}
        if refused.status == 429:
            body["retryAfter"] = max(0, -(-refused.wait_ms // 1000))
    if bug("problem-no-code"):
        del error["code"]
    if bug("problem-success-true"):
        body["success"] = True
    if bug("problem-no-retryable"):
        del error["retryable"]
    if bug("problem-retryable-wrong"):
        error["retryable"] = not error["retryable"]
    if bug("problem-array"):
        return {"errors": [error]}
    return body
