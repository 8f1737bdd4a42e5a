import Metrics
import ReportSamples
import Testing

@testable import Reports

@Suite struct TimesInTextTests {
    @Test(
        arguments: [
            ("p(95) < 400ms", "p(95) < 400 ms"), ("812us", "812 µs"), ("-1.50ms", "-1.50 ms"),
            ("4.7s, 5 unfinished", "4.7 s, 5 unfinished"), ("599s", "599 s"),
            ("18602s", "5\u{A0}h\u{A0}10\u{A0}min"), ("1.21s (+3%)", "1.21 s (+3%)"),
            // Names and words are none.
            ("job-3s", "job-3s"), ("v2s", "v2s"), ("3scans", "3scans"), ("id_5ms", "id_5ms"),
            ("1.2.3s", "1.2.3s"), ("12 scans", "12 scans"), ("", ""),
        ] as [(String, String)])
    func `times of a sentence are written in one way`(text: String, expected: String) {
        #expect(TimesInText.rewritten(text, space: " ") == expected)
    }

    @Test func `an objective shows hours as hours`() throws {
        let slo = try #require(Samples.slo("scan.time", "p(95) < 20s"))
        var table = MetricTable(groups: [])
        for _ in 0..<20 { table.record(.scanTime, .seconds(18_602), in: .none) }
        let result = slo.evaluate(against: table)
        #expect(result.actual.hasSuffix("s") && result.shown.hasPrefix("5\u{A0}h\u{A0}10"))
    }
}
