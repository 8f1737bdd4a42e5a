package import SimBase

/// Why a run ends before its time.
package struct RunEnding: Hashable, Sendable {
    package let at: Instant
    /// The objective at that time.
    package let objective: SLOResult
    /// The part of the run that was judged; nil for the whole run.
    package let lately: Interval?

    /// Returns the result of an objective at the end of the run: the one that ended it stays failed, even if the whole run would
    /// satisfy it, and the others are not judged.
    package func result(instead found: SLOResult) -> SLOResult {
        guard found.slo == self.objective.slo else { return found.unjudged }
        return found.passed == true ? self.objective : found
    }

    /// `stopped after 11 s: upload.attempts.failed rate was 96% (24 of 25) in the last 6 s, limit < 50%`.
    package var text: String {
        let part = self.lately.map { " in the last \(Self.seconds($0)) s" } ?? ""
        return "stopped after \(Self.seconds(self.at - .zero)) s: "
            + self.objective.sentence(observed: self.objective.actual + part)
    }

    /// Rounded up.
    private static func seconds(_ time: Interval) -> Int64 {
        max(1, (time.nanoseconds + 999_999_999) / 1_000_000_000)
    }
}

/// Judges, during a run, the objectives that end it when they fail (`abort`).
///
/// A failure rate is judged over recent operations, so that load on a failing target ends soon, however long
/// it had worked before. Everything else is judged over the run so far.
package struct AbortWatch: Sendable {
    /// Between two looks.
    package static let every = Interval.milliseconds(500)

    fileprivate struct Track: Sendable {
        let slo: SLO
        /// Nil for what is judged over the run so far.
        var recent: RecentRate?
    }

    private var tracks: [Track]
    private var next = Instant.zero + Self.every

    package init(_ slos: [SLO]) {
        self.tracks = slos.filter(\.abort).map { slo in
            let isRecent = slo.condition.aggregation == .rate && slo.condition.span == .wholeRun
            return Track(slo: slo, recent: isRecent ? RecentRate() : nil)
        }
    }

    /// Whether it is time for a look.
    package func isDue(at moment: Instant) -> Bool { moment >= self.next && !self.tracks.isEmpty }

    /// Why the run should end now, or nil. `table` and `results` are of the run so far.
    package mutating func look(
        at moment: Instant, table: MetricTable, results: [SLOResult]
    ) -> RunEnding? {
        self.next = moment + Self.every
        var ending: RunEnding?
        for index in self.tracks.indices {
            let found = self.tracks[index].look(at: moment, table: table, results: results)
            ending = ending ?? found
        }
        return ending
    }
}

extension AbortWatch.Track {
    fileprivate mutating func look(
        at moment: Instant, table: MetricTable, results: [SLOResult]
    ) -> RunEnding? {
        guard self.recent != nil, case .rate(let whole) = SLOSample(of: self.slo.selector, in: table) else {
            return results.first { $0.slo == self.slo && $0.endsRun }.map {
                RunEnding(at: moment, objective: $0, lately: nil)
            }
        }
        self.recent?.look(at: moment, whole: whole)
        guard let recent = self.recent else { return nil }
        let result = self.slo.evaluate(.rate(recent.rate))
        return result.endsRun ? RunEnding(at: moment, objective: result, lately: recent.length) : nil
    }
}
