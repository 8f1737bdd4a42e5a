"""Photos as JPEG bytes: reading, making lean, telling apart, and what a careless app makes of them."""

from __future__ import annotations

from pathlib import Path

PHOTO_BYTES_MAX = 10_000_000
PHOTOS_MAX = 5
SHELVES = Path(__file__).resolve().parents[2] / "Images" / "shelves"


def load(paths: list[Path]) -> list[bytes]:
    """Return the photos of files, or those of the repository if there are no files."""
    files = paths or sorted(SHELVES.glob("*.jpg"))
    photos = [file.read_bytes() for file in files]
    for file, photo in zip(files, photos):
        if photo[:2] != b"\xff\xd8":
            raise ValueError(f"{file} is no JPEG")
    if not photos:
        raise ValueError(f"no photos in {SHELVES}; name some with --photo")
    return photos


def marked(photo: bytes, text: str) -> bytes:
    """Return a photo with a comment, so that its bytes differ from those of every other scan."""
    return photo[:2] + _segment(0xFE, text.encode()) + photo[2:]


def lean(photo: bytes) -> bytes:
    """Return a photo without metadata, comments and previews, which may be most of it."""
    kept, at = [photo[:2]], 2
    while at + 4 <= len(photo) and photo[at] == 0xFF and photo[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(photo[at + 2:at + 4], "big")
        if photo[at + 1] != 0xFE and not 0xE1 <= photo[at + 1] <= 0xED:
            kept.append(photo[at:end])
        at = end
    return b"".join(kept) + photo[at:]


def fits(photo: bytes) -> bool:
    """Return whether a photo is small enough for an upload (contract, section 1.2)."""
    return len(photo) <= PHOTO_BYTES_MAX


def with_preview(photo: bytes) -> bytes:
    """Return a photo of 11 MB: a preview in full size is embedded in it."""
    segment = _segment(0xE2, b"PREVIEW\0" + bytes(65_000))
    return photo[:2] + segment * (11_000_000 // len(segment) + 1) + photo[2:]


def as_heic(photo: bytes) -> bytes:
    """Return what the camera stores without a conversion: bytes that begin like a HEIC file."""
    return b"\0\0\0\x18ftypheic\0\0\0\0heicmif1" + photo[2:]


def _segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2, "big") + content
