"""Runs a program in a terminal of a given size, and tells what a person would have seen of it, as one JSON object.

usage: terminal.py COLUMNS ROWS PROGRAM [ARGUMENT ...]

  code      what the program ended with
  progress  the most lines with the progress of a run that stood in the terminal at once, scrolled away ones included
  wrapped   lines that were too long and went on in the next one
  text      all lines at the end

It understands what the program writes: text, carriage return, line feed, erasing to the end of a line, and colors.
"""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import unicodedata

PROGRESS = re.compile(r"captured [\d,]+/[\d,]+")
ESCAPE = re.compile(r"\x1b\[([\d;?]*)([A-Za-z])")


class Terminal:
    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.column = 0
        self.wrapped = []
        self.progress = 0
        self.rest = ""

    def write(self, text):
        text = self.rest + text
        self.rest = ""
        place = 0
        while place < len(text):
            if text[place] == "\x1b":
                found = ESCAPE.match(text, place)
                if not found:
                    self.rest = text[place:]
                    break
                self.escape(*found.groups())
                place = found.end()
                continue
            self.put(text[place])
            place += 1
        self.progress = max(self.progress, sum(bool(PROGRESS.search(line)) for line in self.lines))

    def escape(self, argument, command):
        if command == "K":
            kept = "" if argument == "2" else self.lines[-1][: self.column]
            self.lines[-1] = kept

    def put(self, character):
        if character == "\n":
            self.lines.append("")
        elif character == "\r":
            self.column = 0
        elif not unicodedata.combining(character):
            if self.column == self.columns:
                self.wrapped.append(self.lines[-1])
                self.lines.append("")
                self.column = 0
            line = self.lines[-1].ljust(self.column)
            self.lines[-1] = line[: self.column] + character + line[self.column + 1 :]
            self.column += 1


def main(columns, rows, *command):
    terminal = Terminal(int(columns) or 80)  # A terminal that does not know its size is shown as one of 80 columns.
    child, descriptor = pty.fork()
    if child == 0:
        for name in ("COLUMNS", "LINES", "CI", "NO_COLOR", "FORCE_COLOR"):
            os.environ.pop(name, None)
        os.environ["TERM"] = "xterm-256color"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))
        os.execvp(command[0], command)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        select.select([descriptor], [], [])
        try:
            data = os.read(descriptor, 65536)
        except OSError:  # Linux: nobody has the other end any more.
            break
        if not data:
            break
        terminal.write(decoder.decode(data))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps({"code": code, "progress": terminal.progress, "wrapped": terminal.wrapped, "text": terminal.lines}))


main(*sys.argv[1:])
