import Ledger
import RunJudge
import SimBase

/// A number on the way of the books from the photographs into the libraries. All formats show these, in this order.
struct BookFlowStep: Sendable {
    enum Kind: Equatable {
        /// Where books come from.
        case origin
        /// A step on their way, which adds up with nothing.
        case step
        /// What became of them, with the tone of one or more. They add up to the origins.
        case end(Tone)
    }

    enum Presence {
        case ifAny, always
        /// `n/a` where the backend is not observed.
        case observed
    }

    /// The name in `summary.json`.
    let id: String
    let words: String
    let kind: Kind
    let path: any KeyPath<BookFlow, Int> & Sendable
    let presence: Presence

    private init(
        _ id: String, _ words: String, _ kind: Kind, _ path: any KeyPath<BookFlow, Int> & Sendable,
        _ presence: Presence = .ifAny
    ) {
        (self.id, self.words, self.kind, self.path, self.presence) = (id, words, kind, path, presence)
    }

    static let all: [Self] = [
        Self("photographed", "on the photographs", .origin, \.photographed, .observed),
        Self("besides", "of an earlier run, or not settled", .origin, \.besides),
        Self("duplicated", "added a second time", .origin, \.duplicated),
        Self("read", "read by the phone", .step, \.read),
        Self("enriched", "enriched by their text", .step, \.texts.enriched),
        Self("kept", "kept as they were read", .step, \.texts.kept),
        Self("photos", "uploaded as photos", .step, \.texts.photos),
        Self("reviewed", "came to be reviewed", .step, \.review.came),
        Self("approved", "approved", .step, \.review.approved),
        Self("edited", "edited", .step, \.review.edited),
        Self("library", "in the library", .end(.good), \.library, .always),
        Self("review_pending", "waiting for a review", .end(.warn), \.review.pending),
        Self("rejected", "rejected", .end(.plain), \.review.rejected),
        Self("merged", "merged as duplicates", .end(.plain), \.review.merged),
        Self("pending", "not there yet", .end(.warn), \.pending),
        Self("refused", "refused", .end(.warn), \.refused),
        Self("canceled", "canceled", .end(.plain), \.canceled),
        Self("discarded", "discarded", .end(.plain), \.discarded),
        Self("review_lost", "lost with a killed process", .end(.bad), \.review.lost),
        Self("missing", "missing", .end(.bad), \.missing, .observed),
    ]

    /// Those that a flow has.
    static func of(_ flow: BookFlow) -> [Self] {
        Self.all.filter { $0.presence != .ifAny || flow[keyPath: $0.path] != 0 }
    }

    /// Nil where only the backend knows it, and is not observed.
    func count(in flow: BookFlow, hasBackendView: Bool) -> Int? {
        self.presence == .observed && !hasBackendView ? nil : flow[keyPath: self.path]
    }

    var tone: Tone {
        switch self.kind {
        case .origin, .step: .plain
        case .end(let tone): tone == .good ? .plain : tone
        }
    }
}

extension RunResult {
    /// The way of the books of the fleet.
    var bookFlow: BookFlow {
        guard !self.groups.isEmpty else { return BookFlow(self.totals) }
        return self.groups.reduce(into: BookFlow()) { $0.add(BookFlow($1.totals)) }
    }

    /// Whether books have more steps on their way than to come.
    var hasBookFlow: Bool { self.readsTexts || self.totals.books.review.came > 0 }

    /// The groups that have a column.
    private static let flowGroupsMax = 8

    /// The fleet, and each of several groups.
    private var flows: [(name: String, flow: BookFlow)] {
        let groups = self.groups.count > 1 ? self.groups.prefix(Self.flowGroupsMax) : []
        return [(groups.isEmpty ? "books" : "all", self.bookFlow)]
            + groups.map { (Printable.line($0.name), BookFlow($0.totals)) }
    }

    /// Nil for a run whose books have no more steps.
    var bookFlowTable: DocumentTable? {
        guard self.hasBookFlow else { return nil }
        let flows = self.flows
        let hidden = self.groups.count - Self.flowGroupsMax
        let columns = flows.map { name, flow in
            DocumentColumn<BookFlowStep>(name, .number) { step in
                let count = step.count(in: flow, hasBackendView: self.hasBackendView)
                return .init(count.map { Figures.count($0) } ?? "n/a", (count ?? 0) > 0 ? step.tone : .plain)
            }
        }
        return DocumentTable(
            id: "book-flow", tableID: "book-steps", title: "From photo to library", isIndented: true,
            note: hidden <= 0
                ? nil
                : "\(Figures.count(hidden, "more group", "more groups")): "
                    + "`swiftwing-sim report RUNDIR --group NAME` shows one.",
            rows: BookFlowStep.of(flows[0].flow), [.init("", .name) { .init($0.words) }] + columns)
    }

    /// The ends of the books, drawn.
    var bookFlowCharts: HTML {
        self.flows.map { name, flow in
            let steps = BookFlowStep.of(flow)
            let way = steps.filter { $0.kind == .step }
                .map { "\(Figures.count(flow[keyPath: $0.path])) \($0.words)" }.joined(separator: ", ")
            let ends = steps.compactMap { step -> Flow.Branch? in
                guard case .end(let tone) = step.kind,
                    let count = step.count(in: flow, hasBackendView: self.hasBackendView)
                else { return nil }
                return Flow.Branch(
                    name: step.words, count: count, tone: tone, note: step.id == "library" ? way : "")
            }
            let origins = steps.filter { $0.kind == .origin }.map(\.words)
            return Flow(
                title: name, origin: self.hasBackendView ? origins.joined(separator: ", ") : "came",
                total: ends.reduce(0) { $0 + $1.count }, branches: ends
            ).html
        }.joined()
    }
}
