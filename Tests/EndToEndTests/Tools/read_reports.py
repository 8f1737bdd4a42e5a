"""Reads a run's folder with the packages that others published, and prints what they found, as JSON.

usage: read_reports.py FOLDER
"""

import json
import sys

from junitparser import JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families


def main(folder):
    suites = {}
    for suite in JUnitXml.fromfile(folder + "/junit.xml"):
        cases = [(case.name, [type(result).__name__ for result in case.result]) for case in suite]
        assert suite.tests == len(cases)
        suites[suite.name] = {
            "cases": len(cases),
            "failures": suite.failures,
            "errors": suite.errors,
            "skipped": suite.skipped,
        }
    with open(folder + "/metrics.prom", encoding="utf-8") as file:
        families = list(text_string_to_metric_families(file.read()))
    samples = {
        sample.name: sample.value for family in families for sample in family.samples if not sample.labels
    }
    print(json.dumps({"junit": suites, "families": len(families), "samples": samples}))


main(sys.argv[1])
