import Ledger
import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension ExitCode {
    /// The verdict of a run that ended with it, in one or two words.
    package var headline: String {
        switch self {
        case .success: "PASSED"
        case .untrusted: "NOT TRUSTWORTHY"
        case .interrupted: "INTERRUPTED"
        case .invariantBroken, .sloFailed: "FAILED"
        case .internalError, .cannotWrite, .usage, .badData, .noInput, .unavailable, .impossible: "ABORTED"
        }
    }
}

// The first line of every report: the verdict, and the outcome for a user of the app in one sentence.
extension RunResult {
    /// The verdict in one or two words.
    package var headline: String { self.exit.headline }

    /// Nil if nothing of the kind happened, or where the run was cut short.
    var outcome: String? {
        guard !self.isInterrupted else { return self.lossSentence }
        if let endedEarly {
            return [endedEarly, self.commonestError].compactMap { $0 }.joined(separator: "; ")
        }
        if self.totals.scans.begun == 0 { return "no \(self.noun.one) was captured, so nothing was measured" }
        if self.totals.scans.isNothingCompleted, !self.expectations.includesNothingCompleted {
            return "no \(self.noun.one) was completed" + (self.commonestCause.map { ": " + $0 } ?? "")
        }
        if let capacity, self.lossSentence == nil { return "capacity: \(capacity.text)" }
        return self.lossSentence ?? self.unansweredSentence
            ?? UserImpact.allCases.lazy.filter { self.isMissed($0.metric) }.compactMap(self.sentence).first
            ?? self.harmlessViolations ?? self.emptySentence
    }

    /// Nothing came, and it may be right that nothing did.
    private var emptySentence: String? {
        if self.totals.books.isNoneFound { return "no book came, and each summary says that there was none" }
        guard self.totals.rows.isNothingNew else { return nil }
        return "no row was created or updated: each was a duplicate"
    }

    /// The invariants whose violation a user notices, or pays for.
    private static let noticed: Set<Invariant> = [
        .scanCustody, .scanRefusedForCause, .bookNeverLost, .bookNeverDoubleAdded, .bookFaithful,
        .rowsConserved, .lookupBilledOnce, .cancelFinal, .scanOrder, .scanSettles, .deviceNotStuck,
        .authNoLeak,
    ]

    /// Violations that no user noticed.
    var harmlessViolations: String? {
        let broken = self.brokenInvariants
        let count = broken.reduce(0) { $0 + $1.violations }
        guard count > 0, self.lossSentence == nil,
            !broken.contains(where: { Self.noticed.contains($0.invariant) })
        else { return nil }
        let breakers = Set(broken.map(\.breaker))
        let who =
            breakers == [.target] ? "the target broke its contract" : "the rules of the protocol were broken"
        // What a foreign backend has meant to send is not known.
        let unharmed = self.hasBackendView ? "no user lost anything" : "no \(self.noun.one) was lost"
        return "\(unharmed); \(who) " + Figures.count(count, "time", "times")
    }

    /// The consequence of a failed objective for the users; nil for metrics without one.
    func impact(of metric: CountMetric) -> String? {
        UserImpact.allCases.first { $0.metric == metric }.flatMap(self.sentence)
    }

    /// Nil if there was no such impact.
    private func sentence(_ impact: UserImpact) -> String? {
        let (scans, books, jobs) = (self.totals.scans, self.totals.books, self.totals.jobs)
        switch impact {
        case .scansLost:
            guard scans.lost > 0 else { return nil }
            let number = Figures.count(scans.lost, self.noun)
            guard self.lostAsBooks == scans.lost else { return Self.were(number, scans.lost, "lost") }
            return number
                + (scans.lost == 1
                    ? " lacks books that the summary of its job promises"
                    : " lack books that the summaries of their jobs promise")
        case .booksMissing:
            guard books.missing > 0 else { return nil }
            let number = Figures.count(books.missing, "book is", "books are")
            let from = scans.lost > 0 ? " from \(Figures.count(scans.lost, self.noun))" : ""
            return "\(number) missing\(from)"
        case .booksDuplicated:
            return books.duplicated > 0
                ? Self.were(
                    Figures.count(books.duplicated, "book", "books"), books.duplicated,
                    "added to a library twice") : nil
        case .reviewLost:
            guard books.review.lost > 0 else { return nil }
            let lost = Figures.count(books.review.lost, "book", "books")
            return Self.were(
                lost + " that waited for a review", books.review.lost, "lost with a killed process")
        case .scansWaiting: return self.unfinishedSentence
        case .scansRefused:
            guard scans.refusedUnexplained > 0 else { return nil }
            return "\(self.share(scans.refusedUnexplained)) refused, and no fault explains it"
                + (self.commonestRefusal.map { ": \($0)" } ?? "")
        case .cleanupUnfinished:
            guard jobs.unfinishedCleanups > 0 else { return nil }
            return Self.were(
                Figures.count(jobs.unfinishedCleanups, "job", "jobs"), jobs.unfinishedCleanups,
                "not deleted after the scan was completed")
        }
    }

