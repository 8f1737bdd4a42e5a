package import Ledger
package import Metrics
package import Observations
import SimBase
import Talaria

/// The second source of every latency: it computes the times from the observations independently, keeps the
/// first of them, and compares the histograms and their percentiles with them at the end.
///
/// Its memory is bounded: of a metric with more than `valuesMax` values, only count, extremes and sum are
/// compared, and of one group only the count.
package struct LatencyCrossCheck: Sendable {
    package static let valuesMax = 1_000

    private struct Sample: Sendable {
        /// Empty once there were more than `valuesMax`.
        var values: [Int64] = []
        var count: Int64 = 0
        var negative: Int64 = 0
        var sum: UInt128 = 0
        var minimum = Int64.max
        var maximum: Int64 = 0

        mutating func add(_ value: Int64) {
            guard value >= 0 else {
                self.negative += 1
                return
            }
            self.count += 1
            self.sum += UInt128(value)
            self.minimum = min(self.minimum, value)
            self.maximum = max(self.maximum, value)
            if self.count <= Int64(LatencyCrossCheck.valuesMax) {
                self.values.append(value)
            } else {
                self.values = []
            }
        }
    }

    private let fleet: PhoneGroups
    private var samples = [Sample](repeating: Sample(), count: LatencyMetric.allCases.count)
    /// Values of each metric, group after group; those of no group come first.
    private var ofGroups: [Int64]
    /// Scans by group, those of no group last.
    private var captured: [Int]
    private var completed: [Int]
    private var jobs: [JobCount]
    private var books: [BookCount]
    private var indexes = DeviceIndex()
    /// The phones in the order of their first observation.
    private var reconnects: [ReconnectAccount] = []
    private var jobTimes: [JobTimesAccount] = []
    private var dueTimes: [DueTimesAccount] = []
    private var firstBooks: [FirstBookCheck] = []

    /// The jobs of one group, as both sides reported them.
    private struct JobCount: Sendable {
        var accepted = 0
        var cleaned = 0
        var expired = 0
        /// 202 answers that phones have read.
        var known = 0
    }

    private struct BookCount: Sendable {
        var added = 0
        var repeated = 0
        /// Look-ups by text that were answered.
        var enriched = 0
        /// Uploads of all kinds.
        var uploads = 0
    }

    package init(fleet: PhoneGroups = .ungrouped) {
        self.fleet = fleet
        self.ofGroups = Array(
            repeating: 0, count: (fleet.groups.count + 1) * LatencyMetric.allCases.count)
        self.captured = Array(repeating: 0, count: fleet.groups.count + 1)
        self.completed = self.captured
        self.jobs = Array(repeating: JobCount(), count: fleet.groups.count + 1)
        self.books = Array(repeating: BookCount(), count: fleet.groups.count + 1)
    }

    // MARK: Events

    package mutating func record(_ observation: borrowing Observation) {
        switch observation.side {
        case .phone, .network: break
        case .backend:
            if case .backend(.targetEvent(let latency)) = observation.what {
                self.add(latency, to: .sseEventLatency, self.fleet.group(of: observation.device))
            }
            if observation.isRoutine { return }
        case .fault, .control: return
        }
        self.record(observation.what, of: observation)
    }

    /// `what`: by itself, since to switch over a member of the observation copies all of it.
    private mutating func record(_ what: ObservationPayload, of observation: borrowing Observation) {
        let group = self.fleet.group(of: observation.device)
        switch what {
        case .phone(let payload):
            if observation.isRoutine {
                self.record(payload, group)
            } else {
                let index = self.index(of: observation.device)
                let (scan, at) = (observation.scan, observation.at)
                self.record(payload, group, sinceDue: self.dueTimes[index].record(payload, scan, at: at))
                self.add(
                    self.reconnects[index].record(payload, scan, at: at), to: .sseReconnectTime, group)
                self.add(self.firstBooks[index].record(payload, scan, at: at), to: .firstBookTime, group)
                if let (metric, time) = self.jobTimes[index].record(payload, scan, at: at) {
                    self.add(time, to: metric, group)
                }
            }
        case .network(let payload):
            self.add(payload.lookup, to: .netDNSTime, group)
            self.add(payload.connect, to: .netConnectTime, group)
            self.add(payload.tls, to: .netTLSTime, group)
            self.add(payload.firstByte, to: .netFirstByteTime, group)
        case .backend(.accepted): self.jobs[group ?? self.fleet.groups.count].accepted += 1
        case .backend(.cleaned(_, effective: true)), .backend(.canceled):
            self.jobs[group ?? self.fleet.groups.count].cleaned += 1
        case .backend(.expired): self.jobs[group ?? self.fleet.groups.count].expired += 1
        case .backend, .fault, .control: break
        }
    }

    /// - Parameter sinceDue: The time since the scan or the upload was due, where that is known.
    private mutating func record(_ payload: PhoneObservation, _ group: Int?, sinceDue: Interval? = nil) {
        switch payload {
        case .captured: self.captured[group ?? self.fleet.groups.count] += 1
        case .photoPrepared(let took, _): self.add(took, to: .preprocessTime, group)
        case .completed(let took):
            self.completed[group ?? self.fleet.groups.count] += 1
            self.add(sinceDue ?? took, to: .scanTime, group)
        case .bookAdded, .bookPending: self.books[group ?? self.fleet.groups.count].added += 1
        case .bookRepeated: self.books[group ?? self.fleet.groups.count].repeated += 1
        case .uploadAccepted(_, let took, let service):
            self.jobs[group ?? self.fleet.groups.count].known += 1
            self.add(sinceDue ?? took, to: .uploadTime, group)
            self.add(service, to: .uploadServiceTime, group)
        case .lookupAnswered(_, _, let took, let service):
            self.add(sinceDue ?? took, to: .uploadTime, group)
            self.add(service, to: .uploadServiceTime, group)
        case .bookRead(let took): self.add(sinceDue ?? took, to: .feedbackTime, group)
        case .requestSent(.upload, _, _, _): self.books[group ?? self.fleet.groups.count].uploads += 1
        case .enriched(_, let took, let service):
            self.books[group ?? self.fleet.groups.count].enriched += 1
            self.add(sinceDue ?? took, to: .enrichedTime, group)
            self.add(service, to: .enrichTime, group)
        case .resultsDecoded(_, _, let took): self.add(took, to: .resultsTime, group)
        case .statusDecoded(_, _, let took): self.add(took, to: .statusTime, group)
        case .cleanupAnswered(_, _, let took): self.add(took, to: .cleanupTime, group)
        case .cancelAnswered(_, let took): self.add(took, to: .cancelTime, group)
        case .streamOpened(_, _, _, let took): self.add(took, to: .sseConnectTime, group)
        case .firstEvent(_, let took): self.add(took, to: .sseFirstEventTime, group)
        case .eventApplied(_, _, _, let latency, let replayed):
            self.add(latency, to: replayed ? .sseEventDelay : .sseEventLatency, group)
        case .ping(_, let gap): self.add(gap, to: .ssePingGap, group)
        case .streamLost(_, _, let cause, let silence):
            if cause == .silence { self.add(silence, to: .sseDetectTime, group) }
        default: break
        }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.reconnects.append(ReconnectAccount())
        self.jobTimes.append(JobTimesAccount())
        self.dueTimes.append(DueTimesAccount())
        self.firstBooks.append(FirstBookCheck())
        self.indexes[device] = self.reconnects.count - 1
        return self.reconnects.count - 1
    }

    private mutating func add(_ time: Interval?, to metric: LatencyMetric, _ group: Int?) {
        guard let time else { return }
        self.samples[metric.ordinal].add(time.nanoseconds)
        if time >= .zero { self.ofGroups[self.index(of: metric, group)] += 1 }
    }

    private func index(of metric: LatencyMetric, _ group: Int?) -> Int {
        (group.map { $0 + 1 } ?? 0) * LatencyMetric.allCases.count + metric.ordinal
    }

    // MARK: The end

    /// Returns the differences between a run's table of latencies and the observations.
    package func differences(from table: MetricTable) -> [String] {
        LatencyMetric.allCases.filter { !$0.isOfDriver }.flatMap { metric in
            guard case .measured(let histogram) = table.histogram(metric, of: .fleet) else {
                return [String]()
            }
            return self.differences(metric, from: histogram) + self.differences(metric, ofGroupsIn: table)
        }
    }

    private func differences(_ metric: LatencyMetric, ofGroupsIn table: MetricTable) -> [String] {
        guard table.groups == self.fleet.groups else { return [] }
        return table.groups.indices.compactMap { group in
            let measured = table.set(in: MetricGroup(index: group)).histogram(metric).total
            let exact = self.ofGroups[self.index(of: metric, group)]
            guard measured != exact else { return nil }
            return
                "\(metric.rawValue): count \(measured) in group \(table.groups[group]), but \(exact) was observed"
        }
    }

    /// Returns the differences between a ledger's counts and the observations. If custody is violated, the
    /// ledger reports the reason.
    package func differences(from ledger: Ledger) -> [String] {
        if let lost = Self.difference(in: ledger.totals.scans) { return [lost] }
        let isBroken = ledger.verdicts.contains { $0.invariant == .scanCustody && $0.violations > 0 }
        guard !isBroken, ledger.totalsByGroup.count == self.fleet.groups.count else { return [] }
        let all = ledger.totalsByGroup + [ledger.totalsOfNoGroup]
        var differences: [String] = []
        var sum = LedgerTotals()
        for (index, totals) in all.enumerated() {
            sum.add(totals)
            let name = index < self.fleet.groups.count ? "group \(self.fleet.groups[index])" : "no group"
            if totals.scans.captured != self.captured[index] {
                differences.append(
                    "scans.captured: \(totals.scans.captured) in \(name), but \(self.captured[index]) was observed"
                )
            }
            differences += self.differences(totals, in: name, index, ledger)
            differences += self.costDifferences(totals, in: name, index)
            if totals.scans.completed > self.completed[index] {
                differences.append(
                    "scans.completed: \(totals.scans.completed) in \(name), but \(self.completed[index]) was observed"
                )
            }
        }
        if sum != ledger.totals {
            differences.append("the totals of the ledger are not the sum of its groups")
        }
        return differences
    }

    /// Whether every scan is counted exactly once.
    package static func difference(in scans: ScanTotals) -> String? {
        guard !scans.isConserved else { return nil }
        let settled =
            scans.completed + scans.refused + scans.canceled + scans.waiting + scans.discarded + scans.lost
        return
            "scans: \(scans.captured + scans.restored) captured or restored, but \(settled) settled and \(scans.open) open"
    }

    /// Jobs and books of one group.
    private func differences(
        _ totals: LedgerTotals, in name: String, _ index: Int, _ ledger: Ledger
    ) -> [String] {
        let (jobs, books) = (self.jobs[index], self.books[index])
        var differences: [String] = []
        func compare(_ what: String, _ count: Int, _ seen: Int, isMost: Bool = false) {
            guard isMost ? count > seen : count != seen else { return }
            differences.append("\(what): \(count) in \(name), but \(seen) was observed")
        }
        compare("books.repeated", totals.books.repeated, books.repeated)
        // What earlier runs have stored is not observed.
        if totals.scans.restored == 0 {
            compare("books.received", totals.books.received, books.added, isMost: true)
        }
        if ledger.hasBackendView {
            compare("jobs.accepted", totals.jobs.accepted, jobs.accepted)
            compare("jobs.cleaned", totals.jobs.cleaned, jobs.cleaned, isMost: true)
            compare("jobs.expired", totals.jobs.expired, jobs.expired, isMost: true)
            let parts = totals.books.received + totals.books.pending + totals.books.missing
            compare("books.expected", totals.books.expected, parts)
            // Each time that a book enters a library, it is new there, or a double.
            let entered = totals.books.received + totals.books.duplicated + totals.books.withdrawn
            if totals.scans.open == 0, books.added > entered {
                differences.append(
                    "books: \(books.added) entered libraries in \(name), but \(entered) are accounted for")
            }
        } else {
            compare("jobs.accepted", totals.jobs.accepted, jobs.known, isMost: true)
        }
        return differences
    }

    /// Books with a price and their requests are some of those that were observed.
    private func costDifferences(_ totals: LedgerTotals, in name: String, _ index: Int) -> [String] {
        let (costs, books) = (totals.costs, self.books[index])
        let requests = costs.photo.requests + costs.text.requests
        return [
            ("books looked up by text", costs.text.books, books.enriched),
            ("requests for books with a price", requests, books.uploads),
            ("books with and without a price", costs.allBooks, books.added + books.repeated),
        ].filter { $0.1 > $0.2 }.map { what, count, most in
            "\(what): \(count) in \(name), but at most \(most) by what was observed"
        }
    }

    func differences(_ metric: LatencyMetric, from histogram: HDRHistogram) -> [String] {
        let sample = self.samples[metric.ordinal]
        let isEmpty = sample.count == 0
        var differences: [String] = []
        func compare<Number: Equatable>(_ what: String, _ measured: Number, _ exact: Number) {
            guard measured != exact else { return }
            differences.append("\(metric.rawValue): \(what) \(measured), but \(exact) was observed")
        }
        compare("count", histogram.total, sample.count)
        compare("negative values", histogram.negative, sample.negative)
        compare("sum", histogram.sum, sample.sum)
        compare("minimum", histogram.minimum ?? .max, isEmpty ? .max : sample.minimum)
        compare("maximum", histogram.maximum ?? 0, sample.maximum)
        guard differences.isEmpty, !sample.values.isEmpty else { return differences }
        let values = sample.values.sorted()
        for percentile in [Percentile.p50, .p90, .p95, .p99, .p999] {
            let exact = Self.exact(percentile, of: values)
            let measured = histogram.value(at: percentile)
            // Never less than the truth, and more by less than a bucket is wide.
            if let measured, measured >= exact, measured <= Self.most(exact, of: sample.maximum) { continue }
            differences.append(
                "\(metric.rawValue): \(percentile) is \(measured.map(String.init) ?? "missing"), but \(exact) of \(values.count) values"
            )
        }
        return differences
    }

    /// The smallest value such that at least this share of all values is less than or equal to it.
    private static func exact(_ percentile: Percentile, of values: [Int64]) -> Int64 {
        let product = values.count * Int(percentile.perMillion)
        return values[max(1, (product + 999_999) / 1_000_000) - 1]
    }

    private static func most(_ value: Int64, of maximum: Int64) -> Int64 {
        // Beyond the values that are distinguished there is only the greatest.
        if value > HDRLayout.highestTrackable { return maximum }
        return min(maximum, value + max(511, value / 1_000))
    }
}
