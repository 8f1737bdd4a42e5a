"""What schemathesis cannot know of the backend: photos, and the token of each job."""

import struct
import zlib

import schemathesis
from hypothesis import strategies
from schemathesis import GenerationMode

# The parts of an upload, and the paths whose bodies are JSON.
PARTS = {"photos[]", "photos", "file"}
JSON_PATHS = {"/api/batch-enrich", "/v1/enrichment/batch", "/api/v2/books/enrich"}
# The token of each job that was accepted, and the jobs that were cleaned up.
tokens = {}
cleaned = set()


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0"))
            + chunk(b"IEND", b""))


schemathesis.openapi.format(
    "binary",
    strategies.just(png()) | strategies.binary(max_size=2_000).map(lambda rest: b"\xff\xd8\xff\xe0" + rest))


@schemathesis.hook
def map_case(ctx, case):
    """Parts of other names are ignored, but for names that no part can have."""
    if case.meta and case.meta.generation.mode == GenerationMode.POSITIVE and isinstance(case.body, dict):
        if case.path not in JSON_PATHS:
            case.body = {name: part for name, part in case.body.items() if name in PARTS}
    return case


@schemathesis.auth(refresh_interval=None)
class JobToken:
    def get(self, case, ctx):
        return tokens.get((case.path_parameters or {}).get("jobId"))

    def set(self, case, token, ctx):
        if token:
            case.headers = case.headers or {}
            case.headers["Authorization"] = "Bearer " + token


@schemathesis.hook
def after_call(ctx, case, response):
    if response.status_code == 202:
        data = response.json()["data"]
        tokens[data["jobId"]] = data["authToken"]
    elif response.status_code == 204 and case.path.endswith("/cleanup"):
        cleaned.add(case.path_parameters["jobId"])


@schemathesis.check
def cleaned_job_is_gone(ctx, response, case):
    """Replaces use_after_free, which takes the DELETE that cancels a job for one that removes it."""
    job = (case.path_parameters or {}).get("jobId")
    if job in cleaned and not case.path.endswith("/cleanup"):
        assert response.status_code >= 400, f"a job that was cleaned up was answered with {response.status_code}"
