import RunJudge
import SimBase

/// A time in which the link of phones is not the one of their start.
struct LinkChange {
    /// `no link (commuters)`; without the groups where it is that of all phones.
    let name: String
    let isGap: Bool
    let span: TimeSpan

    /// `until`: the end of what has not ended.
    static func all(_ itineraries: [RunConditions.Itinerary], of result: RunResult, until: Int64) -> [Self] {
        itineraries.flatMap { itinerary in
            let isOfAll = result.groups.allSatisfy { itinerary.groups.contains($0.name) }
            let groups = isOfAll ? "" : " (\(itinerary.groups.joined(separator: ", ")))"
            return itinerary.phases.compactMap { phase -> Self? in
                let from = phase.window.from.nanoseconds
                guard phase.link != itinerary.phases.first?.link, from < until else { return nil }
                let to = min(phase.window.to?.nanoseconds ?? until, until)
                return Self(
                    name: (phase.link ?? "no link") + groups, isGap: phase.link == nil,
                    span: TimeSpan(from: from, to: to))
            }
        }
    }
}

/// A part of a run, in nanoseconds from its start.
struct TimeSpan {
    let from: Int64
    let to: Int64

    /// Spans of one name beyond these are counted.
    private static let shownMax = 3

    /// `9.00 s to 13.0 s`
    var words: String {
        let (from, to) = (Figures.clock(self.from), Figures.clock(self.to))
        return from == to ? from : "\(from) to \(to)"
    }

    /// Each name once, with its times.
    static func byName(_ spans: [(name: String, span: TimeSpan)]) -> [(name: String, times: String)] {
        var names: [(name: String, times: [String])] = []
        for (name, span) in spans {
            if let index = names.firstIndex(where: { $0.name == name }) {
                names[index].times.append(span.words)
            } else {
                names.append((name, [span.words]))
            }
        }
        return names.map { name, times in
            let more = times.count - Self.shownMax
            let shown = times.prefix(Self.shownMax) + (more > 0 ? ["\(more) more"] : [])
            return (name, shown.joined(separator: ", "))
        }
    }
}

extension RunResult {
    /// Links that are named in a text.
    private static let linksMax = 4

    /// `no link 9.00 s to 13.0 s; 3g (readers) 20.0 s to 40.0 s`; nil where the links do not change.
    var linkChanges: String? {
        let changes = LinkChange.all(self.itineraries, of: self, until: self.length.nanoseconds)
        let names = TimeSpan.byName(changes.map { ($0.name, $0.span) })
        guard !names.isEmpty else { return nil }
        let more = names.count - Self.linksMax
        return
            (names.prefix(Self.linksMax).map { "\($0.name) \($0.times)" }
            + (more > 0 ? ["\(more) more"] : [])).joined(separator: "; ")
    }
}
