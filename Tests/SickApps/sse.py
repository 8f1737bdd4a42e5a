"""An incremental reader of event streams, by the HTML standard, section 9.2."""

from __future__ import annotations

from dataclasses import dataclass

EVENT_BYTES_MAX = 1 << 20


@dataclass(frozen=True)
class Event:
    """One event: its name, its data, and the id that the stream has had since."""

    name: str
    data: str
    id: str


class Reader:
    """Turns pieces of bytes into events; a piece may begin and end anywhere."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry: float | None = None
        self._rest = b""
        self._after_cr = False
        self._first = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that a piece completes."""
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
            self._after_cr = False
        if piece:
            self._after_cr = piece.endswith(b"\r")
        *lines, self._rest = _split(self._rest + piece)
        if len(self._rest) + sum(map(len, self._data)) > EVENT_BYTES_MAX:
            raise ValueError("an event is larger than 1 MiB")
        events = []
        for line in lines:
            event = self._line(line)
            if event is not None:
                events.append(event)
        return events

    def _line(self, line: bytes) -> Event | None:
        if self._first:
            self._first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        field, _, value = line.decode("utf-8", "replace").partition(":")
        self._field(field, value.removeprefix(" "))
        return None

    def _field(self, field: str, value: str) -> None:
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self.last_id = value
        elif field == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value) / 1000

    def _dispatch(self) -> Event | None:
        name, data = self._name or "message", self._data
        self._name, self._data = "", []
        return Event(name, "\n".join(data), self.last_id) if data else None


def _split(text: bytes) -> list[bytes]:
    """Return the lines that end with LF, CRLF or CR, and what follows the last end."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
