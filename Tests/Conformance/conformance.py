#!/usr/bin/env python3
"""Checks the OpenAPI file and `serve` against each other with programs that others wrote.

openapi-spec-validator checks the file, and schemathesis generates requests from it and checks the answers of `serve`. The
packages must be importable, as they are in the environment that `make conformance` prepares.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request

FOLDER = pathlib.Path(__file__).resolve().parent
FILE = FOLDER.parent.parent / "Docs" / "talaria-openapi.yaml"
# Short jobs, so that a test sees each from its beginning to its end, and streams that end with their jobs. Requests of v2 may
# have no device id, and would share a quota.
SERVE = ["serve", "--quiet", "--set", "server.job-time=200ms..400ms", "--set", "server.stream-linger=0s",
         "--set", "server.rate-limit=off"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, help="the program")
    parser.add_argument("--seconds", type=int, default=60, help="time for schemathesis (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generated requests (default: 1)")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                        help="change the server as `serve --set` does, for example server.v2.progress=poll")
    arguments = parser.parse_args()

    subprocess.run([sys.executable, "-m", "openapi_spec_validator", str(FILE)], check=True)
    # Schemathesis remembers failures where it runs.
    with tempfile.TemporaryDirectory() as scratch:
        check(arguments, scratch)


def check(arguments, scratch):
    switches = [word for change in arguments.set for word in ("--set", change)]
    server = subprocess.Popen([arguments.binary, *SERVE, *switches], stdout=subprocess.PIPE, text=True)
    try:
        base = server.stdout.readline().removeprefix("listening ").strip()
        with urllib.request.urlopen(base + "/openapi.yaml", timeout=10) as answer:
            if answer.read() != FILE.read_bytes():
                sys.exit(f"conformance: /openapi.yaml is not {FILE}: run `make docs`")
        run = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "--config-file", str(FOLDER / "schemathesis.toml"),
             "run", base + "/openapi.yaml", "--url", base, "--max-time", str(arguments.seconds),
             "--request-timeout", "20", "--seed", str(arguments.seed), "--continue-on-failure", "--warnings", "off"],
            cwd=scratch, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(FOLDER),
                              "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=arguments.seconds + 60)
        if server.poll() is not None:
            sys.exit(f"conformance: the server ended with {server.returncode}")
        sys.exit(run.returncode)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=10)


if __name__ == "__main__":
    main()
