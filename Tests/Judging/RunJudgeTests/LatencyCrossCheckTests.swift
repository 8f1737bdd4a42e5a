import Histories
import Ledger
import Metrics
import Observations
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

/// What is measured against what was seen, by a source of its own.
@Suite struct LatencyCrossCheckTests {
    private static let fleet = PhoneGroups.ungrouped

    private static func scan(_ took: Interval, at: Int64 = 0) -> Observation {
        Observation(
            at: Instant(nanoseconds: at), device: DeviceNumber(1), scan: ScanNumber(1),
            what: .phone(.completed(took: took)))
    }

    /// What the tally and the witness make of the same observations, but for those that one of them does not see.
    private static func differences(
        _ seen: [Observation], unmeasured: Set<Int> = [], twice: Set<Int> = []
    ) -> [String] {
        var witness = LatencyCrossCheck()
        var tally = MetricsCollector(fleet: Self.fleet, faultIDs: [], hasBackendView: true)
        for (index, observation) in seen.enumerated() {
            witness.record(observation)
            if unmeasured.contains(index) { continue }
            tally.record(observation)
            if twice.contains(index) { tally.record(observation) }
        }
        return witness.differences(from: tally.measured.table)
    }

    private static let times: [Interval] = (0..<400 as Range<UInt64>).map {
        Interval(nanoseconds: Int64(KeyedRandom(seed: 5).below(40_000_000_000, .test, $0)))
    }

    @Test func `a measured run agrees with what was seen`() {
        #expect(Self.differences(Self.times.map { Self.scan($0) }).isEmpty)
        #expect(Self.differences([]).isEmpty)
    }

    @Test(arguments: [0, 1, 2, 3, 10, 999, 1_000, 1_001, 5_000])
    func `also with as many values as are kept, one less and more`(count: Int) {
        let seen = (0..<count).map { Self.scan(.microseconds(Int64($0 * $0))) }
        #expect(Self.differences(seen).isEmpty)
    }

    @Test func `values beyond an hour, and below none, are compared as they are`() {
        let seen = [Interval.hours(3), .hours(2), .milliseconds(4), .milliseconds(-4), .zero].map {
            Self.scan($0)
        }
        #expect(Self.differences(seen).isEmpty)
    }

    @Test func `every metric that comes from an observation has its witness`() {
        let second = Interval.seconds(1)
        let payloads: [PhoneObservation] = [
            .bookRead(took: second),
            .enriched(
                TextOutcome(title: .talaria, author: .talaria, discrepancies: 0), took: second,
                service: second),
            .photoPrepared(took: second, bytes: 1), .completed(took: second),
            .uploadAccepted(job: "j", took: second * 2, service: second),
            .resultsDecoded(job: "j", books: 1, took: second),
            .cleanupAnswered(job: "j", status: 204, took: second), .cancelAnswered(job: "j", took: second),
            .statusDecoded(job: "j", status: .processing, took: second),
            .streamOpened(job: "j", attempt: 1, after: nil, took: second),
            .firstEvent(job: "j", took: second),
            .eventApplied(job: "j", id: nil, kind: .progress, latency: second, replayed: false),
            .eventApplied(job: "j", id: nil, kind: .progress, latency: second, replayed: true),
            .ping(id: nil, gap: second), .streamLost(job: "j", attempt: 1, .silence, silence: second),
            .streamOpened(job: "j", attempt: 2, after: nil, took: second),
            .reconnected(job: "j", .silence, attempts: 1, resumed: false, took: .zero),
            .terminalApplied(job: "j", kind: .completed, inline: .books), .captured(scheduled: .zero),
            .bookShown(job: "j", book: History.shelf.book(device: .init(1), scan: .init(1), ordinal: 0)),
        ]
        let network = NetworkObservation(lookup: second, connect: second, tls: second, firstByte: second)
        let seen = (payloads.map { ObservationPayload.phone($0) } + [.network(network)]).map {
            Observation(at: .zero, device: DeviceNumber(1), scan: ScanNumber(1), what: $0)
        }
        #expect(Self.differences(seen).isEmpty)
        // And all of them are compared: a table without any value differs in each.
        var witness = LatencyCrossCheck()
        for observation in seen { witness.record(observation) }
        let differing = Set(
            witness.differences(from: MetricTable(groups: [])).map { String($0.prefix { $0 != ":" }) })
        #expect(differing == Set(LatencyMetric.allCases.filter { !$0.isOfDriver }.map(\.rawValue)))
    }

