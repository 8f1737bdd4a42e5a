import CSV
import Metrics
import Observations
import SimBase
import Talaria

/// What one phone, the backend and the faults have reported of it, compared with each other.
///
/// Exchanges are in HarnessPhone+Exchanges, their faults in +Faults, streams in +Streams, jobs in +Jobs, imports and
/// look-ups in +Imports, quotas in +Quotas, the lifecycle of the phone in +Life.
struct HarnessPhone: Sendable {
    /// A phone that has not noticed the end of its connection by then never will.
    static let noticeTime = Interval.seconds(5)

    let index: Int
    let device: DeviceNumber
    /// Whether every event that is written to it is followed.
    let isWatched: Bool
    /// Whether it deviates from the contract on purpose.
    let deviates: Bool
    let library: LibrarySpec?
    var exchanges: [Exchange] = []
    var jobs: [HarnessJob] = []
    var quotas = QuotaAccount()
    var firings: [Firings] = []
    /// The last exchanges that faults with a limit may hit.
    var armed: [ArmedExchange] = []
    /// The faults that have a share, a bit for each.
    var hitBy: UInt64 = 0
    /// The latest requests for the status of a job: one may be answered after the phone has given it up.
    var polls: [(scan: ScanNumber, attempt: UInt32, job: String)] = []
    /// The latest jobs whose tokens a fault has revoked, for a target behind the gateway.
    var revoked: [(job: String, at: Instant)] = []
    var life = HarnessLifecycle()
    var imports = HarnessImports()
    var choices = RolloutChoices()
    /// The last look-up that the backend answered, and whether it asked a provider.
    var lookedUp: (scan: ScanNumber, at: Instant, isBilled: Bool)?

    init(_ device: DeviceNumber, index: Int, _ fleet: HarnessFleet) {
        self.index = index
        self.device = device
        self.isWatched = fleet.watches(device)
        self.deviates = fleet.settings.fleet.value(of: device, in: fleet.settings.deviations) ?? false
        self.library = fleet.settings.fleet.value(of: device, in: fleet.settings.libraries) ?? nil
    }

    /// The number of remembered entries, for tests of its growth.
    var remembered: Int {
        self.exchanges.count + self.jobs.count + self.quotas.remembered + self.polls.count
            + self.imports.remembered
    }

    /// A book of an answer is filed. In an answer that a fault has reordered, no book is at its index.
    mutating func filed(_ book: Book?, _ ordinal: Int, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        let results = self.exchanges.last { $0.scan == scan && $0.operation == .results }
        guard fleet.server != nil, let book, let results, results.isReordered else { return }
        let device = self.device
        // The books of a captured stream may be alike.
        if case .captured = fleet.shelf.lookup { return }
        guard ordinal < fleet.shelf.count(device: device, scan: scan),
            BookKey(book) == BookKey(fleet.shelf.book(device: device, scan: scan, ordinal: ordinal))
        else { return }
        self.error("book \(ordinal) is at its place, but a fault had reordered the results", scan, &fleet)
    }

    /// Records an error of this instant.
    mutating func error(_ text: @autoclosure () -> String, _ scan: ScanNumber, _ fleet: inout HarnessFleet) {
        fleet.errors.add(text(), device: self.device, scan: scan, at: fleet.now)
    }

    // MARK: Effects

    mutating func note(
        _ kind: HarnessFleet.Effect.Kind, _ scan: ScanNumber, _ fleet: inout HarnessFleet,
        attempt: UInt32 = 0,
        needsFault: Bool = false
    ) {
        fleet.effects.append(
            .init(kind: kind, phone: self.index, scan: scan, attempt: attempt, needsFault: needsFault))
    }

    /// Takes an effect for that of a fault that has fired.
    ///
    /// - Returns: Whether there was one.
    mutating func explain(
        _ scan: ScanNumber, _ fleet: inout HarnessFleet, where fits: (HarnessFleet.Effect) -> Bool
    ) -> Bool {
        guard
            let index = fleet.effects.firstIndex(where: {
                $0.phone == self.index && $0.scan == scan && fits($0)
            })
        else { return false }
        fleet.effects[index].needsFault = false
        return true
    }
}
