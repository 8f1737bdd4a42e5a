import Ledger
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Testing

@testable import Reports
@testable import RunArchive

@Suite struct MarkdownTests {
    private static func section(_ title: String, of result: RunResult) -> String? {
        let text = MarkdownReport.text(result)
        return text.firstRange(of: title).map { start in
            let rest = text[start.lowerBound...]
            let end = rest.dropFirst().firstRange(of: "\n###")?.lowerBound ?? rest.endIndex
            return String(rest[..<end])
        }
    }

    @Test func `the report of a broken invariant is this`() {
        #expect(MarkdownReport.text(Samples.brokenInvariant()) == Self.golden)
    }

    @Test func `what a foreign target does not show is n/a`() {
        let result = Samples.foreign()
        #expect(
            Self.section("### SLOs", of: result)?.contains(
                "| could not be judged without a simulated backend | `sse.event.latency` | `p(99) < 60ms` | `n/a` |"
            )
                == true)
        #expect(
            Self.section("### Invariants", of: result)?.contains(
                "n/a `book.never-lost`, `book.faithful`, `stream.no-gap`, `server.agrees`") == true)
        #expect(
            Self.section("### Scans", of: result)?.contains("Books: n/a expected, 540 received, n/a missing")
                == true)
        #expect(
            Self.section("### Latencies", of: result)?.contains(
                "| `sse.event.delay` | n/a | n/a | n/a | n/a | n/a |  |") == true)
        #expect(Self.section("<details>", of: result)?.contains("| `offline-1` | n/a |") == true)
        #expect(
            MarkdownReport.text(result).contains("122 cleaned up, 4 abandoned, 9 not deleted, n/a orphaned"))
    }

    @Test func `an aborted run says why`() {
        #expect(
            MarkdownReport.text(Samples.aborted()).hasPrefix(
                """
                ## ❌ flaky-network: ABORTED

                Commuters scan shelves while their link keeps dropping.

                5 SLOs and 13 invariants held; 1 SLO failed as the scenario allows.

                - `the backend process died: killed by signal 9`
                - `the load generator did not keep up`
                - `the run was interrupted`
                """))
    }

    // MARK: Hostile text

    @Test func `text of a server stays in its cell and its span`() {
        #expect(MarkdownText.code("a|b`c\n<script>@team #1") == "`a\\|b'c <script>@team #1`")
        #expect(MarkdownText.code("") == "")
        #expect(MarkdownText.code("\u{1B}[31m\u{202E}") == "`[31m`")
        #expect(MarkdownText.code(String(repeating: "x", count: 10_000)).count == Printable.bytesMax + 3)
        var result = Samples.brokenInvariant()
        let index = result.verdicts.firstIndex { $0.standing == .broken } ?? 0
        result.verdicts[index].examples[0].text = "` | </details>\n\n# @everyone"
        #expect(
            Self.section("### Invariants", of: result)?.contains("| `' \\| </details>  # @everyone` |\n")
                == true)
    }

    @Test(arguments: [
        ("a_b*c`d", #"a\_b\*c\`d"#), ("<b>&", "&lt;b&gt;&amp;"), ("[x](y)", #"\[x\](y)"#),
        ("- item", #"\- item"#), ("flaky-network", "flaky-network"), ("12. item", #"12\. item"#),
        ("see @team and #12", "see @&#8205;team and #&#8205;12"), ("http://x", "http:&#8205;//x"),
        ("www.x", #"www\.x"#), ("one\ntwo|three", #"one two\|three"#),
    ]) func `text of a scenario is text`(text: String, escaped: String) {
        #expect(MarkdownText.escaped(text) == escaped)
    }

    @Test func `no command closes its own block`() {
        #expect(MarkdownText.block("sh", "a ```` b") == "`````sh\na ```` b\n`````\n")
        #expect(MarkdownText.block("sh", "plain") == "```sh\nplain\n```\n")
    }

    private static let golden = #"""
        ## ❌ flaky-network: FAILED

        **4 books are missing from 1 scan**

        At fault: the simulated phones (book.never-lost).

        Commuters scan shelves while their link keeps dropping.

        1 invariant failed; 5 SLOs and 11 invariants held; 1 SLO and 1 invariant failed as the scenario allows.

        - `1 invariant broken: book.never-lost`

        | phones | seed | length | mode | started | exit code |
        | --- | --- | --- | --- | --- | --- |
        | 42 | 42 | 34.2 s | live | 2026-11-21 09:30:00 UTC | 97: an invariant is broken: data was lost, duplicated or reordered |

        [report.html](report.html) in the folder of the run has the charts and the phones.

        ### SLOs

        |  | metric | limit | actual |
        | --- | --- | --- | --- |
        | ✅ | `sse.connect.time` | `p(95) < 400ms` | `302.8ms` |
        | ✅ | `sse.first_event.time{group:commuters}` | `p(95) < 500ms` | `121.6ms` |
        | ✅ | `sse.event.latency` | `p(99) < 60ms` | `54.8ms` |
        | ✅ | `sse.connect.failed` | `rate < 1%` | `0% (0 of 120)` |
        | ⚠️ | `scans.waiting` | `count == 0` | `5` |
        | ✅ | `scans.lost` | `count == 0` | `0` |

        ### Invariants

        |  | invariant | violations | first | description |
        | --- | --- | --- | --- | --- |
        | ❌ | `book.never-lost` | 4 | phone 17, scan 2, at 12.480 s | `book 4 of 6 never came` |
        | ⚠️ as expected | `stream.no-gap` | 2 | phone 3, at 12.480 s | `resumed behind an event that it had not applied` |

        ✅ `scan.custody`, `scan.refused-for-cause`, `book.never-double-added`, `book.faithful`, `stream.id-monotone`, `stream.terminal-once`, `job.cleaned`, `job.not-cleaned-early`, `limit.honoured`, `slots.bounded`, `server.agrees`

        ### Scans, books, jobs

        |  | phones | captured | restored | completed | refused | waiting | lost |
        | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | all phones | 42 | 126 | 0 | 117 | 3 | 5 | **1** |
        | commuters | 40 | 120 | 0 | 112 | 3 | 5 | 0 |
        | readers | 2 | 6 | 0 | 6 | 0 | 0 | 0 |

        Waiting: 3 offline, 2 rate limited (429).

        Books: 540 expected, 536 received, 4 missing, 0 duplicated, 12 replays discarded.

        Jobs: 131 accepted, 122 cleaned up, 4 abandoned, 0 orphaned, 5 expired.

        Abandoned: the phone did not delete the job (token-expired 3, app-suspended 1). Expired: the backend removed the job itself, when its time was over.

        ### Disconnections

        | cause | count | resumed | restarted | gave up | p50 | p95 | p99 |
        | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | reset | 42 | 40 | 1 | 1 | 240ms | 1.21s | 1.21s |
        | offline | 20 | 20 | 0 | 0 | 4.10s | 4.38s | 4.38s |
        | all | 62 | 60 | 1 | 1 | 1.21s | 4.38s | 4.38s |

        resumed: a new stream went on after the last event; restarted: it began again; p95: from the loss (after a kill: from the next launch) to the new stream.

        ### Latencies

        | metric | count | p50 | p95 | p99 | max | failed |
        | --- | ---: | ---: | ---: | ---: | ---: | ---: |
        | `preprocess.time` | 120 | 25.5ms | 30.4ms | 30.8ms | 30.9ms |  |
        | `upload.time` | 120 | 331ms | 466ms | 479ms | 481ms | 5 (4.17%) |
        | `upload.service_time` | 120 | 151ms | 206ms | 211ms | 212ms |  |
        | `sse.connect.time` | 120 | 216ms | 303ms | 311ms | 312ms | 0 (0%) |
        | `sse.first_event.time` | 120 | 78.2ms | 122ms | 126ms | 126ms |  |
        | `sse.event.latency` | 120 | 48.9ms | 54.3ms | 54.8ms | 54.9ms |  |
        | `results.time` | 0 | - | - | - | - | 1 (100%) |
        | `scan.time` | 120 | 5.56s | 8.86s | 9.16s | 9.22s |  |

        <details><summary>By group</summary>

        **Latencies by group**

        | metric | group | count | p50 | p95 | p99 | max | failed |
        | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
        | `preprocess.time` | `commuters` | 120 | 25.5ms | 30.4ms | 30.8ms | 30.9ms | – |
        | `upload.time` | `commuters` | 120 | 331ms | 466ms | 479ms | 481ms | 5 (4.17%) |
        | `upload.service_time` | `commuters` | 120 | 151ms | 206ms | 211ms | 212ms | – |
        | `sse.connect.time` | `commuters` | 120 | 216ms | 303ms | 311ms | 312ms | 0 (0%) |
        | `sse.first_event.time` | `commuters` | 120 | 78.2ms | 122ms | 126ms | 126ms | – |
        | `sse.event.latency` | `commuters` | 120 | 48.9ms | 54.3ms | 54.8ms | 54.9ms | – |
        | `results.time` | `commuters` | 0 | – | – | – | – | 1 (100%) |
        | `scan.time` | `commuters` | 120 | 5.56s | 8.86s | 9.16s | 9.22s | – |

        </details>

        <details><summary>Faults, load generator, how to reproduce</summary>

        | fault | fired |
        | --- | ---: |
        | `rate-limit-1` | 28 |
        | `strip-books-1` | 31 |
        | `reset-1` | 42 |
        | `expire-token-1` | 0 |
        | `offline-1` | 20 |

        - timer lag p99 556µs, max 560µs
        - phones: 3.204 s CPU, 48 MiB
        - backend: 1.100 s CPU, 31 MiB
        - warning: `3 photos of Images/shelves could not be read and were left out`
        - event streams are not written out: events are skipped and counted only
        - `swiftwing-sim 1.0.0`, scenario SHA-256 `7a6065b4105ecbe4c5064b18e36223d02c1bef7191c60cc85609a6c5d3612635`
        - machine `2 × a processor, 4096 MiB, a system`

        ```sh
        swiftwing-sim inspect Reports/2026-11-21T093000Z-flaky-network-42 --phone 17 --scan 2  # First violation
        swiftwing-sim run flaky-network.scenario --seed 42  # Reproduce with
        ```

        </details>

        """#
}