    /// The scans that a foreign backend's summary promised more books for than came.
    private var lostAsBooks: Int {
        self.hasBackendView
            ? 0 : self.verdicts.first { $0.invariant == .bookNeverLost }.map { $0.violations } ?? 0
    }

    /// The most severe loss or duplicate.
    var lossSentence: String? {
        [UserImpact.booksMissing, .scansLost, .booksDuplicated, .reviewLost].lazy.compactMap(self.sentence)
            .first
            ?? self.rowsSentence
    }

    private var unansweredSentence: String? {
        let books = self.totals.books
        guard !self.expectations.includesNothingCompleted else { return nil }
        if books.isNothingAnswered {
            return
                "the backend found none of the \(Figures.count(books.asked, "book", "books")) that batches asked for"
        }
        if books.isNoneReceived {
            return
                "no book came of \(Figures.count(books.finds, self.noun)) that \(books.finds == 1 ? "was" : "were") completed"
        }
        if self.totals.rows.isNothingTaken {
            return "each row of \(Figures.count(self.totals.rows.imports, self.noun)) failed"
        }
        return nil
    }

    private var rowsSentence: String? {
        let missing = self.totals.rows.missing
        return missing > 0 ? Figures.count(missing, "row is", "rows are") + " missing" : nil
    }

    private func isMissed(_ metric: CountMetric) -> Bool {
        self.breaches.contains { $0.slo.selector.metric == .count(metric) }
    }

    /// `13 of 60 scans had not finished 30 s after the last capture: 13 still running at the end`
    private var unfinishedSentence: String? {
        let scans = self.totals.scans
        let unfinished = scans.waiting + scans.open
        guard unfinished > 0 else { return nil }
        let after = self.drained.map { " \(Figures.length($0, short: true)) after the last capture" } ?? ""
        let causes = Self.waiting(scans).map { "\(Figures.count($0.count)) \($0.words)" }
        return
            "\(Figures.count(unfinished)) of \(Figures.count(scans.begun, self.noun)) had not finished\(after)"
            + (causes.isEmpty ? "" : ": " + causes.joined(separator: ", "))
    }

    /// `3 of 60 scans were`
    private func share(_ count: Int) -> String {
        "\(Figures.count(count)) of \(Figures.count(self.totals.scans.begun, self.noun)) \(count == 1 ? "was" : "were")"
    }

    private static func were(_ things: String, _ count: Int, _ what: String) -> String {
        "\(things) \(count == 1 ? "was" : "were") \(what)"
    }

    // MARK: Why, and whose fault

    /// What the first lines of a report say after the outcome of a run that did not pass.
    var explanations: [String] {
        guard self.exit != .success else { return [] }
        return [
            self.culprits, self.whySlow,
            self.blame.flatMap { self.outcome?.hasSuffix($0) == true ? nil : $0 },
        ]
        .compactMap { $0 }
    }

    /// The most frequent error that is not the work of faults alone, with its causes: `34 of 60 uploads were answered with 503: 17
    /// injected by http-error-1, 17 by the target`. Nil without errors.
    private var blame: String? {
        guard let row = self.errors.first(where: { $0.causes.injected < $0.count }) else {
            // Errors that were meant to come do not explain why something else was broken.
            guard !self.hasBrokenRules else { return nil }
            let causes = self.errors.reduce(into: CauseCounts()) { $0.add($1.causes) }
            return causes.entries.isEmpty ? nil : "Every error was injected: \(causes.countedWords)"
        }
        return self.sentence(row)
            ?? "\(row.trouble.name), \(Figures.count(row.count, "time", "times")): \(row.causes.words)"
    }

