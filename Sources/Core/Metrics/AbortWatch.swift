package import SimBase

/// Why a run ends before its time.
package struct RunEnding: Hashable, Sendable {
    /// The objective as it stood then.
    package let objective: SLOResult
    /// What was judged, where it was not the whole run.
    package let lately: Interval?

    /// What ended the run stays broken, even if all in all it went well.
    package func result(instead found: SLOResult) -> SLOResult {
        found.slo == self.objective.slo && found.passed == true ? self.objective : found
    }

    /// `ended early: upload.attempts.failed was 96% (24 of 25) in the last 6 s, and rate < 50% was expected`.
    package var text: String {
        let slo = self.objective.slo
        let part = self.lately.map { lately in
            let seconds = max(1, (lately.nanoseconds + 999_999_999) / 1_000_000_000)
            return " in the last \(seconds) s"
        }
        return
            "ended early: \(slo.selector) was \(self.objective.actual)\(part ?? ""), and \(slo.condition) was expected"
    }
}

/// Judges, while a run goes on, the objectives that end it when they are broken (`abort`).
///
/// A failure rate is judged as it was lately, so that a target that fails is left alone soon, however long it had worked
/// before. Everything else is judged over the run so far.
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
                RunEnding(objective: $0, lately: nil)
            }
        }
        self.recent?.look(at: moment, whole: whole)
        guard let recent = self.recent else { return nil }
        let result = self.slo.evaluate(.rate(recent.rate))
        return result.endsRun ? RunEnding(objective: result, lately: recent.length) : nil
    }
}
