"""Runs the published Locust master with workers of swiftwing-sim and prints, as JSON, what both found.

    locust_run.py FOLDER BINARY SCENARIO TARGET [--workers N] [--users N] [--seconds N] [--kill-after S] [--late S]
        [--quit-master-after S]

--kill-after: kill -9 one worker S seconds after all users have been spawned. --late: start one more worker then.
--quit-master-after: kill -9 the master, and wait for the verdict of a worker alone.
"""

import argparse
import csv
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LOCUST = os.path.join(ROOT, ".build/bench/venv/bin/locust")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rows(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def wait_for(text, path, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with open(path) as stream:
            if text in stream.read():
                return
        time.sleep(0.05)
    sys.exit(f"the log never said '{text}':\n" + open(path).read())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("binary")
    parser.add_argument("scenario")
    parser.add_argument("target")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--users", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--kill-after", type=float)
    parser.add_argument("--late", type=float)
    parser.add_argument("--quit-master-after", type=float)
    options = parser.parse_args()

    # A test runner may block SIGCHLD, without which gevent never hears of the end of a child.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    port = free_port()
    folder = options.folder
    output = os.path.join(folder, "merged")
    environment = dict(
        os.environ, SWIFTWING_SIM=options.binary, SWIFTWING_SCENARIO=options.scenario, SWIFTWING_OUTPUT=output,
        TMPDIR=folder,
    )
    log = os.path.join(folder, "master.log")
    words = [
        LOCUST, "-f", os.path.join(ROOT, "Distributed/locustfile.py"), "--master", "--headless",
        "--master-bind-host", "127.0.0.1", "--master-bind-port", str(port), "--expect-workers", str(options.workers),
        "-u", str(options.users), "-r", str(options.users), "-t", f"{options.seconds}s", "--csv",
        os.path.join(folder, "locust"), "--enable-rebalancing", "--host", options.target,
    ]
    processes, workers = [], []
    try:
        with open(log, "w") as stream:
            master = subprocess.Popen(words, cwd=folder, env=environment, stdout=stream, stderr=stream)
        processes.append(master)

        def start():
            path = os.path.join(folder, f"worker-{len(workers)}.log")
            command = [options.binary, "worker", "--master", f"127.0.0.1:{port}", "--no-color", "--output",
                       os.path.join(folder, "workers")]
            if options.quit_master_after is not None:
                command += ["--master-timeout", "3s"]
            with open(path, "w") as stream:
                workers.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=stream, stderr=stream))
            processes.append(workers[-1])

        for _ in range(options.workers):
            start()
        killed = None
        if options.kill_after is not None or options.late is not None or options.quit_master_after is not None:
            wait_for("All users spawned", log, 30)
        if options.late is not None:
            time.sleep(options.late)
            start()
        if options.kill_after is not None:
            time.sleep(options.kill_after)
            workers[0].kill()
            killed = workers[0].wait()
        if options.quit_master_after is not None:
            time.sleep(options.quit_master_after)
            master.kill()
            summary = None
            end = time.monotonic() + 15
            while time.monotonic() < end and not summary:
                summary = glob.glob(os.path.join(folder, "workers", "*", "summary.json"))
                time.sleep(0.1)
        code = master.wait(timeout=45)
        codes = []
        for worker in workers:
            try:
                codes.append(worker.wait(timeout=0.1 if options.quit_master_after is not None else 15))
            except subprocess.TimeoutExpired:
                codes.append(None)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()

    def read(path):
        return open(path).read() if os.path.exists(path) else ""

    def phones(folder):
        return sum(group["devices"] for group in json.loads(read(os.path.join(folder, "run.json")))["groups"])

    summary = read(os.path.join(output, "summary.json"))
    evidence = sorted(glob.glob(os.path.join(output, "workers", "*")))
    print(json.dumps({
        "code": code, "workers": codes, "killed": killed,
        "rows": rows(os.path.join(folder, "locust_stats.csv")),
        "failures": rows(os.path.join(folder, "locust_failures.csv")),
        "exceptions": rows(os.path.join(folder, "locust_exceptions.csv")),
        "summary": json.loads(summary) if summary else None,
        "evidence": {os.path.basename(folder): phones(folder) for folder in evidence},
        "runs": sorted(os.listdir(os.path.join(folder, "workers"))) if os.path.isdir(os.path.join(folder, "workers")) else [],
        "log": read(log),
        "worker_logs": [read(os.path.join(folder, f"worker-{index}.log")) for index in range(len(workers))],
    }))


if __name__ == "__main__":
    main()
