import RunMetrics

// What the terminal shows at 80 columns, and at 60 without signs.

enum TerminalGoldens {
    static let passed = #"""
        ✓ PASSED  flaky-network
          5 SLOs and 13 invariants held; 1 SLO failed as the scenario allows
          (exit code 0)
          - 1 SLO missed (warning only)
          42 phones · seed 42 · 34.2 s · live · 2026-11-21 09:30:00 UTC
          Commuters scan shelves while their link keeps dropping.

        SLOs            5 held, 1 missed (warning)
          ✓ sse.connect.time                       p(95) < 400ms  302.8ms
          ✓ sse.first_event.time{group:commuters}  p(95) < 500ms  121.6ms
          ✓ sse.event.latency                      p(99) < 60ms   54.8ms
          ✓ sse.connect.failed                     rate < 1%      0% (0 of 120)
          ! scans.waiting                          count == 0     5
          ✓ scans.lost                             count == 0     0

        Invariants      13 held
          ✓ scan.custody, scan.refused-for-cause, book.never-lost,
            book.never-double-added, book.faithful, stream.id-monotone, stream.no-gap,
            stream.terminal-once, job.cleaned, job.not-cleaned-early, limit.honoured,
            slots.bounded, server.agrees

        Scans           126 captured = 118 completed + 3 refused + 5 waiting + 0 lost
          waiting       3 offline, 2 rate limited (429)
        Books           540 expected = 540 received + 0 missing; 0 duplicated, 12
                        replays discarded
        Jobs            131 accepted, 122 cleaned up, 4 abandoned (token-expired 3,
                        app-suspended 1), 0 orphaned, 5 expired

        Groups       captured  completed  lost  waiting  refused  phones
          commuters       120        112     0        5        3      40
          readers           6          6     0        0        0       2

        Disconnections  count  resumed  restarted  gave up    p95
          reset            42       40          1        1  1.21s
          offline          20       20          0        0  4.38s
          all              62       60          1        1  4.38s
          resumed: a new stream went on after the last event; restarted: it began again;
          p95: from the loss (after a kill: from the next launch) to the new stream.

        Latencies                count     p50     p95     p99     max     failed
          preprocess.time          120  25.5ms  30.4ms  30.8ms  30.9ms
          upload.time              120   331ms   466ms   479ms   481ms  5 (4.17%)
            upload.service_time    120   151ms   206ms   211ms   212ms
          sse.connect.time         120   216ms   303ms   311ms   312ms          0
          sse.first_event.time     120  78.2ms   122ms   126ms   126ms
          sse.event.latency        120  48.9ms  54.3ms  54.8ms  54.9ms
          results.time               0       -       -       -       -   1 (100%)
          scan.time                120   5.56s   8.86s   9.16s   9.22s

        HTTP responses  200 ×240, 202 ×131, 429 ×28
        Streams         720 events, 31 pings, 60 resumed, 1 restarted, 2 unknown
        Faults          rate-limit-1 ×28, strip-books-1 ×31, reset-1 ×42, expire-token-1
                        never fired, offline-1 ×20

        Load generator  healthy, timer lag p99 556µs, max 560µs
        Resources       phones 3.204 s CPU, 48 MiB; backend 1.100 s CPU, 31 MiB
        Note            event streams are not written out: events are skipped and
                        counted only

        Report          Reports/2026-11-21T093000Z-flaky-network-42
                        summary.json report.md events.ndjson scenario.resolved
        Reproduce with  swiftwing-sim run flaky-network.scenario --seed 42

        """#

    static let foreign = #"""
        ✓ PASSED  flaky-network
          4 SLOs and 9 invariants held; 1 SLO failed as the scenario allows; 1 SLO and 4
          invariants could not be judged without a simulated backend (exit code 0)
          - 1 SLO missed (warning only)
          42 phones · seed 42 · 34.2 s · live · 2026-11-21 09:30:00 UTC
          Commuters scan shelves while their link keeps dropping.

        SLOs            4 held, 1 missed (warning), 1 n/a
          ✓   sse.connect.time                       p(95) < 400ms  302.8ms
          ✓   sse.first_event.time{group:commuters}  p(95) < 500ms  121.6ms
          n/a sse.event.latency p(99) < 60ms could not be judged without a simulated
              backend
          ✓   sse.connect.failed                     rate < 1%      0% (0 of 120)
          !   scans.waiting                          count == 0     5
          ✓   scans.lost                             count == 0     0

        Invariants      9 held, 4 n/a
          n/a book.never-lost, book.faithful, stream.no-gap, server.agrees (could not be
              judged without a simulated backend)
          ✓   scan.custody, scan.refused-for-cause, book.never-double-added,
              stream.id-monotone, stream.terminal-once, job.cleaned,
              job.not-cleaned-early, limit.honoured, slots.bounded

        Scans           126 captured = 118 completed + 3 refused + 5 waiting + 0 lost
          waiting       3 offline, 2 rate limited (429)
        Books           540 received; expected and missing n/a; 0 duplicated, 12 replays
                        discarded
        Jobs            131 accepted, 122 cleaned up, 4 abandoned (token-expired 3,
                        app-suspended 1), 9 not deleted; orphaned and expired n/a

