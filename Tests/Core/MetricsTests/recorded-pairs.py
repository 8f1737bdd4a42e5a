#!/usr/bin/env python3
"""Makes RecordedPairs.swift: the scan.time of two runs, and the intervals that scipy finds for them.

  recorded-pairs.py BASE NEW > RecordedPairs.swift      with the folders of two runs of one scenario and seed

Needs numpy, scipy and statsmodels.
"""

import json
import sys

import numpy
from scipy.stats import bootstrap, trim_mean
from scipy.stats.mstats import hdquantiles
from statsmodels.stats.multitest import multipletests

BLOCKS = 20
# A time of which 2 ms are 10 %.
SHORTEST_MS = 20
P_VALUES = [0.0004, 0.03, 0.011, 0.5, 0.0019, 0.04, 0.0019, 0.9]


def scans(folder):
    with open(folder + "/scans.ndjson") as lines:
        next(lines)
        return {(row["phone"], row["scan"]): row for row in map(json.loads, lines)}


def ratio_of(growth):
    return 1 + growth if growth >= 0 else 1 / (1 - growth)


def main():
    base, new = (scans(folder) for folder in sys.argv[1:3])
    keys = sorted(base.keys() & new.keys(), key=lambda key: base[key]["at_ms"])
    times = [numpy.array([run[key]["ms"]["scan.time"] for key in keys]) for run in (base, new)]
    blocks = numpy.arange(len(keys)) * BLOCKS // len(keys)
    print("// Made by recorded-pairs.py.\n")
    print("/// The scan.time, in milliseconds, of the pairs of two recorded runs in the order of their captures.")
    print("enum RecordedPairs {")
    for name, values in zip(("base", "new"), times):
        print("    static let %s: [Double] = [" % name)
        for start in range(0, len(values), 8):
            print("        " + ", ".join("%.3f" % value for value in values[start:start + 8]) + ",")
        print("    ]")
    print("    /// The ends of the intervals of 99 %% of scipy.stats.bootstrap (percentile, 9,999 resamples of %d blocks) with hdquantiles." % BLOCKS)
    for percentile in (50, 95):
        def ratio(drawn):
            picked = numpy.concatenate([numpy.flatnonzero(blocks == block) for block in drawn])
            low, high = (hdquantiles(values[picked], prob=[percentile / 100])[0] for values in times)
            return high / low
        found = bootstrap(
            (numpy.arange(BLOCKS),), ratio, n_resamples=9_999, vectorized=False, method="percentile",
            confidence_level=0.99, rng=1).confidence_interval
        print("    static let p%d = (%.4f, %.4f)" % (percentile, found.low, found.high))
    growths = (times[1] - times[0]) / numpy.maximum(numpy.minimum(*times), SHORTEST_MS)
    found = bootstrap(
        (numpy.arange(BLOCKS),),
        lambda drawn: trim_mean(numpy.concatenate([growths[blocks == block] for block in drawn]), 0.2),
        n_resamples=9_999, vectorized=False, method="percentile", confidence_level=0.99, rng=1).confidence_interval
    print("    /// The ratio of scipy.stats.trim_mean(..., 0.2) of the growths within the pairs, and the ends of its interval.")
    print("    static let pairs = (%.6f, %.4f, %.4f)" % tuple(
        ratio_of(growth) for growth in (trim_mean(growths, 0.2), found.low, found.high)))
    print("    /// statsmodels.stats.multitest.multipletests(..., method=\"holm\").")
    adjusted = multipletests(P_VALUES, method="holm")[1]
    print("    static let probabilities: [Double] = %s" % P_VALUES)
    print("    static let adjusted: [Double] = [%s]" % ", ".join("%.6g" % value for value in adjusted))
    print("}")


main()
