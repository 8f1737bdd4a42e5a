"""Reads an event stream as the HTML Living Standard says, section 9.2.6."""

import codecs
import collections
import re

Event = collections.namedtuple("Event", "name data id")


class Reader:
    def __init__(self):
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.isFirst = True
        self.id = ""
        self.retry = None
        self.comments = 0
        self.name, self.data, self.pending = "", [], ""

    def read(self, piece):
        """The events that are complete with these bytes."""
        self.text += self.decoder.decode(piece)
        if self.isFirst and self.text:
            self.text = self.text.removeprefix("\ufeff")
            self.isFirst = False
        # A carriage return at the end may be the first half of a CRLF.
        held = "\r" if self.text.endswith("\r") else ""
        *lines, rest = re.split("\r\n|\n|\r", self.text[: len(self.text) - len(held)])
        self.text = rest + held
        return [event for line in lines for event in self.line(line)]

    def end(self):
        """The events that are complete with the end of the stream: a carriage return may still be held."""
        text, self.text = self.text, ""
        return list(self.line(text[:-1])) if text.endswith("\r") else []

    def line(self, line):
        if not line:
            self.id = self.pending
            if self.data:
                yield Event(self.name or "message", "\n".join(self.data), self.id)
            self.name, self.data = "", []
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not field:
            self.comments += 1
        elif field == "event":
            self.name = value
        elif field == "data":
            self.data.append(value)
        elif field == "id" and "\0" not in value:
            self.pending = value
        elif field == "retry" and re.fullmatch("[0-9]+", value):
            self.retry = int(value)
