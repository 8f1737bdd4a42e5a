import JSON
import SimBase
import Talaria

// The timestamps of a target.

extension TargetTrial {
    /// A clock that differs by more is wrong: a token would expire too early or too late.
    private static let clockDifferenceMax: Int64 = 600_000

    /// `node`: what has a member `timestamp`. An event that comes again has the time of its first one.
    ///
    /// - Returns: The timestamp, in milliseconds since 1970.
    @discardableResult
    mutating func judgeTime(
        in node: JSONNode?, of what: String, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) -> Int64? {
        guard let text = node?["timestamp"]?.text else { return nil }
        self.attempt(.times, request, at: now)
        guard let time = Timestamp.unixMilliseconds(iso8601: text) else {
            self.breaks(
                .times, request, id, at: now,
                "the timestamp of \(what.bounded) is “\(text.bounded)”, which is no date with a zone")
            return nil
        }
        let clock = self.rules.wallClockAtZero + now.milliseconds
        let difference = time - clock
        guard abs(difference) > Self.clockDifferenceMax else { return time }
        self.breaks(
            .times, request, id, at: now,
            "the timestamp of \(what.bounded) is “\(text.bounded)”, \(abs(difference) / 1_000) s \(difference > 0 ? "ahead of" : "behind") the clock of this machine"
        )
        return nil
    }
}

extension Instant {
    var milliseconds: Int64 { (self - Instant.zero).nanoseconds / 1_000_000 }
}
