import Faults
import Metrics
import Phone
import Testing

@testable import ScenarioFile

/// Words of other tools, and the lists of what there is instead.
struct ForeignWordTests {
    /// One error for one mistake: what was meant is not missed in addition.
    @Test(arguments: [
        ("phones: 2", "vus: 2", "k6's `vus` are `phones` of a group in `fleet`"),
        ("phones: 2", "phone: 2", "did you mean `phones`?"),
        (
            "arrivals: 1/s", "stages: 5",
            "stages go into `arrivals` of a group: `[{rate: 5/s, for: 10s}, {ramp: 5/s..50/s, over: 60s}]`"
        ),
        ("arrivals: 1/s", "rate: 5/s", "the rate of a group is `arrivals`, for example `arrivals: 6/s`"),
        ("arrivals: 1/s", "sleep: 1s", "a pause between scans is `think` of a group"),
    ])
    func `a key of another tool is one error`(key: String, other: String, help: String) {
        let found = errors(minimal.replacing(key, with: other))
        #expect(found.map(\.help) == [help])
    }

    @Test func `a key that is missing is told, whatever else is wrong`() {
        let found = errors("scenario: 1\nfleet: {phones: {arivals: 1/s}}\n")
        #expect(
            found.map(\.message) == ["a group needs `phones`", "unknown key `arivals` in a group"]
                || found.map(\.message) == ["unknown key `arivals` in a group", "a group needs `phones`"])
    }

    @Test(arguments: ["thresholds", "scenarios", "vus", "target"])
    func `a key of another tool is explained where a scenario begins`(key: String) {
        let found = errors(minimal + "\(key): 1\n")
        #expect(found.map(\.message) == ["unknown key `\(key)` in a scenario"])
        #expect(found[0].help == ForeignWord.help(key: key, among: ScenarioReader.keys))
        #expect(found[0].help != nil)
    }

    @Test(arguments: [
        ("4g", "did you mean `lte`?"), ("2G", "did you mean `edge`?"), ("wlan", "did you mean `wifi`?"),
        ("17", "use `perfect`"), ("lt", "did you mean `lte`?"),
    ])
    func `a link of another name is explained, with all that there are`(name: String, help: String) throws {
        let found = errors(minimal + "    network: \(name)\n")
        let text = try #require(found.first?.help)
        #expect(text.hasPrefix(help))
        for preset in LinkPreset.all { #expect(text.contains("`\(preset.name)`")) }
        #expect(!text.contains("`none`"), "a phone cannot always be offline")
    }

    @Test func `a share and a mix of links are explained`() {
        let share = errors(minimal, set: ["faults=[{do: reset, on: stream, toxicity: 10%}]"])
        #expect(share.map(\.help) == ["a share is `chance`, for example `chance: 10%`"])
        let mix = errors(minimal + "    network: {3g: 50%, lte: 50%}\n")
        let help = "the phones of a group have one link: make a group for each, such as `network: "
        #expect(mix.compactMap(\.help).contains(help + "3g`"))
    }

    @Test func `a tunnel is the link none of a timeline`() throws {
        let found = errors(
            minimal + "    network: [{at: 0s, link: lte}, {at: 2s, link: tunnel, for: 1s}]\n")
        #expect(try #require(found.first?.help).hasPrefix("did you mean `none`? use "))
    }

    @Test func `every name of a link leads to one`() {
        for alias in LinkAlias.all {
            #expect(LinkPreset.named(alias.link) != nil || alias.link == NetworkReader.tunnel)
            #expect(LinkPreset.named(alias.name) == nil, "it has a preset of its own")
        }
    }

    @Test func `an unknown metric lists what there is`() throws {
        let found = errors(minimal + "slo: {elephants: count == 0}\n")
        let help = try #require(found.first?.help)
        for metric in LatencyMetric.allCases { #expect(help.contains("`\(metric.rawValue)`")) }
        for metric in RateMetric.allCases { #expect(help.contains("`\(metric.rawValue)`")) }
        #expect(help.hasSuffix("'swiftwing-sim help metrics' explains all"))
    }

    @Test func `a metric of another tool is explained`() {
        let found = errors(minimal + "slo: {http_req_duration: p(95) < 20ms, scan_time: p(95) < 1s}\n")
        #expect(
            found.map(\.help) == [
                "k6's `http_req_duration` is `upload.time`, `results.time` or `cleanup.time`, by request",
                "did you mean `scan.time`?",
            ])
    }

    @Test func `an unquoted variable in a flow map is to be quoted`() {
        #expect(
            errors("scenario: 1\nfleet: {phones: {phones: ${PHONES}, scans: 1}}\n").first?.help
                == "quote a variable between `{` and `}` or `[` and `]`: \"${PHONES}\"")
    }

    @Test func `the beginning of a name is enough for a hint`() {
        #expect(
            errors(minimal.replacing("phones: 2", with: "phones: 2\n    profile: swiftwing")).first?.help?
                .hasPrefix("did you mean `swiftwing-head`?") == true)
    }

    @Test func `a bracket that is not closed is named with its line`() {
        #expect(
            errors("scenario: 1\nfleet:\n  phones: {phones: 2\n  other: 1\n").first?.help
                == "the `{` in line 3 is not closed")
        #expect(
            errors("scenario: 1\nsometimes: [a\nseed: 1\n").first?.help == "the `[` in line 2 is not closed")
    }
}
