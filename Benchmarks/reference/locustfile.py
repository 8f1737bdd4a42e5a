"""The journey of the live benchmarks for Locust: upload, stream, results, cleanup.

Settings come by environment variables: PHOTO, JOBS (a line for each journey), COUNTS (JSON), RATE (journeys a second by a
Poisson process; 0: each user begins again at once) and SECONDS in which journeys begin.
"""

import collections
import json
import os
import random
import time
import uuid

import gevent
from locust import FastHttpUser, constant, events, task
from locust.exception import StopUser

RATE = float(os.environ["RATE"])
SECONDS = float(os.environ["SECONDS"])
JOURNEYS_MAX = 1_000_000
BOUNDARY = "photo-of-a-shelf"
PHOTO = open(os.environ["PHOTO"], "rb").read()
# Made once, which costs less than to make it for each upload.
BODY = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="photos[]"; filename="photo.jpg"\r\n'
    "Content-Type: image/jpeg\r\n\r\n").encode() + PHOTO + f"\r\n--{BOUNDARY}--\r\n".encode()

jobs = collections.deque(maxlen=JOURNEYS_MAX)
counts = {"journeys": 0, "events": 0, "errors": 0}
begin = None
users = 0


class Schedule:
    """When the next journey begins, for whichever user is free."""

    def __init__(self):
        self.next = time.monotonic()

    def take(self):
        self.next += random.expovariate(RATE)
        return self.next


class Phone(FastHttpUser):
    wait_time = constant(0)
    schedule = None

    def on_start(self):
        global begin, users
        users += 1
        if begin is None:
            begin = time.monotonic()
            Phone.schedule = Schedule()
        self.device = str(uuid.uuid4())

    def rest(self):
        """Ends this user, and the run with the last one."""
        global users
        users -= 1
        if users == 0:
            gevent.spawn(self.environment.runner.quit)
        raise StopUser()

    @task
    def journey(self):
        scheduled = self.schedule.take() if RATE else time.monotonic()
        if scheduled >= begin + SECONDS:
            self.rest()
        if (wait := scheduled - time.monotonic()) > 0:
            gevent.sleep(wait)
        headers = {"X-Device-ID": self.device}
        try:
            upload = self.client.post(
                "/v3/jobs/scans", data=BODY,
                headers=headers | {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"})
            require(upload.status_code == 202, upload)
            job = upload.json()["data"]
            headers["Authorization"] = f"Bearer {job['authToken']}"
            kind = self.follow(job, headers)
            require(kind == "completed", kind)
            results = self.client.get(
                f"/v3/jobs/scans/{job['jobId']}/results?format=lite", headers=headers, name="results")
            require(results.status_code == 200 and results.json()["data"]["results"][0]["title"], results)
            jobs.append((job["jobId"], scheduled, time.monotonic()))
            cleanup = self.client.delete(f"/v3/jobs/scans/{job['jobId']}/cleanup", headers=headers, name="cleanup")
            require(cleanup.status_code == 204, cleanup)
            counts["journeys"] += 1
        except Exception as error:
            counts["errors"] += 1
            counts.setdefault("firstError", repr(error))

    def follow(self, job, headers):
        """Reads the stream to its end; the kind of its last event."""
        kind = last = None
        for line in self.client.iter_lines(
            job["sseUrl"], headers=headers | {"Accept": "text/event-stream"}, name="stream"
        ):
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                require(job["jobId"] in line, line)
            elif not line and kind:
                counts["events"] += 1
                last, kind = kind, None
        return last


def require(holds, said):
    if not holds:
        raise ValueError(f"not the answer of the journey: {said}")


@events.quitting.add_listener
def write(environment, **_):
    with open(os.environ["COUNTS"], "w") as file:
        json.dump(counts, file)
    with open(os.environ["JOBS"], "w") as file:
        file.write("job\tscheduled\tstarted\tresults\n")
        for job, scheduled, results in jobs:
            file.write(f"{job}\t{round(scheduled * 1e9)}\t{round(scheduled * 1e9)}\t{round(results * 1e9)}\n")
    environment.process_exit_code = int(counts["errors"] > 0)