    // MARK: Why nothing was completed

    /// The most frequent cause of scans that were not completed.
    private var commonestCause: String? {
        let scans = self.totals.scans
        let waiting = WaitingCause.allCases.map { ($0, scans.waitingByCause[$0]) }.max { $0.1 < $1.1 }
        if scans.refused > 0, scans.refused >= waiting?.1 ?? 0 {
            return "\(self.share(scans.refused)) refused" + (self.commonestRefusal.map { ": \($0)" } ?? "")
        }
        guard let (cause, count) = waiting, count > 0 else { return nil }
        let families: [ErrorFamily] =
            switch cause {
            case .serverError, .unauthorized, .unexpectedStatus: [.clientError, .serverError, .rateLimited]
            case .transport, .noAnswer: [.transport]
            case .rateLimited: [.rateLimited]
            case .unreadableAnswer, .answerTooLarge: [.badAnswer]
            case .resultsUnavailable: [.serverError, .clientError, .rateLimited, .badAnswer, .transport]
            case .captured, .offline, .retryableError, .tokenExpired, .tokenRefused, .jobGone,
                .resultsExpired, .suspended, .interrupted, .foreignURL, .statusBudget:
                []
            }
        let sentences = self.errors.lazy.filter { families.contains($0.trouble.family) }
            .compactMap { self.sentence($0) }
        return sentences.first ?? "\(Figures.count(count)) of \(Figures.count(scans.begun)) \(cause.words)"
    }

    /// The most frequent error of an operation.
    private var commonestError: String? {
        self.errors.lazy.compactMap { self.sentence($0) }.first
    }

    /// The code with which most scans were refused: `INVALID_FILE`.
    private var commonestRefusal: String? {
        guard let row = self.errors.first(where: { $0.trouble.family == .refused }) else { return nil }
        return row.trouble.name.split(separator: ": ", maxSplits: 1).last.map(String.init)
    }

    /// `40 of 40 uploads were answered with 401, by the target`; nil for a trouble that is of no operation.
    private func sentence(_ row: ErrorSummary.Row) -> String? {
        let parts = row.trouble.name.split(separator: ": ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let operation = Self.operations.first(where: { $0.name == parts[0] }) else {
            return nil
        }
        let counts = self.metrics.everything(of: .fleet)
        let all = operation.attempts.reduce(Int64(0)) { $0 + counts.count($1) }
        let share =
            "\(Figures.count(row.count)) of \(Figures.count(max(all, Int64(row.count)), operation.one, operation.many))"
        let causes = row.causes.words
        let cause = causes.isEmpty ? "" : (row.causes.entries.count > 1 ? ": " : ", ") + causes
        if parts[1].hasPrefix("HTTP ") {
            return
                "\(share) \(row.count == 1 ? "was" : "were") answered with \(parts[1].dropFirst(5))\(cause)"
        }
        return row.trouble.family == .badAnswer
            ? "\(share) got an unreadable response: \(parts[1])\(cause)"
            : "\(share) failed: \(parts[1])\(cause)"
    }

    private static let operations: [(name: String, one: String, many: String, attempts: [CountMetric])] = [
        (Operation.upload.name, "upload", "uploads", [.uploadAttempts]),
        (
            Operation.stream.name, "stream request", "stream requests",
            [.sseConnectAttempts, .sseReconnectAttempts]
        ),
        (Operation.results.name, "results request", "results requests", [.resultsAttempts]),
        (Operation.cleanup.name, "DELETE", "DELETEs", [.cleanupAttempts]),
        (Operation.status.name, "status request", "status requests", [.statusAttempts]),
        (Operation.refresh.name, "token exchange", "token exchanges", [.refreshAttempts]),
    ]
}

/// The failures that users notice, the most severe first.
enum UserImpact: CaseIterable {
    case booksMissing, scansLost, booksDuplicated, reviewLost, scansWaiting, scansRefused, cleanupUnfinished

    var metric: CountMetric {
        switch self {
        case .booksMissing: .booksMissing
        case .scansLost: .scansLost
        case .booksDuplicated: .booksDuplicated
        case .reviewLost: .reviewLost
        case .scansWaiting: .scansWaiting
        case .scansRefused: .scansRefusedUnexplained
        case .cleanupUnfinished: .cleanupUnfinished
        }
    }
}
