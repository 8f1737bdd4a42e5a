import SimBase
import Talaria

/// The token that a phone has of one job, as it is exchanged (Docs/contract.md section 2.5). The backend replaces it, and the
/// answer that brings the new one may be lost, or come when a request with the old one is under way.
struct TokenState: Sendable {
    /// One token, as long as it is known.
    private struct Life: Sendable {
        /// Nil for the token of the upload.
        var since: Instant?
        /// When the backend replaced it; nil if it has not.
        var replacedAt: Instant?

        /// A token that was replaced is good for a while, if it does not expire before.
        func isOver(at moment: Instant, accepted: Instant, lifetime: Interval) -> Bool {
            let (age, overflow) = moment.nanoseconds.subtractingReportingOverflow(
                (self.since ?? accepted).nanoseconds)
            return overflow || age >= lifetime.nanoseconds
                || self.replacedAt.map { $0 + TokenRefresh.grace <= moment } ?? false
        }
    }

    /// How often the phone has got a new one.
    private(set) var count = 0
    private var present = Life()
    /// The one before it.
    private var former: Life?
    /// A process that was killed may not have written the new one down.
    private(set) var mayBeFormer = false

    /// Since when the token of the phone is good; nil for the one of the upload.
    var since: Instant? { self.present.since }

    /// Whether the backend has a newer one than the phone.
    var isReplaced: Bool { self.present.replacedAt != nil }

    mutating func replaced(at moment: Instant) {
        self.present.replacedAt = self.present.replacedAt ?? moment
    }

    mutating func received(at moment: Instant) {
        self.count += 1
        self.mayBeFormer = false
        self.former = self.present
        self.present = Life(since: self.present.replacedAt ?? moment)
    }

    mutating func killed() { self.mayBeFormer = self.former != nil }

    /// Whether the newest token is over.
    func isOver(at moment: Instant, accepted: Instant, lifetime: Interval) -> Bool {
        self.present.isOver(at: moment, accepted: accepted, lifetime: lifetime)
    }

    /// Whether a token is over that a request may show. `count`: how many the phone had got when it sent the request.
    func mayBeOver(at moment: Instant, count: Int, accepted: Instant, lifetime: Interval) -> Bool {
        let isPresent = count == self.count && !self.mayBeFormer
        // The backend knows two tokens.
        return count < self.count - 1 || self.mayBeFormer && self.count > 1
            || self.isOver(at: moment, accepted: accepted, lifetime: lifetime)
            || !isPresent && (self.former?.isOver(at: moment, accepted: accepted, lifetime: lifetime) ?? true)
    }
}
