package import Metrics
package import Observations
import SimBase
import Talaria

/// The outcomes of the streams that were lost for one cause.
package struct Disconnection: Equatable, Sendable {
    package var cause: LossCause
    /// Loss episodes, by the first cause of each: what fails while one lasts is an attempt, not another loss.
    package var count: Int64
    /// A new stream continued where the lost one was.
    package var resumed: Int64
    /// A new stream began from the start: without a Last-Event-ID, or of another job, where the first was over.
    package var restarted: Int64
    package var gaveUp: Int64
    /// The time since the loss was noticed (after a kill: the next launch) to the next 200 head of the same
    /// job, also for a first connect that failed. The values of `sse.reconnect.time`, by cause.
    package var reconnectTime: HDRHistogram

    package init(
        cause: LossCause, count: Int64, resumed: Int64, restarted: Int64, gaveUp: Int64,
        reconnectTime: HDRHistogram
    ) {
        self.cause = cause
        self.count = count
        self.resumed = resumed
        self.restarted = restarted
        self.gaveUp = gaveUp
        self.reconnectTime = reconnectTime
    }

    /// The number that neither ended well nor was given up before the end of the run.
    package var unresolved: Int64 { self.count - self.resumed - self.restarted - self.gaveUp }
}

/// The table of disconnections: a row for each cause, in the order of `LossCause.allCases`.
///
/// Shown by the terminal (`TerminalSummary+Figures.swift`), `MarkdownReport`, `HTMLPage.disconnections`
/// (`HTMLPage+Details.swift`), `SummaryJSON` and `OpenMetrics` (`losses`), each with its own columns; for each group, by
/// `Reports/GroupTables.swift`. `add` sums the properties of a row.
/// For a past run, `PastRun` judges events.ndjson again; where no timeline is needed, it reads the counts from `summary.json`.
package struct Disconnections: Equatable, Sendable {
    package private(set) var rows = LossCause.allCases.map {
        Disconnection(
            cause: $0, count: 0, resumed: 0, restarted: 0, gaveUp: 0, reconnectTime: HDRHistogram())
    }

    package init(_ rows: [Disconnection] = []) {
        for row in rows { self.rows[Self.index(of: row.cause)] = row }
    }

    package subscript(cause: LossCause) -> Disconnection { self.rows[Self.index(of: cause)] }

    private static func index(of cause: LossCause) -> Int {
        guard let index = LossCause.allCases.firstIndex(of: cause) else {
            preconditionFailure("a cause that is none of them")
        }
        return index
    }

    /// The counts of all rows, without the times.
    package var counts: [Int64] {
        self.rows.flatMap { [$0.count, $0.resumed, $0.restarted, $0.gaveUp] }
    }

    /// Causes with losses.
    package var losses: [Disconnection] { self.rows.filter { $0.count > 0 } }

    mutating func lost(_ cause: LossCause) {
        self.rows[Self.index(of: cause)].count += 1
    }

    mutating func reconnected(_ cause: LossCause, resumed: Bool, took: Interval) {
        let index = Self.index(of: cause)
        if resumed { self.rows[index].resumed += 1 } else { self.rows[index].restarted += 1 }
        self.rows[index].reconnectTime.record(took.nanoseconds)
    }

    /// The scan begins again with a new job: no head came, so there is no time to record.
    mutating func superseded(_ cause: LossCause) {
        self.rows[Self.index(of: cause)].restarted += 1
    }

    mutating func gaveUp(_ cause: LossCause) {
        self.rows[Self.index(of: cause)].gaveUp += 1
    }

    package mutating func add(_ other: Disconnections) {
        for index in self.rows.indices {
            self.rows[index].count += other.rows[index].count
            self.rows[index].resumed += other.rows[index].resumed
            self.rows[index].restarted += other.rows[index].restarted
            self.rows[index].gaveUp += other.rows[index].gaveUp
            self.rows[index].reconnectTime.add(other.rows[index].reconnectTime)
        }
    }
}
