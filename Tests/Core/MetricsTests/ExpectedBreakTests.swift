import Metrics
import Testing

@Suite struct ExpectedBreakTests {
    private static func read(_ text: String) throws -> ExpectedBreak? {
        try ExpectedBreak(
            parsing: text, invariants: ["scan.custody", "link.conserves"], ofWholeFleet: ["link.conserves"],
            vocabulary: SLOVocabulary(groups: ["old", "new"], faults: []))
    }

    @Test func `an invariant has a group, or none`() throws {
        #expect(try Self.read("scan.custody") == .invariant(id: "scan.custody", scope: .fleet))
        #expect(
            try Self.read(" scan.custody {group: old} ")
                == .invariant(id: "scan.custody", scope: .group("old")))
        #expect(try Self.read("scan.custody{group:old}")?.name == "scan.custody{group:old}")
        #expect(try Self.read("scans.lost{group:old}") == nil, "a metric")
    }

    @Test func `a wrong group is refused at its place`() {
        let error = #expect(throws: SLOError.self) { try Self.read("scan.custody{group:odl}") }
        #expect(error?.offset == 19 && error?.suggestion == "old")
        let whole = #expect(throws: SLOError.self) { try Self.read("link.conserves{group:old}") }
        #expect(whole?.offset == 14)
    }

    @Test(arguments: [
        ("scan.custody{group:old}", "old", true), ("scan.custody{group:old}", "new", false),
        ("scan.custody{group:old}", nil, false), ("scan.custody", "old", true),
        ("scan.custody", "new", false), ("scan.custody", nil, true),
    ])
    func `an entry covers its group, and one without those of other clients`(
        text: String, group: String?, isCovered: Bool
    ) throws {
        let expected = try #require(try Self.read(text))
        #expect(
            expected.covers(invariant: "scan.custody", group: group, groups: ["old"]) == isCovered)
        #expect(!expected.covers(invariant: "scan.order", group: group, groups: ["old"]))
    }
}
