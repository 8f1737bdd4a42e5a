import Histories
import Ledger
import Metrics
import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

@Suite struct MetricsCollectorTests {
    private func measured(
        faults: [String] = [], hasView: Bool = true, finish: Bool = true, _ script: (inout History) -> Void
    ) -> Measurements {
        var tally = MetricsCollector(fleet: .ungrouped, faultIDs: faults, hasBackendView: hasView)
        for observation in History(script).observations { tally.record(observation) }
        if finish { tally.finish() }
        return tally.measured
    }

    private func times(_ metric: LatencyMetric, _ measured: Measurements) -> [Int64] {
        guard case .measured(let histogram) = measured.table.histogram(metric, of: .fleet) else { return [] }
        return histogram.isEmpty
            ? [] : [histogram.total, histogram.minimum ?? -1, histogram.maximum ?? -1]
    }

    private func once(_ milliseconds: Int64) -> [Int64] {
        [1, milliseconds * 1_000_000, milliseconds * 1_000_000]
    }

    private func count(_ metric: CountMetric, _ measured: Measurements) -> Int64? {
        guard case .measured(let count) = measured.table.count(metric, of: .fleet) else { return nil }
        return count
    }

    /// Failed operations of all operations.
    private func rate(_ metric: RateMetric, _ measured: Measurements) -> [Int64] {
        guard case .measured(let rate) = measured.table.rate(metric, of: .fleet) else { return [] }
        return [rate.failed, rate.total]
    }

    // MARK: Memory