    /// A scan that was due at 1 s, for which the phone reports these times at 5 s and at 9 s.
    private static func late(upload: Interval, scan: Interval, attempts: Int = 1) -> [String] {
        let due = Instant.zero + .seconds(1)
        let sent = PhoneObservation.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)
        let seen: [(Int64, PhoneObservation)] =
            [(2, .captured(scheduled: due))] + Array(repeating: (3, sent), count: attempts) + [
                (5, .uploadAccepted(job: "j", took: upload, service: .seconds(1))),
                (9, .completed(took: scan)),
            ]
        return Self.differences(
            seen.map { seconds, payload in
                Observation(
                    at: .zero + .seconds(seconds), device: DeviceNumber(1), scan: ScanNumber(1),
                    what: .phone(payload))
            }
        ).filter { $0.contains("sum") }
    }

    @Test func `a scan and its first upload are measured from the moment at which the capture was due`() {
        #expect(Self.late(upload: .seconds(4), scan: .seconds(8)) == [])
        #expect(
            Self.late(upload: .seconds(2), scan: .seconds(8)) == [
                "upload.time: sum 2000000000, but 4000000000 was observed"
            ])
        #expect(
            Self.late(upload: .seconds(4), scan: .seconds(7)) == [
                "scan.time: sum 7000000000, but 8000000000 was observed"
            ])
        // Only the phone knows when a repeated upload was due.
        #expect(Self.late(upload: .seconds(2), scan: .seconds(8), attempts: 2) == [])
    }

    /// A stream is lost, two attempts fail, and 3 s after the loss the next one is open. The phone says that it took so long.
    private static func reconnect(took: Interval, _ accident: (inout History) -> Void = { _ in }) -> [String]
    {
        let history = History {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            let lost = $0.now - .milliseconds(1)
            $0.phone(.streamLost(job: $0.job, attempt: 2, .connectFailed, silence: nil))
            accident(&$0)
            $0.pass(lost + .seconds(3) - $0.now - .milliseconds(2))
            $0.open(attempt: 3, after: History.id(1), serverAfter: 1)
            $0.phone(.reconnected(job: $0.job, .reset, attempts: 2, resumed: true, took: took))
        }
        return Self.differences(history.observations)
    }

    @Test func `a reconnect is measured from the first loss to the next open stream`() {
        #expect(Self.reconnect(took: .seconds(3)) == [])
        let wrong = Self.reconnect(took: .seconds(2))
        #expect(wrong.first == "sse.reconnect.time: sum 2000000000, but 3000000000 was observed")
    }

    @Test func `a reconnect that was not due is told`() {
        let superseded = Self.reconnect(took: .seconds(3)) {
            $0.phone(.reconnectGivenUp(job: $0.job, .reset, attempts: 1))
        }
        #expect(superseded.first == "sse.reconnect.time: count 1, but 0 was observed")
    }

    /// The app is killed while the stream is open, or after `accident`, and another process opens the stream.
    private static func relaunch(_ accident: (inout History) -> Void = { _ in }) -> [Observation] {
        History {
            $0.streaming()
            accident(&$0)
            $0.phone(.killed)
            $0.pass(.seconds(60))
            $0.launch(restored: 1)
            $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
        }.observations
    }

    @Test func `after a kill a reconnect is measured from the next launch`() {
        func sum(_ observations: [Observation]) -> [String] {
            var check = LatencyCrossCheck()
            for observation in observations { check.record(observation) }
            return check.differences(from: MetricTable(groups: [])).filter {
                $0.hasPrefix("sse.reconnect.time: sum")
            }
        }
        #expect(Self.differences(Self.relaunch()) == [])
        #expect(sum(Self.relaunch()) == ["sse.reconnect.time: sum 0, but 3000000 was observed"])
        // The loss had no end yet, and the next process knows nothing of it.
        let lost = Self.relaunch { $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil)) }
        #expect(Self.differences(lost) == [])
        #expect(sum(lost) == ["sse.reconnect.time: sum 0, but 3000000 was observed"])
        // Nothing was open, so nothing is opened again.
        for accident in [
            { $0.phone(.suspended) },
            { $0.terminal(2) },
        ] as [(inout History) -> Void] {
            #expect(Self.differences(Self.relaunch(accident)) == [])
            #expect(sum(Self.relaunch(accident)) == [])
        }
    }

    @Test func `a value that was not measured, or twice, is told`() {
        let seen = Self.times.map { Self.scan($0) }
        let lost = Self.differences(seen, unmeasured: [17])
        #expect(lost.first == "scan.time: count 399, but 400 was observed")
        let doubled = Self.differences(seen, twice: [17])
        #expect(doubled.first == "scan.time: count 401, but 400 was observed")
    }

    @Test func `a value in a bucket that is not its own is told by the percentile that it moves`() {
        // As many, with the same extremes and the same sum: only their positions differ.
        var witness = LatencyCrossCheck()
        var table = MetricTable(groups: [])
        for (seen, measured) in [(1, 1), (40, 20), (50, 70), (100, 100)] as [(Int64, Int64)] {
            witness.record(Self.scan(.milliseconds(seen)))
            table.record(.scanTime, .milliseconds(measured), in: .none)
        }
        let differences = witness.differences(from: table)
        #expect(differences.count == 1)
        #expect(differences[0].hasPrefix("scan.time: p(50) is 20"))
        #expect(differences[0].hasSuffix("but 40000000 of 4 values"))
    }

    @Test func `a value that is counted in another group is told`() {
        let fleet = PhoneGroups(groups: ["a", "b"], groupOfDevice: [0, 1])
        func differences(measured group: Int) -> [String] {
            var witness = LatencyCrossCheck(fleet: fleet)
            var table = MetricTable(groups: fleet.groups)
            witness.record(Self.scan(.seconds(1)))  // Of phone 1.
            table.record(.scanTime, .seconds(1), in: MetricGroup(index: group))
            return witness.differences(from: table)
        }
        #expect(differences(measured: 1) == [])
        #expect(
            differences(measured: 0) == [
                "scan.time: count 1 in group a, but 0 was observed",
                "scan.time: count 0 in group b, but 1 was observed",
            ])
    }

    @Test func `a scan that the ledger does not count is told`() {
        func differences(seen: Int, counted: Int) -> [String] {
            var witness = LatencyCrossCheck()
            var ledger = Ledger(shelf: History.shelf, settings: .embedded)
            for scan in 1...3 {
                let history = History {
                    $0.scan = ScanNumber(UInt32(scan))
                    $0.phone(.captured(scheduled: .zero))
                }
                if scan <= seen { witness.record(history.observations[0]) }
                if scan <= counted { ledger.record(history.observations[0]) }
            }
            ledger.breakOff()
            return witness.differences(from: ledger)
        }
        #expect(differences(seen: 3, counted: 3) == [])
        #expect(differences(seen: 3, counted: 2) == ["scans.captured: 2 in no group, but 3 was observed"])
        #expect(differences(seen: 2, counted: 3) == ["scans.captured: 3 in no group, but 2 was observed"])
    }

    @Test func `jobs and books that are counted otherwise than they were seen are told`() {
        let history = History {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.open()
            $0.terminal(0)
            $0.addBooks()
            $0.repeatBooks([0])
            $0.complete()
            $0.clean()
        }
        func differences(unseen: (ObservationPayload) -> Bool = { _ in false }) -> [String] {
            var witness = LatencyCrossCheck()
            var ledger = Ledger(shelf: History.shelf, settings: .embedded)
            for observation in history.observations {
                if !unseen(observation.what) { witness.record(observation) }
                ledger.record(observation)
            }
            ledger.finish(waitingOnDisk: [], at: history.now)
            return witness.differences(from: ledger)
        }
        #expect(differences() == [])
        let accepted = differences { if case .backend(.accepted) = $0 { true } else { false } }
        #expect(accepted == ["jobs.accepted: 1 in no group, but 0 was observed"])
        let cleaned = differences { if case .backend(.cleaned) = $0 { true } else { false } }
        #expect(cleaned == ["jobs.cleaned: 1 in no group, but 0 was observed"])
        let repeated = differences { if case .phone(.bookRepeated) = $0 { true } else { false } }
        #expect(repeated == ["books.repeated: 1 in no group, but 0 was observed"])
        let added = differences {
            if case .phone(.bookAdded(ordinal: 0, _)) = $0 { true } else { false }
        }
        #expect(added.count == 1 && added[0].hasPrefix("books.received: "))
    }

    @Test func `books with a price, and their requests, have to be observed`() {
        func differences(_ journey: Journey, unseen: (PhoneObservation) -> Bool = { _ in false }) -> [String]
        {
            let history = History {
                $0.streaming()
                let outcome = TextOutcome(title: .talaria, author: .talaria, discrepancies: 0)
                $0.phone(.enriched(outcome, took: .zero, service: .zero))
                $0.terminal(2)
                $0.addBooks()
                $0.complete()
                $0.clean()
            }
            var settings = LedgerSettings.embedded
            settings.hasBackendView = false
            settings.fleet = PhoneGroups([("all", 1)])
            settings.journeys = [journey]
            settings.prices = BookPrices()
            var witness = LatencyCrossCheck(fleet: settings.fleet)
            var ledger = Ledger(shelf: History.shelf, settings: settings)
            for observation in history.observations {
                guard case .phone(let payload) = observation.what else { continue }
                if !unseen(payload) { witness.record(observation) }
                ledger.record(observation)
            }
            ledger.finish(waitingOnDisk: [], at: history.now)
            return witness.differences(from: ledger).filter { $0.hasSuffix("by what was observed") }
        }
        #expect(differences(.scan) == [])
        let requests = differences(.scan) {
            if case .requestSent(.upload, _, _, _) = $0 { true } else { false }
        }
        #expect(
            requests == [
                "requests for books with a price: 1 in group all, but at most 0 by what was observed"
            ])
        let books = differences(.scan) { if case .bookAdded(ordinal: 2, _) = $0 { true } else { false } }
        #expect(
            books == ["books with and without a price: 3 in group all, but at most 2 by what was observed"])
        let texts = differences(.textEnrichment) { if case .enriched = $0 { true } else { false } }
        #expect(texts == ["books looked up by text: 3 in group all, but at most 0 by what was observed"])
    }

    @Test func `a book that enters a library and no total is told`() {
        let history = History {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            $0.clean()
        }
        var witness = LatencyCrossCheck()
        var ledger = Ledger(shelf: History.shelf, settings: .embedded)
        for observation in history.observations {
            witness.record(observation)
            if case .phone(.bookAdded) = observation.what { witness.record(observation) }
            ledger.record(observation)
        }
        ledger.finish(waitingOnDisk: [], at: history.now)
        #expect(
            witness.differences(from: ledger)
                == ["books: 6 entered libraries in no group, but 3 are accounted for"])
    }

    @Test func `scans that do not add up are told`() {
        func difference(captured: Int, open: Int) -> String? {
            var scans = ScanTotals()
            (scans.captured, scans.restored) = (captured, 1)
            (scans.completed, scans.refused, scans.open) = (3, 1, open)
            return LatencyCrossCheck.difference(in: scans)
        }
        #expect(difference(captured: 4, open: 1) == nil)
        #expect(
            difference(captured: 4, open: 2)
                == "scans: 5 captured or restored, but 4 settled and 2 open")
        #expect(difference(captured: 5, open: 1) != nil)
    }
}
