"""Prints what an HdrHistogram log holds: for each tag the count and the percentiles in milliseconds, as JSON.

The reader is the published package `hdrhistogram`; nothing of ours is imported.
"""

import json
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader


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
                    "p50": total.get_value_at_percentile(50) / 1e6,
                    "p90": total.get_value_at_percentile(90) / 1e6,
                    "p95": total.get_value_at_percentile(95) / 1e6,
                    "p99": total.get_value_at_percentile(99) / 1e6,
                    "p999": total.get_value_at_percentile(99.9) / 1e6,
                    "max": total.get_max_value() / 1e6,
                }
                for tag, total in totals.items()
            },
            sort_keys=True,
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