        Groups       captured  completed  lost  waiting  refused  phones
          commuters       120        112     0        5        3      40
          readers           6          6     0        0        0       2

        Disconnections  count  resumed  restarted  gave up    p95
          reset            42       40          1        1  1.21s
          offline          20       20          0        0  4.38s
          all              62       60          1        1  4.38s
          resumed: a new stream went on after the last event; restarted: it began again;
          p95: from the loss (after a kill: from the next launch) to the new stream.

        Latencies                count     p50     p95     p99     max     failed
          preprocess.time          120  25.5ms  30.4ms  30.8ms  30.9ms
          upload.time              120   331ms   466ms   479ms   481ms  5 (4.17%)
            upload.service_time    120   151ms   206ms   211ms   212ms
          sse.connect.time         120   216ms   303ms   311ms   312ms          0
          sse.first_event.time     120  78.2ms   122ms   126ms   126ms
          results.time               0       -       -       -       -   1 (100%)
          scan.time                120   5.56s   8.86s   9.16s   9.22s
          n/a  sse.event.latency, sse.event.delay

        HTTP responses  200 ×240, 202 ×131, 429 ×28
        Streams         720 events, 31 pings, 60 resumed, 1 restarted, 2 unknown
        Faults          rate-limit-1 ×28, strip-books-1 ×31, reset-1 ×42, expire-token-1
                        never fired, offline-1 n/a

        Load generator  healthy, timer lag p99 556µs, max 560µs
        Resources       phones 3.204 s CPU, 48 MiB; backend n/a
        Note            event streams are not written out: events are skipped and
                        counted only

        Report          Reports/2026-11-21T093000Z-flaky-network-42
                        summary.json report.md events.ndjson scenario.resolved
        Reproduce with  swiftwing-sim run flaky-network.scenario --seed 42

        """#

    static let failedSLO = #"""
        ✗ FAILED  flaky-network
          an SLO on a latency failed (exit code 99)
          1 SLO failed; 4 SLOs and 13 invariants held; 1 SLO failed as the scenario
          allows
          - SLO failed: sse.first_event.time{group:commuters} p(95) was 812ms, limit <
            500ms
          - 1 SLO missed (warning only)
          42 phones · seed 42 · 34.2 s · live · 2026-11-21 09:30:00 UTC
          Commuters scan shelves while their link keeps dropping.

        SLOs            4 held, 1 failed, 1 missed (warning)
          ✓ sse.connect.time                       p(95) < 400ms  302.8ms
          ✗ sse.first_event.time{group:commuters}  p(95) < 500ms  812ms
          ✓ sse.event.latency                      p(99) < 60ms   54.8ms
          ✓ sse.connect.failed                     rate < 1%      0% (0 of 120)
          ! scans.waiting                          count == 0     6
          ✓ scans.lost                             count == 0     0

        """#

    static let brokenInvariant = #"""
        ✗ FAILED  flaky-network
          4 books are missing from 1 scan
          At fault: the simulated phones (book.never-lost)
          an invariant is broken: data was lost, duplicated or reordered (exit code 97)
          1 invariant failed; 5 SLOs and 11 invariants held; 1 SLO and 1 invariant
          failed as the scenario allows
          - 1 invariant broken: book.never-lost
          - 1 SLO missed (warning only)
          42 phones · seed 42 · 34.2 s · live · 2026-11-21 09:30:00 UTC
          Commuters scan shelves while their link keeps dropping.

        SLOs            5 held, 1 missed (warning)
          ✓ sse.connect.time                       p(95) < 400ms  302.8ms
          ✓ sse.first_event.time{group:commuters}  p(95) < 500ms  121.6ms
          ✓ sse.event.latency                      p(99) < 60ms   54.8ms
          ✓ sse.connect.failed                     rate < 1%      0% (0 of 120)
          ! scans.waiting                          count == 0     5
          ✓ scans.lost                             count == 0     0

        Invariants      11 held, 1 broken, 1 broken as expected
          ✗ book.never-lost 4 violations, 1 expected for the client profile
            every book that the backend found for a scan is in the phone's library, or
            waits for its review
            phone 17, scan 2, at 12.480 s: book 4 of 6 never came
            phone 18, scan 2, at 12.480 s: book 4 of 6 never came
            and 2 more
          ! stream.no-gap 2 violations, as expected
            a resumed stream skips no event, or the results are fetched instead
            phone 3, at 12.480 s: resumed behind an event that it had not applied
            and 1 more
          ✓ scan.custody, scan.refused-for-cause, book.never-double-added,
            book.faithful, stream.id-monotone, stream.terminal-once, job.cleaned,
            job.not-cleaned-early, limit.honoured, slots.bounded, server.agrees

        Scans           126 captured = 117 completed + 3 refused + 5 waiting + 1 lost
          waiting       3 offline, 2 rate limited (429)
        Books           540 expected = 536 received + 4 missing; 0 duplicated, 12
                        replays discarded
        Jobs            131 accepted, 122 cleaned up, 4 abandoned (token-expired 3,
                        app-suspended 1), 0 orphaned, 5 expired

