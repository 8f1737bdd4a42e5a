"""Has a Prometheus scrape a run each second, and compares what it holds with the summary of the run. Prints JSON.

usage: prometheus.py PROMETHEUS TARGET SUMMARY DASHBOARD

  scrapes    how many scrapes of the run succeeded
  held       for each objective: what it judges, its value in Prometheus and that of the summary
  quantile   the p95 of scan.time from the buckets, and that of the summary, in seconds
  refused    the queries of the dashboard that Prometheus refuses, with its reason
  empty      the titles of the panels without data in the time of the run
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Prometheus:
    def __init__(self, binary, target, folder):
        self.base = "http://127.0.0.1:%d/" % free_port()
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(
                "global: {scrape_interval: 1s}\nscrape_configs:\n"
                "- {job_name: swiftwing-sim, static_configs: [{targets: ['%s']}]}\n" % target)
        self.process = subprocess.Popen(
            [binary, "--config.file=" + config, "--storage.tsdb.path=" + os.path.join(folder, "data"),
             "--web.listen-address=" + self.base[7:-1], "--log.level=error"])

    def query(self, text, at=None):
        """The samples as (labels, value)."""
        fields = {"query": text}
        if at:
            fields["time"] = at
        url = self.base + "api/v1/query?" + urllib.parse.urlencode(fields)
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                data = json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]) from None
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]

    def wait(self, text, seconds=100):
        """Until a query has a result."""
        for _ in range(seconds * 5):
            try:
                found = self.query(text)
                if found:
                    return found
            except (OSError, ValueError):
                pass
            time.sleep(0.2)
        raise SystemExit("there was never a result of " + text)


def told(slo, summary):
    """What an objective judges, by the summary, in the unit of slo_value; None for no data."""
    aggregation = re.match(r"[a-z]+(\([0-9.]+\))?", slo["expression"])[0]
    metric = summary["metrics"].get(slo["metric"]) or {}
    if aggregation == "rate":
        return metric["rate"] if metric.get("count") else None
    if aggregation in ("count", "value"):
        counters = summary["counters"] | {"faults." + name: n for name, n in summary["faults"].items()}
        return counters[slo["metric"]] if slo["metric"] in counters else metric["failed"]
    name = {"avg": "mean", "med": "p50"}.get(aggregation, re.sub(r"[().]", "", aggregation))
    return metric[name] / 1000 if metric.get(name) is not None else None


def main(binary, target, path, dashboard):
    with tempfile.TemporaryDirectory() as folder:
        prometheus = Prometheus(binary, target, folder)
        try:
            prometheus.wait("swiftwing_run_active == 1")
            prometheus.wait("swiftwing_run_active == 0")
            with open(path, encoding="utf-8") as file:
                summary = json.load(file)
            values = {
                (labels["metric"], labels["expression"]): value
                for labels, value in prometheus.query("swiftwing_slo_value")
            }
            held = [
                [slo["metric"] + " " + slo["expression"], values.get((slo["metric"], slo["expression"])),
                 told(slo, summary)]
                for slo in summary["slos"]
            ]
            quantile = prometheus.query(
                'histogram_quantile(0.95, swiftwing_scan_time_seconds_bucket{group=""})')[0][1]
            refused, empty = [], []
            with open(dashboard, encoding="utf-8") as file:
                panels = json.load(file)["panels"]
            for panel in panels:
                queries = [query["expr"] for query in panel.get("targets", [])]
                found = 0
                for query in queries:
                    text = query.replace("$__rate_interval", "10s").replace("$job", ".*")
                    try:
                        # At the end, and some seconds before it, when the phones worked.
                        found += len(prometheus.query(text)) + len(prometheus.query(text, time.time() - 4))
                    except ValueError as error:
                        refused.append("%s: %s" % (text, error))
                if queries and not found:
                    empty.append(panel["title"])
            scrapes = prometheus.query("count_over_time(swiftwing_run_active[10m])")[0][1]
            print(json.dumps({
                "scrapes": int(scrapes), "held": held, "refused": refused, "empty": empty,
                "quantile": [quantile, summary["metrics"]["scan.time"]["p95"] / 1000]}))
        finally:
            prometheus.process.terminate()
            prometheus.process.wait()


main(*sys.argv[1:])
