import ReportSamples
import RunJudge
import SimBase
import Testing

@testable import Reports

/// The times in which phones have another link than at their start, or none, in text.
@Suite struct LinkChangeTests {
    private static func itinerary(_ groups: [String], _ phases: [(String?, Int64, Int64?)])
        -> RunConditions.Itinerary
    {
        RunConditions.Itinerary(
            groups: groups,
            phases: phases.map { link, from, to in
                RunConditions.Phase(
                    link: link,
                    window: .init(from: .zero + .seconds(from), to: to.map { .zero + .seconds($0) }))
            })
    }

    @Test func `a tunnel stands in the terminal and in Markdown`() {
        var result = Samples.passed()
        #expect(result.linkChanges == nil)
        result.itineraries = [
            Self.itinerary(["commuters", "readers"], [("lte", 0, 9), (nil, 9, 13), ("lte", 13, nil)]),
            Self.itinerary(["readers"], [("wifi", 0, 20), ("edge", 20, nil), ("wifi", 900, nil)]),
        ]
        let words = "no link 0:09 to 0:13; edge (readers) 0:20 to 0:34"
        #expect(result.linkChanges == words)
        let style = TerminalStyle(columns: 200, isColored: false, isASCII: false)
        #expect(TerminalSummary.text(result, style: style).contains("Links           \(words)\n"))
        #expect(MarkdownReport.text(result).contains("- links: \(words)\n"))
    }

    @Test func `many times of a link, and many links, are counted`() {
        var result = Samples.passed()
        var phases: [(String?, Int64, Int64?)] = [("lte", 0, 2)]
        for second: Int64 in [2, 4, 6, 8, 10] { phases.append((nil, second, second + 1)) }
        for (second, link) in [20: "3g", 21: "edge", 22: "wifi", 23: "5g"].sorted(by: { $0.key < $1.key }) {
            phases.append((link, Int64(second), Int64(second) + 1))
        }
        result.itineraries = [Self.itinerary(["commuters", "readers"], phases)]
        #expect(
            result.linkChanges
                == "no link 0:02 to 0:03, 0:04 to 0:05, 0:06 to 0:07, 2 more; 3g 0:20 to 0:21; edge 0:21 to 0:22; "
                + "wifi 0:22 to 0:23; 1 more")
    }
}
