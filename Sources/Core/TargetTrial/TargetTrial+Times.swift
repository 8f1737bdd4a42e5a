import JSON
import SimBase
import Talaria
import Wire

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
        guard let wrong = self.difference(of: time, request, at: now) else { return time }
        self.breaks(
            .times, request, id, at: now,
            "the timestamp of \(what.bounded) is “\(text.bounded)”, \(wrong)")
        return nil
    }

    /// How a time of an answer or an event differs from the clock of this machine, in words; nil if it may be right. What comes
    /// again is as old as its job.
    func difference(of time: Int64, _ request: TrialRequest, at now: Instant) -> String? {
        let clock = self.rules.wallClockAtZero + now.milliseconds
        // A message may have any number, and differences of it must be numbers as well.
        let time = min(max(time, .min / 4), .max / 4)
        if time - clock > Self.clockDifferenceMax {
            return "\((time - clock) / 1_000) s ahead of the clock of this machine"
        }
        let known = request.job.flatMap { self.jobs[$0] }
        guard let start = request.job == nil ? now : known?.accepted else { return nil }
        let behind = self.rules.wallClockAtZero + start.milliseconds - time
        return behind > Self.clockDifferenceMax
            ? "\((clock - time) / 1_000) s behind the clock of this machine" : nil
    }
}

extension TargetTrial {
    /// An id has the time of its event, in milliseconds since 1970 (Docs/contract.md section 2.2).
    mutating func judgeClock(
        ofID time: Int64, _ event: SSEEvent, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        self.attempt(.times, request, at: now)
        guard let wrong = self.difference(of: time, request, at: now) else { return }
        self.breaks(
            .times, request, id, at: now,
            "the id “\(event.id.bounded)” of \(event.type.bounded) is a time \(wrong)")
    }

    /// What the target offers is not over yet.
    mutating func judgeExpiry(
        in node: JSONNode?, of what: String, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let text = node?["expiresAt"]?.text else { return }
        self.attempt(.times, request, at: now)
        guard let time = Timestamp.unixMilliseconds(iso8601: text) else {
            return self.breaks(
                .times, request, id, at: now,
                "expiresAt of \(what.bounded) is “\(text.bounded)”, which is no date with a zone")
        }
        let clock = self.rules.wallClockAtZero + now.milliseconds
        guard clock - time > Self.clockDifferenceMax else { return }
        self.breaks(
            .times, request, id, at: now,
            "expiresAt of \(what.bounded) is “\(text.bounded)”, \((clock - time) / 1_000) s ago")
    }
}

extension Instant {
    var milliseconds: Int64 { (self - Instant.zero).nanoseconds / 1_000_000 }
}
