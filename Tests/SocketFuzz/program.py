"""The program under test as a process, watched: its end, its time, its memory, its disk, and what it prints."""

import glob
import os
import re
import signal
import subprocess
import threading
import time

MEMORY_MIB = 400
DISK_MIB = 100
EXIT_CODES = {0, 64, 65, 66, 69, 70, 74, 97, 98, 99, 104, 105}
# Anything but text, line ends and tabs.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Program:
    """A process in a folder of its own. `failures` tells what was wrong with it."""

    def __init__(self, binary, arguments, folder, seconds, name="program"):
        self.failures = []
        self.folder = folder
        self.name = name
        self.peak = 0
        self.code = None
        self.deadline = time.monotonic() + seconds
        self.paths = [os.path.join(folder, name + end) for end in (".out", ".err")]
        environment = {k: v for k, v in os.environ.items() if k not in ("TERM", "COLUMNS", "CI", "FORCE_COLOR")}
        with open(self.paths[0], "wb") as out, open(self.paths[1], "wb") as err:
            self.process = subprocess.Popen(
                [binary, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                env={**environment, "SWIFT_BACKTRACE": "enable=no"}, start_new_session=True)
        self.done = threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.watcher.start()

    def _watch(self):
        """Until the process ends. One that takes too much of anything is killed, so that the machine stays well."""
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                # The largest process of the tree, this one before its exec included.
                self.peak = max(self.peak, usage.ru_maxrss if usage.ru_maxrss > self._own_peak() else 0)
                break
            self._measure()
            if time.monotonic() > self.deadline:
                self._kill("hang: still running at its deadline")
            elif self.peak > MEMORY_MIB * 1024:
                self._kill("memory")
            elif self.disk() > DISK_MIB << 20:
                self._kill("disk")
            time.sleep(0.02)
        self.process.returncode = self.code
        if self.peak > MEMORY_MIB * 1024:
            self.failures.append("memory: %d MiB" % (self.peak // 1024))
        if self.disk() > DISK_MIB << 20:
            self.failures.append("disk: %d MiB" % (self.disk() >> 20))
        self.done.set()

    @staticmethod
    def _own_peak():
        return high_water(os.getpid())

    def _measure(self):
        for pid in [self.process.pid, *children(self.process.pid)]:
            self.peak = max(self.peak, high_water(pid))

    def _kill(self, why):
        if why.startswith("hang"):
            self.failures.append(why)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def disk(self):
        total = 0
        for path, _, names in os.walk(self.folder):
            for name in names:
                try:
                    total += os.lstat(os.path.join(path, name)).st_blocks * 512
                except OSError:
                    pass
        return total

    def is_alive(self):
        return not self.done.is_set()

    def descriptors(self):
        """How many it has open, without those of its parts among themselves."""
        with open("/proc/net/unix") as file:
            inner = {"socket:[%s]" % line.split()[6] for line in file}
        return sum(name not in inner for name in opened(self.process.pid))

    def wants_to_run(self):
        """Whether one of its threads runs, or would on a machine that is less busy."""
        for path in glob.glob("/proc/%d/task/*/stat" % self.process.pid):
            try:
                with open(path) as file:
                    if file.read().rpartition(") ")[2].startswith("R"):
                        return True
            except OSError:
                pass
        return False

    def port(self, seconds=15):
        """Of a server that has said where it listens; None when it ended instead."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = re.search(rb"listening http://127\.0\.0\.1:(\d+)", self.output())
            if found:
                return int(found[1])
            if not self.is_alive():
                return None
            time.sleep(0.01)
        return None

    def output(self):
        pieces = []
        for path in self.paths:
            with open(path, "rb") as file:
                pieces.append(file.read(8 << 20))
        return b"".join(pieces)

    def stop(self, seconds=15):
        """Interrupts a server, which must then end."""
        if self.is_alive():
            self.deadline = min(self.deadline, time.monotonic() + seconds)
            try:
                os.kill(self.process.pid, signal.SIGINT)
            except ProcessLookupError:
                pass
        return self.wait()

    def wait(self):
        """Its exit code, after the checks that hold for every process."""
        self.done.wait()
        self.watcher.join()
        if not self.failures:
            if self.code < 0:
                self.failures.append("signal: %s" % signal.Signals(-self.code).name)
            elif self.code not in EXIT_CODES:
                self.failures.append("exit: %d is not documented" % self.code)
        self._look_at_output()
        return self.code

    def _look_at_output(self):
        output = self.output()
        try:
            text = output.decode()
        except UnicodeDecodeError as error:
            self.failures.append("output: not UTF-8: %r" % output[max(0, error.start - 20) : error.end + 20])
            return
        found = CONTROL.search(text)
        if found:
            self.failures.append("output: control character in %r" % text[max(0, found.start() - 30) : found.end() + 30])


def high_water(pid):
    """VmHWM in KiB."""
    try:
        with open("/proc/%d/status" % pid) as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


def opened(pid):
    """What its descriptors are; nothing when it has ended."""
    names = []
    for path in glob.glob("/proc/%d/fd/*" % pid):
        try:
            names.append(os.readlink(path))
        except OSError:
            pass
    return names


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []
