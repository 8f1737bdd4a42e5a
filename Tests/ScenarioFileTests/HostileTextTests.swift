import Foundation
import Plan
import SimBase
import Testing

@testable import ScenarioFile

/// Whatever the text is, the reader answers with a scenario or with errors, soon.
struct HostileTextTests {
    private static let fragments = [
        "{", "}", "[", "]", ":", ": ", "- ", "\n", "\n  ", "\n    ", "\t", "#", "\"", "'", "&a ", "*a", "!x ",
        "|", ">",
        "---\n", "...\n", "${", "}", "${A:-", "%", "@", "`", "..", "/", "0", "9", "99999999999999999999",
        "-1", "1e9",
        "s", "ms", "é", "紅", "\u{2028}", "\u{85}", "\u{FEFF}", "\0", "null", "~", "on", "? ", "<<: ",
        "each-attempt",
        "fleet:", "faults:", "slo:", "p(95)", "after-bytes(", "burst(", "1000000", "0s", "0%", "100%", "168h",
        "1/h",
    ]

    private func shipped() throws -> [UInt8] {
        let path = packageFolder + "/Scenarios/flaky-network.scenario"
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// One to six edits by keyed draws.
    private func mutated(_ bytes: [UInt8], _ random: KeyedRandom, _ round: UInt64) -> [UInt8] {
        var bytes = bytes
        for edit in 0...random.below(6, .test, round, 0) {
            func draw(_ bound: Int, _ detail: UInt64) -> Int {
                Int(random.below(UInt64(max(1, bound)), .test, round, edit + 1, detail))
            }
            let place = draw(bytes.count, 1)
            let end = min(bytes.count, place + draw(12, 2))
            switch draw(5, 3) {
            case 0: bytes.removeSubrange(place..<end)
            case 1:
                bytes.insert(contentsOf: Array(Self.fragments[draw(Self.fragments.count, 4)].utf8), at: place)
            case 2:
                bytes.replaceSubrange(
                    place..<end, with: Array(Self.fragments[draw(Self.fragments.count, 5)].utf8))
            case 3: bytes.insert(contentsOf: Array(bytes[place..<end]), at: draw(bytes.count, 6))
            default:
                if place < bytes.count { bytes[place] = UInt8(draw(256, 7)) }
            }
        }
        return bytes
    }

    @Test func `two thousand mutations of a scenario neither trap nor stall`() throws {
        let bytes = try shipped()
        let random = KeyedRandom(seed: 20)
        var valid = 0
        for round in UInt64(0)..<2_000 {
            let text = mutated(bytes, random, round)
            do throws(ScenarioErrors) {
                let scenario = try ScenarioLoader.load(
                    path: "x.scenario", bytes: text, overrides: [], environment: [:])
                valid += 1
                // What is accepted can be written and planned.
                let again = try ScenarioLoader.load(
                    path: "x.scenario", text: ScenarioWriter.resolved(scenario), overrides: [],
                    environment: [:])
                #expect(again == scenario)
                var arrivals = RunPlan(scenario, target: .embedded).arrivals
                #expect(arrivals.next() != nil || scenario.duration != nil)
            } catch {
                #expect(!error.diagnostics.isEmpty && error.diagnostics.count <= ScenarioErrors.shownMax)
                #expect(
                    !error.render(color: false).unicodeScalars.contains {
                        $0.value < 0x20 && $0 != "\n" && $0 != "\t"
                    })
            }
        }
        #expect(valid > 100, "mutations that all break something test only the errors")
        #expect(valid < 1_900)
    }

    @Test func `hostile overrides neither trap nor stall`() throws {
        let random = KeyedRandom(seed: 21)
        let keys = ["fleet", "phones", "devices", "faults", "slo", "server", "ping", "", "0", "=", "."]
        for round in UInt64(0)..<1_000 {
            func pick(_ list: [String], _ detail: UInt64) -> String {
                list[Int(random.below(UInt64(list.count), .test, round, 0, detail))]
            }
            let option =
                pick(keys, 1) + "." + pick(keys, 2) + "=" + pick(Self.fragments, 3) + pick(Self.fragments, 4)
            _ = errors(minimal, set: [option, pick(keys, 5) + pick(Self.fragments, 6)])
        }
    }

    @Test func `large hostile files are answered in bounded time`() {
        let size = 1 << 19
        let texts = [
            String(repeating: "a: ", count: size / 3), String(repeating: "- ", count: size / 2),
            String(repeating: "[", count: size), String(repeating: "{a: ", count: size / 4),
            String(repeating: "? ", count: size / 2), String(repeating: "\"", count: size),
            (0..<40_000).map { "key-number-\($0): 1\n" }.joined(),
            minimal + "faults:\n" + String(repeating: "  - {do: reste}\n", count: 20_000),
            minimal + "description: " + String(repeating: "${A:-b}", count: 40_000),
            "a: " + String(repeating: "x", count: size), String(repeating: "#", count: size),
            String(repeating: "\u{2028}", count: size / 3), String(repeating: "&a ", count: size / 3),
        ]
        for text in texts { #expect(!errors(text).isEmpty) }
    }
}
