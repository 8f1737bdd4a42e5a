"""The parts of an upload, as a recording keeps them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from email.message import Message


@dataclass(frozen=True)
class Part:
    """One part: its name, its size, how it begins, and a digest in place of its bytes."""

    name: str
    size: int
    head: bytes
    digest: str


def parts_of(content_type: str, body: bytes) -> list[Part] | None:
    """Return the parts of a multipart body, or nothing if it has no boundary."""
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_boundary()
    if header.get_content_type() != "multipart/form-data" or not boundary:
        return None
    return [_part(text) for text in body.split(b"--" + boundary.encode())[1:-1]]


def _part(text: bytes) -> Part:
    head, _, content = text.partition(b"\r\n\r\n")
    content = content.removesuffix(b"\r\n")
    header = Message()
    for line in head.decode("latin-1").strip().splitlines():
        name, _, value = line.partition(":")
        header[name] = value.strip()
    field = header.get_param("name", "", "content-disposition")
    return Part(str(field), len(content), content[:8], hashlib.sha256(content).hexdigest())
