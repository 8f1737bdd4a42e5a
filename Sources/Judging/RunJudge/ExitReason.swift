/// The exit codes of the program (Docs/design.md section 4): sysexits for errors around a run, k6's numbers and ours for its
/// results.
package enum ExitCode: Int32, CaseIterable, Hashable, Sendable {
    case success = 0
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    /// An error of our own, or the backend process died.
    case internalError = 70
    case cannotWrite = 74
    /// Something was lost, duplicated or reordered.
    case invariantBroken = 97
    /// The measurement cannot be trusted.
    case untrusted = 98
    case sloFailed = 99
    case impossible = 104
    case interrupted = 105

    /// Whether a run can end with it.
    package var isOfRun: Bool { self == .success || ExitReason.allCases.contains { $0.exit == self } }

    /// Whether it is the verdict on a run that has all its figures: neither the program nor its user cut it short.
    package var isVerdict: Bool {
        self.isOfRun && ![.internalError, .cannotWrite, .interrupted].contains(self)
    }

    /// Whether a shard that ends with it decides how the run ends. The rest is judged again, over all shards.
    package var holdsForAllShards: Bool {
        [.invariantBroken, .internalError, .cannotWrite].contains(self)
    }

    /// The code of several runs if only their codes are known. A code that no run ends with counts if no
    /// other does.
    package static func worst(_ codes: [ExitCode]) -> ExitCode {
        let exit = codes.reduce(into: ExitReasons()) { $0.add(ExitReasons(of: $1)) }.exit
        return exit == .success ? codes.first { $0 != .success } ?? .success : exit
    }

    package var meaning: String {
        switch self {
        case .success: ExitReasons.meaningOfNone
        case .usage: "the command line is invalid"
        case .badData: "a scenario or other input is invalid"
        case .noInput: "a file or folder does not exist"
        case .unavailable: "the target is not available"
        case .internalError: ExitReason.internalError.meaning
        case .cannotWrite: ExitReason.cannotWrite.meaning
        case .invariantBroken: ExitReason.invariantBroken.meaning
        case .untrusted: "the measurement cannot be trusted"
        case .sloFailed: "an SLO failed, or 'compare' found a regression"
        case .impossible:
            "this machine cannot run the configuration, for example for lack of file descriptors"
        case .interrupted: ExitReason.interrupted.meaning
        }
    }
}

/// A reason why a run, or several together, did not pass: the rows of the one table that decides exit codes, the gravest first
/// (Docs/manual/exit-codes.md is made from it). The raw values are the ids in `summary.json`.
package enum ExitReason: String, CaseIterable, Hashable, Sendable {
    case invariantBroken = "invariant-broken"
    case heldUnexpectedly = "held-unexpectedly"
    case internalError = "internal-error"
    case cannotWrite = "cannot-write"
    case interrupted
    case endedByObjective = "ended-by-objective"
    case objectiveFailed = "objective-failed"
    case nothingCompleted = "nothing-completed"
    case noBook = "no-book"
    case nothingCaptured = "nothing-captured"
    case phonesMissing = "phones-missing"
    case loadNotMade = "load-not-made"
    case objectiveNotJudged = "objective-not-judged"
    case situationNotReached = "situation-not-reached"
    case searchTooShort = "search-too-short"
    case latencyObjectiveFailed = "latency-objective-failed"
    case regression
    case notProven = "not-proven"

    package var exit: ExitCode { self.row.exit }
    /// What it means, as a phrase.
    package var meaning: String { self.row.meaning }

    private var row: (exit: ExitCode, meaning: String) {
        switch self {
        case .invariantBroken:
            (.invariantBroken, "an invariant is broken: data was lost, duplicated or reordered")
        case .heldUnexpectedly: (.invariantBroken, "what `expect-broken` lists did not break")
        case .internalError: (.internalError, "an internal error, or the backend process died")
        case .cannotWrite: (.cannotWrite, "output cannot be written")
        case .interrupted: (.interrupted, "interrupted; the report covers what ran until then")
        case .endedByObjective: (.sloFailed, "an SLO with `abort` ended the run")
        case .objectiveFailed: (.sloFailed, "an SLO on a count, a rate or a cost failed")
        case .nothingCompleted: (.sloFailed, "nothing was completed")
        case .noBook: (.sloFailed, "scans or imports were completed, and no book came")
        case .nothingCaptured: (.untrusted, "nothing was captured, so nothing was measured")
        case .loadNotMade: (.untrusted, "the load was not the requested load, or a process did not keep up")
        case .phonesMissing: (.untrusted, "phones of the fleet are missing")
        case .objectiveNotJudged:
            (.untrusted, "an SLO of the scenario could not be judged, and does not say `not-judged: pass`")
        case .situationNotReached: (.untrusted, "a situation that `sometimes` requires was not reached")
        case .searchTooShort: (.untrusted, "a search ended before a hundredth of its seeds had run")
        case .latencyObjectiveFailed: (.sloFailed, "an SLO on a latency failed")
        case .regression: (.sloFailed, "a comparison with an earlier run found a regression")
        case .notProven:
            (
                .untrusted,
                "a comparison cannot exclude a regression: one of the runs was not trustworthy or left something open"
            )
        }
    }
}

/// Why a run, or several together, did not pass; empty if they did. Only this decides an exit code.
package struct ExitReasons: Hashable, Sendable, ExpressibleByArrayLiteral {
    private var reasons: Set<ExitReason>

    package init(_ reasons: some Sequence<ExitReason>) { self.reasons = Set(reasons) }

    package init(arrayLiteral elements: ExitReason...) { self.init(elements) }

    /// The reasons where only the code is known, as of a process that left no file: the gravest with this code. Empty for
    /// a code that no run ends with.
    package init(of exit: ExitCode) {
        self.init(ExitReason.allCases.filter { $0.exit == exit }.prefix(1))
    }

    /// What the exit code of a run without any means.
    package static let meaningOfNone = "every SLO and invariant held"

    /// In the order of the table.
    package var all: [ExitReason] { ExitReason.allCases.filter { self.reasons.contains($0) } }

    /// The code of the gravest.
    package var exit: ExitCode { self.all.first?.exit ?? .success }

    /// Those for which the program itself is to blame.
    package var failures: ExitReasons {
        ExitReasons(self.reasons.intersection([.internalError, .cannotWrite]))
    }

    package func contains(_ reason: ExitReason) -> Bool { self.reasons.contains(reason) }

    package mutating func insert(_ reason: ExitReason) { self.reasons.insert(reason) }

    /// Several runs end as the gravest of them does.
    package mutating func add(_ others: ExitReasons) { self.reasons.formUnion(others.reasons) }
}
