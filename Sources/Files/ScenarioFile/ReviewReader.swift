import Phone
import Plan
import SimBase

/// Reads `review`: what the person of a phone does with the books that came.
struct ReviewReader {
    static let keys = ScenarioKeys<ReviewerPolicy>(
        what: "a review",
        rows: [
            .init("approve", \.approve, .share, "books that enter the library as they came (default: 80%)"),
            .init(
                "edit", \.edit, .share,
                "books whose title or author is corrected before they enter the library (default: 15%)"),
            .init("reject", \.reject, .share, "books that do not enter the library (default: 5%)"),
            .init(
                "after", \.after, .durations(max: ScenarioLimit.timeMax),
                "time from a book to the decision on it (default: 2s..20s)"),
            .init(
                "approve-all", \.approveAll, .share,
                "sessions that end with the approval of everything at once (default: none)"),
            .init(
                "again", \.again, .share,
                "photos of a shelf that the phone has photographed before (default: none)"),
        ])

    @Sendable static func read(_ map: MapReader, _ group: inout FleetGroup) {
        guard let entry = map.entry("review"), let inner = Self.keys.map(entry.value, map.findings) else {
            return
        }
        var reviewer = ReviewerPolicy()
        reviewer.isMade = true
        Self.keys.read(inner, into: &reviewer)
        let shares = [reviewer.approve, reviewer.edit, reviewer.reject].reduce(0) { $0 + $1.perMillion }
        if shares > Odds.always.perMillion {
            map.findings.add(
                entry.keyLocation,
                "`approve`, `edit` and `reject` are \(Units.percent(Int64(shares))) of the books",
                help: "100% at most; what is left waits for good")
        }
        group.profile.reviewer = reviewer
    }
}
