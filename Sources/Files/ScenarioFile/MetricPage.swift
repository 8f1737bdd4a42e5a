import Metrics
import Talaria

/// The documentation of every metric, made from their tables.
package enum MetricPage {
    /// Markdown that ends in a newline.
    package static var text: String {
        var page = """
            # Metrics

            Every metric of a run. `slo` of a scenario sets objectives for them ([objectives](objectives.md)), and `summary.json` has
            the same names. `make docs` generates this page from the tables in [Sources/Core/Metrics](../../Sources/Core/Metrics).

            *n/a with a target* means that only the simulated backend can tell: with `--target`, the metric is neither 0 nor failed.

            ## Times

            Unit in objectives: `ns`, `us`, `ms`, `s`, `m` or `h`; in `summary.json`: milliseconds. Aggregations: `avg`, `min`, `max`,
            `med`, `p(N)` and `count`. Only what has ended has a time. *open at the end* means that operations which had not ended are
            counted as slower than every limit ([objectives](objectives.md)).

            Times of an open model (`arrivals`) begin at the scheduled moment of the capture, so that a slow generator cannot hide its own
            delay.


            """
        page += MarkdownTable.text(
            ["metric", "from and to", "open at the end", "with a target"],
            LatencyMetric.allCases.map { metric in
                [
                    "`\(metric.rawValue)`", metric.meaning,
                    metric.countsUnfinished ? "counted" : "not counted",
                    metric.isMeasuredByTrial ? "above the fastest" : Self.target(metric.needsBackend),
                ]
            })
        page += """

            `sse.event.latency` is about events that are sent as they occur. `sse.event.delay` is about those that a stream replays, because
            they were emitted while it was lost or not yet open: it contains the time of the loss.

            With a target, `sse.event.latency` is the delay from the event's own timestamp to its arrival, above the least delay of the last
            minute: the clocks of two machines differ, and so the least delay itself is not known. It has no values if events have no
            timestamps.

            `preprocess.time` has one value for each photo, not for each capture, unless the group has `preprocess: each`.

            The four `net.*` are measured by the HTTP client, with `--target` only. `generator.lateness` is about this program, and is measured in live
            runs.

            ## Failure rates

            Unit in objectives: `%`. Aggregations: `rate`, and `count` of what failed. An operation includes its retries; those with `attempts`
            in the name count every request by itself, and so notice a sick backend within seconds. A 429 is no failure: the phone was told to
            wait, and does.


            """
        page += MarkdownTable.text(
            ["metric", "one operation is", "it has failed if"],
            RateMetric.allCases.map { metric in
                ["`\(metric.rawValue)`", metric.meaning.operation, metric.meaning.failure]
            })
        page += """

            ## Counts

            Whole numbers without a unit. Aggregations: `count`, or `value`, which is the same.


            """
        page += MarkdownTable.text(
            ["metric", "what is counted", "with a target"],
            CountMetric.allCases.map { metric in
                ["`\(metric.rawValue)`", metric.meaning, Self.target(metric.needsBackend)]
            })
        page += """

            Two families have a name for each kind of answer and each fault. Answers have the aggregation `rate`, too, a share of the
            answers to the same operation; they are those that phones read, without those to probes:


            """
        page += MarkdownTable.text(
            ["metric", "what is counted"],
            [
                ["`\(AnswerMetric.prefix)429`", "answers with this status, from 100 to 999"],
                ["`\(AnswerMetric.prefix)5xx`", "answers with a status of this class, 1xx to 5xx"],
                [
                    "`\(AnswerMetric.prefix)upload.503`, `\(AnswerMetric.prefix)stream.4xx`",
                    "the same of one operation: \(AnswerMetric.operations.map(\.name).joined(separator: ", "))",
                ],
                ["`\(Metric.faultPrefix)reset-1`", "how often the fault of this id acted"],
            ])
        page += """

            ## Costs

            Dollars, as a plain number with at most six decimals. Aggregation: `value`. A scenario has them if it states prices
            (`cost`, [photo-to-library](photo-to-library.md#5-what-a-book-costs)). Without a book that has a price there is no data, and the
            objective fails.


            """
        page += MarkdownTable.text(
            ["metric", "what it is"],
            CostMetric.allCases.map { ["`\($0.rawValue)`", $0.meaning] })
        return page + Self.names
    }

    /// The names that Prometheus reads.
    private static var names: String {
        let rate = RateMetric.uploadFailed
        let page = """

            ## For Prometheus

            `metrics.prom` of a run, `/metrics` of its dashboard ([control](control.md#prometheus-and-grafana)) and `/_sim/metrics` of `serve`
            and `proxy` have the same names:

            - a time such as `scan.time` is the histogram `\(MetricFamily(.scanTime).name)`, with buckets of 1, 2 and 5 times each power
              of ten from 1 ms to 500 s, and the gauge `\(MetricFamily(quantilesOf: .scanTime).name)`, with the exact percentiles since the
              start of the run by the label `quantile`
            - a failure rate such as `\(rate.rawValue)` is the two counters `\(MetricFamily(failedOf: rate).sampleNames[0])` and
              `\(MetricFamily(operationsOf: rate).sampleNames[0])`
            - a count such as `scans.lost` is the counter `\(MetricFamily(.scansLost).sampleNames[0])`, and a cost the gauge
              `\(MetricFamily(.total).name)`

            The fleet has no label. If there are several groups, each has the label `group`; `{group=""}` is the fleet alone. Beside them:


            """
        return page
            + MarkdownTable.text(
                ["name", "type", "labels", "what it is"],
                MetricFamily.Fact.allCases.map { fact in
                    let family = MetricFamily(fact)
                    return [
                        "`\(family.sampleNames[0])`", family.kind.rawValue,
                        fact.labels.isEmpty
                            ? "none" : fact.labels.map { "`\($0)`" }.joined(separator: ", "),
                        family.help,
                    ]
                })
    }

    private static func target(_ needsBackend: Bool) -> String { needsBackend ? "n/a" : "yes" }
}
