package import Ledger
package import Observations
package import SimBase
package import Talaria

/// What both sides did about one scan, line by line, with the times at which it went wrong.
package struct ScanStory: Sendable {
    package enum Mark: Hashable, Sendable {
        /// The longest time in which nothing happened, or the end without an end of the scan.
        case silence
        /// The line at which an invariant was broken, and the line that says so.
        case violation
    }

    package struct Line: Hashable, Sendable {
        package var at: Instant
        /// Since the line before; nil for the first.
        package var gap: Interval?
        /// `phone`, `server` or `fault`.
        package var side = ""
        package var text: String
        package var mark: Mark?
    }

    /// A shorter time without a line is not a silence.
    package static let silenceMin = Interval.seconds(1)

    package private(set) var lines: [Line] = []
    /// The outcome of the scan: `completed`, `refused`, `canceled` or `not finished`.
    package let outcome: String
    /// What became of its books, in words; nil for a scan whose books were neither read by the phone nor reviewed.
    package let books: String?

    /// - Parameter observations: Those of the phone, in the order of time.
    /// - Parameter journey: What the phone does.
    /// - Parameter faults: The ids of the scenario's faults, in its order.
    /// - Parameter violations: Those of the run.
    /// - Parameter end: The end of the run.
    package init(
        _ observations: [Observation], _ journey: Journey, device: DeviceNumber, scan: ScanNumber,
        faults: [String], violations: [Violation], end: Instant
    ) {
        let own = observations.filter { $0.scan == scan }
        var isOver = false
        var outcome = "not finished"
        for observation in own {
            if case .phone(.completed) = observation.what { (isOver, outcome) = (true, "completed") }
            if case .phone(.refused) = observation.what { (isOver, outcome) = (true, "refused") }
            if case .phone(.canceled) = observation.what { (isOver, outcome) = (true, "canceled") }
        }
        self.outcome = outcome
        let way = BookWay(observations, of: scan)
        self.books = way.words
        guard let first = own.first?.at, let last = own.last.map({ max($0.at, way.goneAt ?? $0.at) })
        else { return }
        isOver = isOver && way.waiting.isEmpty
        let waits = RateLimitWait.texts(observations, for: scan, WorkNoun(journey))
        // What happened to the whole phone in this time belongs to the story.
        let told = observations.filter {
            $0.scan == scan || waits[$0] != nil
                || $0.scan == .none && first <= $0.at && ($0.at <= last || !isOver)
        }
        for observation in StoryOrder.causesFirst(told) {
            guard let text = waits[observation] ?? StoryText.text(observation, journey, faults: faults) else {
                continue
            }
            let side = observation.side == .phone ? "phone" : StoryText.side(observation)
            let gap = self.lines.last.map { observation.at - $0.at }
            self.lines.append(Line(at: observation.at, gap: gap, side: side, text: text))
        }
        self.markSilence()
        if !isOver { self.markEnd(end) }
        for violation in violations.sorted(by: { $0.at < $1.at })
        where violation.device == device && (violation.scan == scan || violation.scan == .none) {
            self.mark(violation)
        }
    }

    /// Adds a line for the longest silence between two others.
    private mutating func markSilence() {
        var longest: Int?
        for index in self.lines.indices.dropFirst()
        where self.lines[index].gap ?? .zero > longest.flatMap({ self.lines[$0].gap }) ?? .zero {
            longest = index
        }
        guard let longest, let gap = self.lines[longest].gap, gap >= Self.silenceMin else { return }
        let from = self.lines[longest - 1].at
        let text = "nothing for \(StoryText.time(gap)), the longest silence"
        self.lines.insert(Line(at: from, text: text, mark: .silence), at: longest)
    }

    private mutating func markEnd(_ end: Instant) {
        guard let last = self.lines.last else { return }
        let text = "nothing more until the run ends at \(StoryText.time(end - .zero))"
        self.lines.append(Line(at: last.at, text: text, mark: .silence))
    }

    private mutating func mark(_ violation: Violation) {
        // Reports have the time of a violation in microseconds.
        let moment = violation.at + .microseconds(1)
        let place = self.lines.lastIndex { $0.at <= moment && $0.mark != .silence } ?? 0
        guard self.lines.indices.contains(place) else { return }
        self.lines[place].mark = .violation
        var next = place + 1
        while next < self.lines.count, self.lines[next].side.isEmpty, self.lines[next].mark == .violation {
            next += 1
        }
        let text = "VIOLATION of \(violation.invariant.rawValue): \(violation.text)"
        self.lines.insert(Line(at: violation.at, text: text, mark: .violation), at: next)
    }
}
