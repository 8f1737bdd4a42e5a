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