        """#

    static let interrupted = #"""
        ! INTERRUPTED  flaky-network
          interrupted; the report covers what ran until then (exit code 105)
          13 invariants held
          40 phones · seed 42 · 34.2 s · live · 2026-11-21 09:30:00 UTC
          Commuters scan shelves while their link keeps dropping.

        SLOs            none in this scenario

        Invariants      13 held
          ✓ scan.custody, scan.refused-for-cause, book.never-lost,
            book.never-double-added, book.faithful, stream.id-monotone, stream.no-gap,
            stream.terminal-once, job.cleaned, job.not-cleaned-early, limit.honoured,
            slots.bounded, server.agrees

        Scans           126 captured = 118 completed + 3 refused + 5 waiting + 0 lost
          waiting       3 offline, 2 rate limited (429)
        Books           540 expected = 540 received + 0 missing; 0 duplicated, 12
                        replays discarded
        Jobs            131 accepted, 122 cleaned up, 4 abandoned (token-expired 3,
                        app-suspended 1), 0 orphaned, 5 expired

        Disconnections  none

        """#

    static let aborted = #"""
        ✗ ABORTED  flaky-network
          an internal error, or the backend process died (exit code 70)
          5 SLOs and 13 invariants held; 1 SLO failed as the scenario allows
          - the backend process died: killed by signal 9
          - the load generator did not keep up
          - the run was interrupted
          - 1 SLO missed (warning only)
          42 phones · seed 42 · 34.2 s · live · 2026-11-21 09:30:00 UTC
          Commuters scan shelves while their link keeps dropping.

        """#

    static let foreignNarrow = #"""
        ok PASSED  flaky-network
          4 SLOs and 9 invariants held; 1 SLO failed as the scenario
          allows; 1 SLO and 4 invariants could not be judged without
          a simulated backend (exit code 0)
          - 1 SLO missed (warning only)
          42 phones - seed 42 - 34.2 s - live -
          2026-11-21 09:30:00 UTC
          Commuters scan shelves while their link keeps dropping.

        SLOs            4 held, 1 missed (warning), 1 n/a
          ok   sse.connect.time p(95) < 400ms 302.8ms
          ok   sse.first_event.time{group:commuters} p(95) < 500ms
               121.6ms
          n/a  sse.event.latency p(99) < 60ms could not be judged
               without a simulated backend
          ok   sse.connect.failed rate < 1% 0% (0 of 120)
          warn scans.waiting count == 0 5
          ok   scans.lost count == 0 0

        Invariants      9 held, 4 n/a
          n/a  book.never-lost, book.faithful, stream.no-gap,
               server.agrees (could not be judged without a
               simulated backend)
          ok   scan.custody, scan.refused-for-cause,
               book.never-double-added, stream.id-monotone,
               stream.terminal-once, job.cleaned,
               job.not-cleaned-early, limit.honoured, slots.bounded

        Scans           126 captured = 118 completed + 3 refused + 5
                        waiting + 0 lost
          waiting       3 offline, 2 rate limited (429)
        Books           540 received; expected and missing n/a; 0
                        duplicated, 12 replays discarded
        Jobs            131 accepted, 122 cleaned up, 4 abandoned
                        (token-expired 3, app-suspended 1), 9 not
                        deleted; orphaned and expired n/a

        Groups       captured  completed  lost  waiting  refused
          commuters       120        112     0        5        3
          readers           6          6     0        0        0

        Disconnections  count  resumed  restarted  gave up    p95
          reset            42       40          1        1  1.21s
          offline          20       20          0        0  4.38s
          all              62       60          1        1  4.38s
          resumed: a new stream went on after the last event;
          restarted: it began again; p95: from the loss (after a
          kill: from the next launch) to the new stream.

        Latencies              count     p50     p95     p99     max
          preprocess.time        120  25.5ms  30.4ms  30.8ms  30.9ms
          upload.time            120   331ms   466ms   479ms   481ms
            upload.service...    120   151ms   206ms   211ms   212ms
          sse.connect.time       120   216ms   303ms   311ms   312ms
          sse.first_event....    120  78.2ms   122ms   126ms   126ms
          results.time             0       -       -       -       -
          scan.time              120   5.56s   8.86s   9.16s   9.22s
          n/a  sse.event.latency, sse.event.delay

        HTTP responses  200 x240, 202 x131, 429 x28
        Streams         720 events, 31 pings, 60 resumed, 1
                        restarted, 2 unknown
        Faults          rate-limit-1 x28, strip-books-1 x31,
                        reset-1 x42, expire-token-1 never fired,
                        offline-1 n/a

        Load generator  healthy, timer lag p99 556us, max 560us
        Resources       phones 3.204 s CPU, 48 MiB; backend n/a
        Note            event streams are not written out: events
                        are skipped and counted only

        Report          Reports/2026-11-21T093000Z-flaky-network-42
                        summary.json report.md events.ndjson
                        scenario.resolved
        Reproduce with  swiftwing-sim run flaky-network.scenario \
                        --seed 42

        """#
}
