import Observations
package import RunJudge
import RunMetrics
import SimBase
import Talaria

extension ScanActivity {
    private var texts: (name: String, words: String) {
        switch self {
        case .queue: ("queue", "in the queue of the phone")
        case .preparing: ("preparing", "preparing the photo")
        case .upload: ("upload", "uploading")
        case .limited: ("Retry-After", "waiting as a 429 requested (Retry-After)")
        case .backoff: ("before a retry", "waiting before a retry after an error")
        case .connecting: ("connecting", "connecting the stream")
        case .server: ("server at work", "with the server at work")
        case .results: ("results", "reading the results")
        case .offline: ("no link", "without a link")
        case .closed: ("app closed", "with the app closed or in the background")
        }
    }

    /// In a legend or a table.
    var name: String { self.texts.name }
    /// Follows a duration.
    var words: String { self.texts.words }
}

extension [SlowTime.Part] {
    /// `13.2s uploading, 8.10s without a link`. `count`: of scans; the time is that of one of them. Parts are left out that are
    /// smaller than one of `parts`.
    func words(ofEachOf count: Int = 1, from parts: Int64 = 50) -> String {
        let whole = self.reduce(Int64(0)) { $0 + $1.time.nanoseconds }
        return self.filter { $0.time.nanoseconds >= whole / parts }.map {
            "\(Figures.time($0.time.nanoseconds / Int64(Swift.max(1, count)))) \($0.activity.words)"
        }.joined(separator: ", ")
    }
}

