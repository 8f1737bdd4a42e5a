import Plan
import SimBase
import Testing

@testable import ScenarioFile

struct OverrideTests {
    private let text =
        minimal + "faults:\n  - {do: reset, after: 2 events}\n  - {do: strip-books, id: books}\n"

    @Test func `an override replaces, adds and is typed like the file`() throws {
        let scenario = try load(
            text,
            set: [
                "fleet.phones.resume=off", "fleet.phones.phones=80", "seed=7", "server.ping=2s",
                "faults.reset-1.chance=25%", "faults.books.as=\"null\"", "slo.scans.lost=count == 0",
                "fleet.phones.photos={paint: 3}", "seed=8",
            ])
        #expect(scenario.groups[0].profile.stream.resumes == false)
        #expect(scenario.groups[0].devices == 80)
        #expect(scenario.groups[0].photos == .painted(3, size: nil))
        #expect(scenario.seed == 8, "the later wins")
        #expect(scenario.server.ping == .seconds(2))
        #expect(scenario.faults.map(\.chance) == [.percent(25), .always])
        #expect(scenario.faults.map(\.kind) == [.reset(.betweenEvents, .reply), .stripBooks(.null)])
        #expect(scenario.slos.map(\.selector.description) == ["scans.lost"])
    }

    @Test func `the former key of the number of phones is read as today's`() throws {
        let former = minimal.replacing("phones: 2", with: "devices: 2")
        #expect(try load(former) == load(minimal))
        #expect(try load(former, set: ["fleet.phones.devices=3"]).groups[0].devices == 3)
        #expect(try load(minimal, set: ["fleet.phones={devices: 3, think: 1s}"]).groups[0].devices == 3)
        let fault = "faults: [{do: offline, scope: 50% of phones, at: 1s, for: 1s}]\n"
        #expect(
            try load(minimal + fault.replacing("of phones", with: "of devices")) == load(minimal + fault))
        #expect(
            errors(former + "    phones: 2\n").map(\.message) == ["unknown key `devices` in a group"],
            "which of the two is meant cannot be known")
    }

    @Test(arguments: [
        ("fleet.other.phones=1", "there is no `other` to change"),
        ("faults.reset-2.chance=1%", "there is no `reset-2` to change"),
        ("sever.ping=1s", "unknown key `sever` in a scenario"),
        ("scenario.x=1", "`x` cannot be set: its parent is a single value"),
        ("=1", "an override must have the form path=value"),
        ("fleet..phones=1", "a path must not contain empty keys"),
        ("seed={", "invalid YAML: did not find expected node content while parsing a flow node"),
        ("seed=1\n--- 2", "the file contains more than one YAML document"),
    ])
    func `an impossible override is told`(option: String, message: String) {
        let found = errors(text, set: [option])
        #expect(found.map(\.message) == [message])
        #expect(found.allSatisfy { $0.file == "--set \(option.replacing("\n", with: "?"))" })
    }

    @Test func `a fault is added to those of the file, or is the first`() throws {
        let added = "faults+={do: kill, at: 5s, for: 2s}"
        #expect(try load(text, set: [added]).faults.map(\.id) == ["reset-1", "books", "kill-1"])
        #expect(try load(minimal, set: [added, added]).faults.map(\.id) == ["kill-1", "kill-2"])
        #expect(
            errors(text, set: ["faults+={do: tunnel}"]).map(\.help)
                == ["did you mean `offline`, or a link with a time of `none` in `network`?"])
        #expect(Overrides.changeWhatHappens([added]))
    }

    @Test func `variables work in overrides too`() throws {
        #expect(try load(text, set: ["seed=${S:-11}"]).seed == 11)
    }

    @Test func `the books of a batch are checked as they are overridden`() {
        let text =
            minimal.replacing("phones: 2", with: "phones: 2\n    journey: batch-enrichment")
            + "server:\n  books: 3..12\n"
        #expect(errors(text) == [])
        let inFile = errors(text.replacing("3..12", with: "3..101"))
        #expect(inFile.map(\.line) == [8] && inFile.map(\.help) == ["use `books` within 1..100"])
        let option = "server.books=0..500"
        #expect(errors(text, set: [option]).map(\.file) == ["--set \(option)"])
    }
}
