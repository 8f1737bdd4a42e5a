package import Metrics
package import Observations
package import SimBase
import Talaria

/// The outcome of a scan.
package enum ScanEnd: String, CaseIterable, Sendable {
    case completed, refused, canceled
    /// It waits, was discarded or lost, or was under way when the run ended.
    case unfinished
}

/// What one scan took.
package struct ScanRow: Equatable, Sendable {
    package var device: DeviceNumber
    package var scan: ScanNumber
    /// The scheduled time of its capture.
    package var at: Instant
    package var end = ScanEnd.unfinished
    package var books = 0
    /// By the index of the metric in `ScanTable.metrics`, in units of `ScanTable.unit`; the maximum if
    /// nothing was measured.
    package var times = SIMD16<UInt32>(repeating: .max)
    /// Where its time went; nothing where that is not known.
    package var spent = ActivityTimes()

    package init(device: DeviceNumber, scan: ScanNumber, at: Instant) {
        self.device = device
        self.scan = scan
        self.at = at
    }

    /// Nil where nothing was measured.
    package subscript(metric: LatencyMetric) -> Interval? {
        guard let column = ScanTable.column(metric), self.times[column] != .max else { return nil }
        return ScanTable.unit * Int64(self.times[column])
    }

    /// What has several samples in a scan is as long as the longest.
    package mutating func record(_ metric: LatencyMetric, _ time: Interval) {
        guard let column = ScanTable.column(metric) else { return }
        let unit = ScanTable.unit.nanoseconds
        let units = UInt32(
            clamping: min(max(0, (time + ScanTable.unit / 2).nanoseconds / unit), Int64(UInt32.max) - 1))
        let known = self.times[column]
        self.times[column] = known == .max ? units : max(known, units)
    }
}

/// The scans of a run, one by one, so that those of two runs can be paired. Of more scans than a file should hold, a sample by
/// phone and number, which is the same in every run.
package struct ScanTable: Equatable, Sendable {
    package static let rowsMax = 250_000
    /// What times are rounded to: half a day fits then.
    package static let unit = Interval.microseconds(10)
    /// The latencies of scans, by their column. Those of connections and of timers are of no scan.
    package static let metrics: [LatencyMetric] = [
        .scanTime, .uploadTime, .uploadServiceTime, .sseConnectTime, .sseFirstEventTime, .sseEventLatency,
        .sseEventDelay, .sseReconnectTime, .sseDetectTime, .resultsTime, .cleanupTime, .statusTime,
        .cancelTime,
        .jobFirstEventTime, .jobTime, .preprocessTime,
    ]
    private static let columns: [Int?] = LatencyMetric.allCases.map { Self.metrics.firstIndex(of: $0) }

    static func column(_ metric: LatencyMetric) -> Int? { Self.columns[metric.ordinal] }

    package static func isOfScans(_ metric: LatencyMetric) -> Bool { Self.column(metric) != nil }

    /// In the order of their captures.
    package private(set) var rows: [ScanRow] = []
    /// One scan of this many, a power of two, is in the table.
    package private(set) var oneOf: UInt64
    private var places: [UInt64: Int] = [:]
    private let rowsMax: Int
    private var activities = ActivityAccount()

    package init(oneOf: UInt64 = 1, rowsMax: Int = Self.rowsMax) {
        precondition(oneOf.nonzeroBitCount == 1, "a sample is one of a power of two")
        self.oneOf = oneOf
        self.rowsMax = rowsMax
    }

    // MARK: Events

    package mutating func record(_ observation: borrowing Observation, _ samples: [Measurements.Sample]) {
        guard observation.side == .phone else { return }
        let (device, scan) = (observation.device, observation.scan)
        // To look into an observation copies it, and routine ones neither begin nor end a scan.
        guard !observation.isRoutine else {
            return self.record(samples, of: Self.key(device, scan))
        }
        guard case .phone(let payload) = observation.what else { return }
        let spent = self.activities.record(payload, of: scan, on: device, at: observation.at)
        if case .captured(let scheduled) = payload {
            self.add(ScanRow(device: device, scan: scan, at: scheduled))
        }
        self.record(samples, of: Self.key(device, scan))
        guard let change = Self.change(payload), let place = self.places[Self.key(device, scan)] else {
            return
        }
        switch change {
        case .book: self.rows[place].books += 1
        case .end(let end):
            self.rows[place].end = end
            self.rows[place].spent = spent ?? self.rows[place].spent
        }
    }

    /// The end of the run, for scans that have not ended.
    package mutating func finish(at moment: Instant) {
        for (device, scan, spent) in self.activities.open(at: moment) {
            guard let place = self.places[Self.key(device, scan)] else { continue }
            self.rows[place].spent = spent
        }
    }

    private mutating func record(_ samples: [Measurements.Sample], of key: UInt64) {
        guard !samples.isEmpty, let place = self.places[key] else { return }
        for sample in samples { self.rows[place].record(sample.metric, sample.time) }
    }

    private enum RowChange {
        case book
        case end(ScanEnd)
    }

    private static func change(_ payload: borrowing PhoneObservation) -> RowChange? {
        switch payload {
        case .bookAdded, .bookPending: .book
        case .completed: .end(.completed)
        case .refused: .end(.refused)
        case .canceled: .end(.canceled)
        default: nil
        }
    }

    /// Adds a scan if it is in the sample. Of one that is there, the first stays.
    package mutating func add(_ row: ScanRow) {
        let key = Self.key(row.device, row.scan)
        guard Self.isIn(key, oneOf: self.oneOf), self.places[key] == nil else { return }
        self.places[key] = self.rows.count
        self.rows.append(row)
        if self.rows.count > self.rowsMax { self.thin(to: self.oneOf * 2) }
    }

    /// Leaves one scan of so many, if it has more than that.
    package mutating func thin(to oneOf: UInt64) {
        guard oneOf > self.oneOf else { return }
        self.oneOf = oneOf
        self.rows.removeAll { !Self.isIn(Self.key($0.device, $0.scan), oneOf: oneOf) }
        self.places = [:]
        for (place, row) in self.rows.enumerated() { self.places[Self.key(row.device, row.scan)] = place }
    }

    // MARK: Queries

    package static func == (left: ScanTable, right: ScanTable) -> Bool {
        left.oneOf == right.oneOf && left.rows == right.rows
    }

    package func row(of device: DeviceNumber, _ scan: ScanNumber) -> ScanRow? {
        self.places[Self.key(device, scan)].map { self.rows[$0] }
    }

    /// Adds the scans of another part of the run. Returns whether no scan is in both.
    package mutating func add(_ other: ScanTable) -> Bool {
        self.thin(to: other.oneOf)
        var isDisjoint = true
        for row in other.rows {
            if self.places[Self.key(row.device, row.scan)] != nil { isDisjoint = false }
            self.add(row)
        }
        return isDisjoint
    }

    private static func key(_ device: DeviceNumber, _ scan: ScanNumber) -> UInt64 {
        UInt64(device.raw) << 32 | UInt64(scan.raw)
    }

    private static func isIn(_ key: UInt64, oneOf: UInt64) -> Bool {
        oneOf == 1 || KeyedRandom(seed: 0).draw(.scanSample, key) & (oneOf - 1) == 0
    }
}
