"""Scrapes `/metrics` with the parsers of others, and prints what it saw as JSON.

usage: scrape.py URL [--until-judged]

  scrapes    how many there were; one without --until-judged, which goes on until the run is judged
  fell       the counters that were less than in the scrape before
  late       whether the samples of the older format were others than those of OpenMetrics, at the end
  types      the content types, OpenMetrics first
  text       the last answer as OpenMetrics
"""

import json
import sys
import time
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as older

PROMETHEUS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def scrape(url, accept, parse):
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read().decode()
        families = list(parse(text))
        samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in families
            for sample in family.samples
        }
        return text, samples, answer.headers["Content-Type"]


def main(url, until_judged=None):
    before, fell, scrapes = {}, [], 0
    while True:
        text, samples, kind = scrape(url, PROMETHEUS, open_metrics)
        scrapes += 1
        fell += [
            str(key)
            for key, value in before.items()
            if key[0].endswith(("_total", "_bucket", "_count", "_sum")) and samples.get(key, 0) < value
        ]
        before = samples
        if not until_judged or samples.get(("swiftwing_run_active", ())) == 0:
            break
        time.sleep(0.3)
    _, plain, plain_kind = scrape(url, "text/plain;version=0.0.4", older)
    # A server counts the scrapes themselves.
    moving = ("swiftwing_server_",)
    late = {k: v for k, v in plain.items() if not k[0].startswith(moving)} != {
        k: v for k, v in samples.items() if not k[0].startswith(moving)
    }
    print(json.dumps(
        {"scrapes": scrapes, "fell": fell, "late": late, "types": [kind, plain_kind], "text": text}))


main(*sys.argv[1:])