/// Where the time of the slow scans of a run went, for all formats.
package struct SlowTimeText {
    private typealias Cell = DocumentTable.Cell

    /// The length of the bar of the whole time, in characters.
    private static let barLength: Int64 = 30
    /// The sentence has activities with a tenth of the time or more.
    private static let saidParts: Int64 = 10

    private let slow: SlowTime
    private let noun: WorkNoun
    /// Who answered 429: `; answered 429: by the target`. Empty where no time went there.
    fileprivate let limiter: String
    /// Whether the first lines of the report have the sentence.
    private let isSaid: Bool

    /// Nil for a run of which that is not known.
    package init?(_ result: RunResult) {
        guard let slow = result.slow, slow.total > .zero else { return nil }
        self.slow = slow
        self.noun = result.noun
        let limited = result.errors.filter { $0.trouble.family == .rateLimited }
        let causes = limited.reduce(into: CauseCounts()) { $0.add($1.causes) }
        let isLimited = slow.time(.limited).nanoseconds >= slow.total.nanoseconds / Self.saidParts
        self.limiter = isLimited && !causes.entries.isEmpty ? "; answered 429: \(causes.words)" : ""
        self.isSaid = result.isWhySlowSaid
    }

    /// `58 of 600 scans took longer than 25.0s: on average 13.2s waiting as a 429 requested (Retry-After), 8.10s uploading`
    var sentence: String {
        "\(Figures.capitalized(self.subject)): on average "
            + self.slow.parts.words(ofEachOf: self.slow.scans, from: Self.saidParts)
    }

    private var subject: String {
        let least = Figures.time(self.slow.least.nanoseconds)
        let unfinished = self.slow.unfinished
        if self.slow.isLimit, unfinished > 0 {
            return
                "of \(Figures.count(self.slow.known, self.noun)) \(Figures.count(unfinished)) had not ended and \(Figures.count(self.slow.scans - unfinished)) took longer than \(least)"
        }
        let open = unfinished > 0 ? " (\(Figures.count(unfinished)) had not ended)" : ""
        return self.slow.isLimit
            ? "\(Figures.count(self.slow.scans)) of \(Figures.count(self.slow.known, self.noun)) took longer than \(least)"
            : "the slowest \(Figures.count(self.slow.scans)) of \(Figures.count(self.slow.known, self.noun)) took \(least) or longer\(open)"
    }

    /// Nanoseconds of a scan.
    private func mean(_ activity: ScanActivity) -> Int64 {
        self.slow.time(activity).nanoseconds / Int64(max(1, self.slow.scans))
    }

    /// Percent of the time.
    private func share(_ activity: ScanActivity) -> Int64 {
        Self.scaled(self.slow.time(activity), to: 100, of: self.slow.total)
    }

    /// The times of many phones add up to more than can be multiplied in 64 bits.
    private static func scaled(_ part: Interval, to units: Int64, of whole: Interval) -> Int64 {
        let whole = Int128(max(1, whole.nanoseconds))
        return Int64(clamping: (Int128(part.nanoseconds) * Int128(units) + whole / 2) / whole)
    }

    // MARK: Formats

    private static func table(
        _ activities: [ScanActivity], lead: String = "", note: String? = nil,
        _ columns: [DocumentColumn<ScanActivity>]
    ) -> DocumentTable {
        DocumentTable(
            id: "why", tableID: "why-table", title: "Why slow", isIndented: true, lead: lead, note: note,
            rows: activities, [DocumentColumn("activity", .name) { Cell($0.name) }] + columns)
    }

    /// A row for each activity, with its bar.
    var table: DocumentTable {
        Self.table(
            self.slow.parts.map(\.activity).filter { self.share($0) > 0 },
            lead: self.isSaid ? "" : self.sentence + ".",
            [
                .init("share", .number) { Cell("\(self.share($0)) %") },
                .init("mean", .number) { Cell(Figures.time(self.mean($0))) },
                .init("", .text) { activity in
                    let time = self.slow.time(activity)
                    let length = Int(Self.scaled(time, to: Self.barLength, of: self.slow.total))
                    let rest = Int(Self.barLength) - length
                    return Cell(String(repeating: "█", count: length) + String(repeating: "░", count: rest))
                },
            ])
    }

    /// The times of two runs side by side; empty if those of one are not known.
    package static func table(base: RunResult, new: RunResult) -> DocumentTable {
        guard let base = Self(base), let new = Self(new) else { return Self.table([], []) }
        let activities = SlowTime.parts { activity in
            max(base.slow.time(activity), new.slow.time(activity))
        }.map(\.activity).filter { base.share($0) > 0 || new.share($0) > 0 }
        func columns(_ title: String, _ run: Self) -> [DocumentColumn<ScanActivity>] {
            [
                .init("\(title) share", .number) { Cell("\(run.share($0)) %") },
                .init("mean", .number) { Cell(Figures.time(run.mean($0))) },
            ]
        }
        return Self.table(
            activities, note: "BASE: \(base.subject). NEW: \(new.subject).",
            columns("BASE", base) + columns("NEW", new))
    }

    /// One bar, divided between the activities, with its legend.
    var section: HTMLDocument.Section {
        var left: Int64 = 0
        let whole = Int128(max(1, self.slow.total.nanoseconds))
        let parts: [(rect: HTML, key: HTML)] = self.slow.parts.map { part in
            let width = Int64(clamping: Int128(part.time.nanoseconds) * 10_000 / whole)
            defer { left += width }
            return (
                "<rect class=\"a-\(part.activity.rawValue)\" x=\"\(left)\" width=\"\(width)\" height=\"10\"/>",
                PhoneLanes.key(
                    "a-\(part.activity.rawValue)",
                    "\(part.activity.name) \(self.share(part.activity)) %, \(Figures.time(self.mean(part.activity)))"
                )
            )
        }
        return HTMLDocument.Section(
            id: "why", title: "Why slow",
            lead: self.isSaid ? "" : HTML(sentence: self.sentence + ".", bytesMax: 1_000),
            body: """
                <svg class="spent" viewBox="0 0 10000 10" preserveAspectRatio="none" role="img" \
                aria-label="Share of each activity">\(parts.map(\.rect).joined())</svg>
                <div class="lanes-legend"><ul>\(parts.map(\.key).joined())</ul></div>

                """)
    }
}

extension RunResult {
    /// Why scans took too long, for the first lines of a report: where a limit of `scan.time` was missed, or scans had not ended.
    var whySlow: String? {
        self.isWhySlowSaid ? SlowTimeText(self).map { $0.sentence + $0.limiter } : nil
    }

    var isWhySlowSaid: Bool {
        self.exit != .success && (self.slow.map { $0.isLimit || $0.unfinished > 0 } ?? false)
    }
}