    @Test func `nothing of a scan is kept once its job is cleaned up`() {
        var tally = MetricsCollector(fleet: .ungrouped, faultIDs: [], hasBackendView: true)
        let history = History {
            $0.phone(.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil))
            $0.phone(.uploadAccepted(job: "j", took: .milliseconds(2), service: .milliseconds(1)))
            $0.phone(.requestSent(.stream, attempt: 1, job: "j", lastEventID: nil))
            $0.phone(.streamOpened(job: "j", attempt: 1, after: nil, took: .milliseconds(4)))
            $0.phone(.terminalApplied(job: "j", kind: .completed, inline: .books))
            $0.phone(.completed(took: .milliseconds(13)))
            $0.phone(.requestSent(.cleanup, attempt: 1, job: "j", lastEventID: nil))
            $0.phone(.replied(.cleanup, attempt: 1, status: 204, took: .milliseconds(12)))
            $0.phone(.cleanupAnswered(job: "j", status: 204, took: .milliseconds(12)))
        }
        var followed: [Int] = []
        for observation in history.observations {
            tally.record(observation)
            followed.append(tally.followed)
        }
        #expect(followed == [1, 1, 1, 1, 1, 0, 1, 1, 0])
    }

    // MARK: Latencies

    @Test func `each latency comes from its own observation`() {
        let measured = self.measured {
            $0.phone(.photoPrepared(took: .milliseconds(1), bytes: 10))
            $0.phone(.uploadAccepted(job: "j", took: .milliseconds(2), service: .milliseconds(3)))
            $0.phone(.streamOpened(job: "j", attempt: 1, after: nil, took: .milliseconds(4)))
            $0.phone(.firstEvent(job: "j", took: .milliseconds(5)))
            $0.phone(
                .eventApplied(
                    job: "j", id: "1", kind: .progress, latency: .milliseconds(6), replayed: false))
            $0.phone(
                .eventApplied(job: "j", id: "2", kind: .progress, latency: .milliseconds(7), replayed: true))
            $0.phone(.ping(id: nil, gap: nil))
            $0.phone(.ping(id: nil, gap: .milliseconds(8)))
            $0.phone(.streamLost(job: "j", attempt: 1, .silence, silence: .milliseconds(9)))
            $0.phone(.reconnected(job: "j", .silence, attempts: 1, resumed: true, took: .milliseconds(10)))
            $0.phone(.resultsDecoded(job: "j", books: 3, took: .milliseconds(11)))
            $0.phone(.cleanupAnswered(job: "j", status: 204, took: .milliseconds(12)))
            $0.phone(.statusDecoded(job: "j", status: .processing, took: .milliseconds(18)))
            $0.phone(.cancelAnswered(job: "j", took: .milliseconds(19)))
            $0.phone(.terminalApplied(job: "j", kind: .completed, inline: .books))
            $0.phone(.completed(took: .milliseconds(13)))
            $0.network(
                NetworkObservation(
                    lookup: .milliseconds(14), connect: .milliseconds(15), tls: .milliseconds(16),
                    firstByte: .milliseconds(17)))
            $0.network(NetworkObservation(lookup: nil, connect: nil, tls: nil, firstByte: nil))
            $0.phone(.captured(scheduled: $0.now))
            $0.phone(.bookShown(job: "j", book: $0.book(0)))
            $0.phone(.bookRead(took: .milliseconds(20)))
            let outcome = TextOutcome(title: .talaria, author: .talaria, discrepancies: 0)
            $0.phone(.enriched(outcome, took: .milliseconds(21), service: .milliseconds(22)))
        }
        let expected: [(LatencyMetric, Int64)] = [
            (.preprocessTime, 1), (.uploadTime, 2), (.uploadServiceTime, 3), (.sseConnectTime, 4),
            (.sseFirstEventTime, 5), (.sseEventLatency, 6), (.sseEventDelay, 7), (.ssePingGap, 8),
            (.sseDetectTime, 9), (.sseReconnectTime, 10), (.resultsTime, 11), (.cleanupTime, 12),
            (.scanTime, 13), (.netDNSTime, 14), (.netConnectTime, 15), (.netTLSTime, 16),
            (.netFirstByteTime, 17), (.statusTime, 18), (.cancelTime, 19), (.jobFirstEventTime, 2),
            (.jobTime, 13), (.firstBookTime, 1), (.feedbackTime, 20), (.enrichedTime, 21), (.enrichTime, 22),
        ]
        for (metric, milliseconds) in expected {
            #expect(self.times(metric, measured) == self.once(milliseconds), "\(metric.rawValue)")
        }
        let ofDriver = LatencyMetric.allCases.filter(\.isOfDriver)
        for metric in ofDriver { #expect(self.times(metric, measured) == []) }
        #expect(expected.count + ofDriver.count == LatencyMetric.allCases.count)
    }

    @Test(arguments: [true, false])
    func `a first book is seen when it is shown, or else in the library`(_ isShown: Bool) {
        let measured = self.measured {
            $0.streaming()
            $0.pass(.seconds(1))
            if isShown { for ordinal in 0...1 { $0.phone(.bookShown(job: $0.job, book: $0.book(ordinal))) } }
            $0.pass(.seconds(2))
            $0.ending(2)
        }
        let seen = self.times(.firstBookTime, measured)
        #expect(seen.first == 1 && (seen[1] < 2_000_000_000) == isShown)
        let all = self.times(.scanTime, measured)
        #expect(all[1] > 3_000_000_000 && all[1] - seen[1] < (isShown ? 3_000_000_000 : 10_000_000))
    }

    @Test func `a scan without books, and one of an earlier run, have no first book`() {
        let measured = self.measured {
            $0.streaming()
            $0.terminal(2)
            $0.complete()
            $0.scan = ScanNumber(2)
            $0.addBooks()
        }
        #expect(self.times(.firstBookTime, measured) == [])
        #expect(measured.table.unfinished(.firstBookTime, of: .fleet).isEmpty)
    }

    @Test func `only a silent link has a time to detection`() {
        let measured = self.measured {
            $0.phone(.streamLost(job: "j", attempt: 1, .reset, silence: .seconds(1)))
        }
        #expect(self.times(.sseDetectTime, measured) == [])
    }

    @Test func `an event without a stamp is counted and has no latency`() {
        let measured = self.measured {
            $0.phone(.eventApplied(job: "j", id: nil, kind: .progress, latency: nil, replayed: false))
        }
        #expect(self.count(.sseEvents, measured) == 1)
        #expect(self.times(.sseEventLatency, measured) == [])
    }

    @Test func `a stream that a reinstallation ended is given up`() {
        let measured = self.measured {
            $0.streaming()
            $0.phone(.killed)
            $0.phone(.reinstalled(discarded: 1))
            $0.launch()
            $0.scan = ScanNumber(2)
            $0.job = "job-2"
            $0.wholeScan()
        }
        let row = measured.whole.disconnections[.killed]
        #expect([row.count, row.gaveUp, row.unresolved] == [1, 1, 0])
    }

    // MARK: Counts

    @Test func `a whole scan counts what it did`() {
        let measured = self.measured(faults: ["offline-1", "reset-1"]) {
            $0.launch()
            $0.wholeScan()
            $0.phone(.eventIgnored(job: $0.job, id: nil, name: "novelty", malformed: false))
            $0.phone(.eventIgnored(job: $0.job, id: nil, name: "progress", malformed: true))
            $0.phone(.replied(.upload, attempt: 1, status: 202, took: .zero))
            $0.phone(.requestFailed(.upload, attempt: 1, .descriptorsExhausted, took: .zero))
            $0.fault(.fired(fault: 1, .stream, attempt: 1))
            $0.fault(.began(fault: 0))
            $0.fault(.ended(fault: 0))
            $0.fault(.decided(fault: 1, .stream, attempt: 1, fires: true))
            $0.fault(.fired(fault: 9, .stream, attempt: 1))
        }
        let expected: [(CountMetric, Int64)] = [
            (.sseEvents, 3), (.sseUnknown, 1), (.sseUndecodable, 1), (.uploadAttempts, 1),
            (.sseConnectAttempts, 1), (.sseReconnectAttempts, 0), (.resultsAttempts, 0),
            (.cleanupAttempts, 1), (.descriptorsRefused, 1), (.scansCompleted, 0),
        ]
        for (metric, count) in expected {
            #expect(self.count(metric, measured) == count, "\(metric.rawValue)")
        }
        let answers = measured.table.everything(of: .fleet).answersByOperation
        #expect(answers.map(\.operation) == [.upload, .cleanup] && answers.map(\.status) == [202, 204])
        #expect(measured.table.count(fault: "reset-1", of: .fleet) == .measured(1))
        #expect(measured.table.count(fault: "offline-1", of: .fleet) == .measured(1))
    }

    @Test func `what needs the backend is not available without it`() {
        let measured = self.measured(hasView: false) {
            $0.launch()
            $0.wholeScan()
        }
        #expect(measured.table.histogram(.sseEventLatency, of: .fleet) == .notAvailable)
        #expect(self.times(.scanTime, measured) == self.once(21))
    }

    @Test func `a phone's measurements are its group's`() {
        let fleet = PhoneGroups(groups: ["walkers", "riders"], groupOfDevice: [0, 1])
        var tally = MetricsCollector(fleet: fleet, faultIDs: [], hasBackendView: true)
        var history = History()
        history.device = DeviceNumber(1)
        history.wholeScan()
        history.device = DeviceNumber(9)
        history.wholeScan()
        for observation in history.observations { tally.record(observation) }
        #expect(tally.measured.table.count(.sseEvents, of: .group("riders")) == .measured(3))
        #expect(tally.measured.table.count(.sseEvents, of: .group("walkers")) == .measured(0))
        #expect(tally.measured.table.count(.sseEvents, of: .fleet) == .measured(6))
    }

    @Test func `a scan has photos, and a batch has none`() {
        let fleet = PhoneGroups(
            groups: ["scanners", "shelves", "batches"], groupOfDevice: [0, 1, 2])
        var tally = MetricsCollector(fleet: fleet, faultIDs: [], hasBackendView: true)
        tally.journeys = [.scan, .bookshelfScan, .batchEnrichment]
        var history = History()
        for device in 0...3 {
            history.device = DeviceNumber(UInt32(device))
            history.wholeScan()
            if device == 1 { history.phone(.photosTaken(3)) }
        }
        for observation in history.observations { tally.record(observation) }
        let counts = fleet.groups.map { tally.measured.table.count(.photosTaken, of: .group($0)) }
        #expect(counts == [.measured(1), .measured(3), .measured(0)])
        #expect(tally.measured.table.count(.photosTaken, of: .fleet) == .measured(5), "one of no group")
    }

    // MARK: Failure rates

    @Test func `an upload is one operation however many attempts it takes`() {
        let measured = self.measured {
            $0.capture()
            for attempt: UInt32 in 1...3 {
                $0.send(.upload, attempt: attempt, job: nil)
                $0.phone(.requestFailed(.upload, attempt: attempt, .reset, took: .zero))
                $0.phone(.queued(.transport))
            }
            $0.upload(attempt: 4)
        }
        #expect(self.rate(.uploadFailed, measured) == [0, 1])
        #expect(self.count(.uploadAttempts, measured) == 4)
    }

    @Test func `an upload that is refused has failed, and one that the server may have later has not`() {
        func end(_ status: Int, refused: Bool) -> [Int64] {
            self.rate(
                .uploadFailed,
                self.measured {
                    $0.capture()
                    $0.send(.upload, job: nil)
                    $0.phone(.replied(.upload, attempt: 1, status: status, took: .zero))
                    if refused { $0.phone(.refused(code: "X", cause: .photo)) }
                })
        }
        #expect(end(413, refused: true) == [1, 1])
        #expect(end(503, refused: false) == [1, 1])
        #expect(end(429, refused: false) == [0, 0])
    }

    @Test func `an upload under way when the run ends is in no rate`() {
        let measured = self.measured {
            $0.capture()
            $0.send(.upload, job: nil)
        }
        #expect(self.rate(.uploadFailed, measured) == [0, 0])
    }

    @Test func `a first connect that succeeds at last is one success, and later ones are reconnects`() {
        let measured = self.measured {
            $0.capture()
            $0.upload()
            $0.send(.stream, attempt: 1, job: $0.job)
            $0.phone(.requestFailed(.stream, attempt: 1, .connectRefused, took: .zero))
            $0.phone(.streamLost(job: $0.job, attempt: 1, .connectFailed, silence: nil))
            $0.open(attempt: 2)
            $0.phone(
                .reconnected(job: $0.job, .connectFailed, attempts: 1, resumed: false, took: .seconds(1)))
            $0.event(0)
            $0.phone(.streamLost(job: $0.job, attempt: 2, .reset, silence: nil))
            $0.open(attempt: 3, after: History.id(0), serverAfter: 0)
            $0.phone(.reconnected(job: $0.job, .reset, attempts: 1, resumed: true, took: .seconds(2)))
        }
        #expect(self.rate(.sseConnectFailed, measured) == [0, 1])
        #expect(self.rate(.sseReconnectFailed, measured) == [0, 2])
        #expect(self.count(.sseConnectAttempts, measured) == 2)
        #expect(self.count(.sseReconnectAttempts, measured) == 1)
        #expect(self.count(.sseResumes, measured) == 1)
        #expect(self.count(.sseRestarts, measured) == 1)
    }

    @Test func `a job whose stream never opened is a failed connect`() {
        let measured = self.measured {
            $0.capture()
            $0.upload()
            $0.send(.stream, job: $0.job)
            $0.phone(.replied(.stream, attempt: 1, status: 401, took: .zero))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
            $0.job = "job-2"
            $0.upload(attempt: 2)
            $0.open(attempt: 2)
        }
        #expect(self.rate(.sseConnectFailed, measured) == [1, 2])
        #expect(self.rate(.uploadFailed, measured) == [0, 2])
        #expect(self.rate(.cleanupFailed, measured) == [0, 0])
    }

    private func givenUp(
        attempts: Int, before: [PhoneObservation] = [], after: [PhoneObservation] = []
    ) -> Measurements {
        self.measured {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .offline, silence: nil))
            for payload in before { $0.phone(payload) }
            $0.phone(.reconnectGivenUp(job: $0.job, .offline, attempts: attempts))
            for payload in after { $0.phone(payload) }
        }
    }

    @Test func `a loss episode that is given up has failed, tried or not`() {
        for attempts in [0, 2] {
            let measured = self.givenUp(attempts: attempts)
            #expect(self.rate(.sseReconnectFailed, measured) == [1, 1])
            #expect(measured.whole.disconnections[.offline].gaveUp == 1)
        }
    }

    @Test func `a loss episode that the end of the run cuts short with a suspension has failed`() {
        let measured = self.givenUp(attempts: 0, before: [.suspended])
        #expect(self.rate(.sseReconnectFailed, measured) == [1, 1])
    }

    @Test func `a loss episode that the background, a kill or a reinstallation ends counts neither way`() {
        let endings: [[PhoneObservation]] = [
            [.resumed], [.launched(restored: 1)], [.killed], [.reinstalled(discarded: 1)],
        ]
        for after in endings {
            let measured = self.givenUp(attempts: 1, before: [.suspended], after: after)
            #expect(self.rate(.sseReconnectFailed, measured) == [0, 0], "\(after)")
        }
    }

    @Test func `a loss episode that a new upload supersedes has not failed and has no time`() {
        let measured = self.measured {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .endWithoutTerminal, silence: nil))
            $0.phone(.reconnectSuperseded(job: $0.job, .endWithoutTerminal, attempts: 1))
        }
        let row = measured.whole.disconnections[.endWithoutTerminal]
        #expect(self.rate(.sseReconnectFailed, measured) == [0, 0])
        #expect([row.count, row.resumed, row.restarted, row.gaveUp] == [1, 0, 1, 0])
        #expect(row.reconnectTime.total == 0)
    }

    @Test func `a loss episode that the end of the run cuts short has failed, tried or not`() {
        func open(tried: Bool) -> [Int64] {
            self.rate(
                .sseReconnectFailed,
                self.measured {
                    $0.streaming()
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
                    if tried { $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1)) }
                })
        }
        #expect(open(tried: true) == [1, 1])
        #expect(open(tried: false) == [1, 1])
    }

    @Test func `results and cleanup fail when the phone gives them up`() {
        let measured = self.measured {
            $0.streaming()
            $0.terminal(2, inline: .absent)
            $0.send(.results, attempt: 1, job: $0.job)
            $0.phone(.replied(.results, attempt: 1, status: 503, took: .zero))
            $0.send(.results, attempt: 2, job: $0.job)
            $0.phone(.resultsGivenUp(job: $0.job))
            $0.send(.cleanup, job: $0.job)
            $0.phone(.replied(.cleanup, attempt: 1, status: 401, took: .zero))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
        }
        #expect(self.rate(.resultsFailed, measured) == [1, 1])
        #expect(self.rate(.cleanupFailed, measured) == [1, 1])
        #expect(self.count(.resultsAttempts, measured) == 2)
        #expect(self.count(.cleanupAttempts, measured) == 1)
    }

    @Test(arguments: [204, 404, 410]) func `a job that is gone is cleaned up`(status: Int) {
        let measured = self.measured {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            $0.send(.cleanup, job: $0.job)
            $0.phone(.replied(.cleanup, attempt: 1, status: status, took: .zero))
            $0.phone(.cleanupAnswered(job: $0.job, status: status, took: .milliseconds(1)))
        }
        #expect(self.rate(.cleanupFailed, measured) == [0, 1])
    }

    @Test func `a DELETE that keeps failing until the end has failed`() {
        let measured = self.measured {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            $0.send(.cleanup, job: $0.job)
            $0.phone(.requestFailed(.cleanup, attempt: 1, .timedOut, took: .zero))
        }
        #expect(self.rate(.cleanupFailed, measured) == [1, 1])
    }

    @Test func `a photo that cannot be used is a failed preparation, and no failed upload`() {
        let measured = self.measured {
            $0.phone(.captured(scheduled: .zero))
            $0.phone(.refused(code: "PHOTO_UNUSABLE", cause: .photo))
            $0.scan = ScanNumber(2)
            $0.capture()
        }
        #expect(self.rate(.preprocessFailed, measured) == [1, 2])
        #expect(self.rate(.uploadFailed, measured) == [0, 0])
    }

    // MARK: Disconnections

    @Test func `an episode is one disconnection, by its first cause`() {
        let measured = self.measured {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            $0.phone(.streamLost(job: $0.job, attempt: 2, .connectFailed, silence: nil))
            $0.open(attempt: 3, after: History.id(1), serverAfter: 1)
            $0.phone(.reconnected(job: $0.job, .reset, attempts: 2, resumed: true, took: .seconds(3)))
            $0.phone(.streamLost(job: $0.job, attempt: 3, .reset, silence: nil))
        }
        let row = measured.whole.disconnections[.reset]
        #expect(
            [row.count, row.resumed, row.restarted, row.gaveUp, row.unresolved] == [2, 1, 0, 0, 1])
        #expect(row.reconnectTime.maximum == 3_000_000_000)
        #expect(measured.whole.disconnections[.connectFailed].count == 0)
        #expect(measured.whole.disconnections.rows.map(\.cause) == LossCause.allCases)
    }

    @Test func `a stream that a kill took is a disconnection from the relaunch on`() {
        let measured = self.measured {
            $0.streaming()
            $0.phone(.killed)
            $0.pass(.seconds(60))
            $0.launch(restored: 1)
            $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
        }
        let row = measured.whole.disconnections[.killed]
        #expect([row.count, row.resumed, row.restarted, row.gaveUp] == [1, 1, 0, 0])
        #expect(row.reconnectTime.maximum == 3_000_000)
        #expect(self.rate(.sseReconnectFailed, measured) == [0, 1])
    }

    @Test func `a job that was over when the app was started again is superseded`() {
        let measured = self.measured {
            $0.streaming()
            $0.phone(.killed)
            $0.launch(restored: 1)
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            $0.phone(.replied(.stream, attempt: 2, status: 404, took: .zero))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.jobGone)))
        }
        let row = measured.whole.disconnections[.killed]
        #expect([row.count, row.resumed, row.restarted, row.gaveUp] == [1, 0, 1, 0])
        #expect(self.rate(.sseReconnectFailed, measured) == [0, 0])
    }

    /// A phone that was looking for its stream when it was killed, and that was started again 10 s later.
    private func killedWhileLost(_ more: (inout History) -> Void) -> Measurements {
        self.measured {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.phone(.killed)
            $0.pass(.seconds(10))
            $0.launch(restored: 1)
            more(&$0)
        }
    }

    private func outcome(_ cause: LossCause, _ measured: Measurements) -> [Int64] {
        let row = measured.whole.disconnections[cause]
        return [row.count, row.resumed, row.restarted, row.gaveUp, row.unresolved]
    }

    @Test func `a loss that a kill cuts short ends with the stream of the next process`() {
        let measured = self.killedWhileLost { $0.open(attempt: 2, after: History.id(1), serverAfter: 1) }
        #expect(self.outcome(.reset, measured) == [1, 1, 0, 0, 0])
        #expect(self.outcome(.killed, measured) == [0, 0, 0, 0, 0], "no stream was open")
        #expect(self.times(.sseReconnectTime, measured) == self.once(3), "from the launch on")
        #expect(self.rate(.sseReconnectFailed, measured) == [0, 1])
    }

    @Test func `a loss that a kill cuts short is superseded if the job was over then`() {
        let measured = self.killedWhileLost {
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            $0.phone(.replied(.stream, attempt: 2, status: 401, took: .zero))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
        }
        #expect(self.outcome(.reset, measured) == [1, 0, 1, 0, 0])
    }

    @Test func `a loss that a kill cuts short is given up where the next process notices its own`() {
        let measured = self.killedWhileLost {
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            $0.phone(.streamLost(job: $0.job, attempt: 2, .connectFailed, silence: nil))
            $0.open(attempt: 3, after: History.id(1), serverAfter: 1)
            $0.phone(
                .reconnected(
                    job: $0.job, .connectFailed, attempts: 1, resumed: true, took: .milliseconds(4)))
        }
        #expect(self.outcome(.reset, measured) == [1, 0, 0, 1, 0])
        #expect(self.outcome(.connectFailed, measured) == [1, 1, 0, 0, 0])
        #expect(self.times(.sseReconnectTime, measured).first == 1)
    }

    @Test func `two kills in one loss leave one loss`() {
        let measured = self.killedWhileLost {
            $0.phone(.killed)
            $0.launch(restored: 1)
            $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
        }
        #expect(self.outcome(.reset, measured) == [1, 1, 0, 0, 0])
    }

    @Test func `a loss that a kill cuts short is given up with a reinstallation`() {
        let measured = self.killedWhileLost { $0.phone(.reinstalled(discarded: 1)) }
        #expect(self.outcome(.reset, measured) == [1, 0, 0, 1, 0])
    }

    @Test func `a loss that a kill cuts short and nothing follows is open at the end`() {
        #expect(self.outcome(.reset, self.killedWhileLost { _ in }) == [1, 0, 0, 0, 1])
    }

    @Test func `an unreadable terminal event is one that could not be decoded`() {
        let measured = self.measured {
            $0.phone(.eventIgnored(job: $0.job, id: nil, name: "progress", malformed: true))
            $0.phone(.badAnswer(.stream, attempt: 1, .undecodable))
            $0.phone(.badAnswer(.results, attempt: 1, .undecodable))
            $0.phone(.badAnswer(.stream, attempt: 1, .unexpectedStatus))
        }
        #expect(self.count(.sseUndecodable, measured) == 2)
        let named = [
            PhoneObservation.eventIgnored(job: "j", id: nil, name: "progress", malformed: true),
            .badAnswer(.stream, attempt: 1, .undecodable),
        ].map { RunError($0)?.name }
        #expect(named == Array(repeating: "stream: undecodable event", count: 2), "as in the table")
    }

    @Test func `the answer that opens a WebSocket is no error`() {
        func name(_ status: Int) -> String? {
            RunError(.replied(.stream, attempt: 1, status: status, took: .zero))?.name
        }
        #expect(name(101) == nil && name(200) == nil && name(503) == "stream: HTTP 503")
    }

    @Test func `a suspended phone has lost nothing`() {
        let measured = self.measured {
            $0.streaming()
            $0.phone(.suspended)
            $0.phone(.killed)
        }
        #expect(measured.whole.disconnections == Disconnections())
    }

    // MARK: Shards

    @Test func `shards add up to what one tally would have measured`() {
        var first = History { $0.wholeScan() }
        var second = History()
        second.device = DeviceNumber(1)
        second.streaming()
        second.phone(.streamLost(job: second.job, attempt: 1, .reset, silence: nil))
        second.send(.stream, attempt: 2, job: second.job, after: History.id(1))
        first.scan = ScanNumber(2)
        first.job = "job-2"
        first.wholeScan()

        func tally() -> MetricsCollector {
            MetricsCollector(fleet: .ungrouped, faultIDs: ["a"], hasBackendView: true)
        }
        var whole = tally()
        for observation in first.observations + second.observations { whole.record(observation) }
        whole.finish(at: first.now)

        var shard = tally()
        var other = tally()
        var sum = tally()
        for observation in first.observations {
            shard.record(observation)
            sum.add(shard.drain())
        }
        for observation in second.observations { other.record(observation) }
        other.finish(at: first.now)
        sum.add(other.drain())
        #expect(sum.measured == whole.measured)
        #expect(shard.drain() == tally().measured)
    }
}
