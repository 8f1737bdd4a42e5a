"""Prints what an HdrHistogram log holds: for each tag the count and the percentiles in milliseconds, as JSON.

The reader is the published package `hdrhistogram`; nothing of ours is imported.
"""

import json
import math
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader


def value(histogram, percent):
    """The package rounds a percentile's rank to the nearest; the reference implementation rounds up, as we do."""
    count = histogram.get_total_count()
    rank = math.ceil(round(percent * count, 6) / 100)
    return histogram.get_value_at_percentile(100 * rank / count) / 1e6


def main(path):
    totals = {}
    reference = HdrHistogram(1000, 3_600_000_000_000, 3)
    reader = HistogramLogReader(path, reference)
    while True:
        interval = reader.get_next_interval_histogram()
        if interval is None:
            break
        tag = interval.get_tag()
        if tag not in totals:
            totals[tag] = HdrHistogram(1000, 3_600_000_000_000, 3)
        totals[tag].add(interval)
    print(
        json.dumps(
            {
                tag: {
                    "count": total.get_total_count(),
                    "p50": value(total, 50),
                    "p90": value(total, 90),
                    "p95": value(total, 95),
                    "p99": value(total, 99),
                    "p999": value(total, 99.9),
                    "max": total.get_max_value() / 1e6,
                }
                for tag, total in totals.items()
            },
            sort_keys=True,
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
