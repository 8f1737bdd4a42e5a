import Ledger
import LivePhones

/// The state of a run in numbers: for the progress line, and from the processes of a run to the one that
/// started them.
struct RunProgress: Equatable {
    /// What the numbers are, in the order in which they are sent.
    private static let fields: [any WritableKeyPath<RunProgress, Int> & Sendable] = [
        \.captured, \.completed, \.failed, \.canceled, \.discarded, \.errors, \.busy, \.offline, \.heldBack,
    ]

    static let count = Self.fields.count

    var captured = 0
    var completed = 0
    /// Scans that were refused or lost.
    var failed = 0
    var canceled = 0
    var discarded = 0
    /// Errors that the phones saw.
    var errors = 0
    var busy = 0
    var offline = 0
    /// Captures that were due and that the operator held back.
    var heldBack = 0

    init() {}

    init(_ gauges: FleetGauges, _ scans: ScanTotals, errors: Int) {
        self.captured = gauges.captured
        self.completed = scans.completed
        self.failed = scans.refused + scans.lost
        self.canceled = scans.canceled
        self.discarded = scans.discarded
        self.errors = errors
        self.busy = gauges.phonesBusy
        self.offline = gauges.phonesOffline
        self.heldBack = gauges.heldBack
    }

    /// `numbers`: as many as `count`.
    init(numbers: [Int]) {
        for (field, number) in zip(Self.fields, numbers) { self[keyPath: field] = number }
    }

    var numbers: [Int] { Self.fields.map { self[keyPath: $0] } }

    /// Scans whose outcome is known.
    var settled: Int { self.completed + self.failed + self.canceled + self.discarded }

    mutating func add(_ other: RunProgress) {
        for field in Self.fields { self[keyPath: field] += other[keyPath: field] }
    }
}
