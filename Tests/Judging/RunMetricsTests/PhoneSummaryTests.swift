import Observations
import SimBase
import Testing

@testable import RunMetrics

/// Which phones a report shows first.
@Suite struct PhoneSummaryTests {
    private func hardship(_ payloads: [PhoneObservation]) -> Int {
        var summary = PhoneSummary(device: DeviceNumber(1))
        for payload in payloads { summary.record(payload, scan: ScanNumber(1), at: .zero) }
        return summary.hardship
    }

    @Test func `a book that no provider has is less of a problem than any other refusal`() {
        let captured = PhoneObservation.captured(scheduled: .zero)
        let refused = PhoneObservation.refused(code: "NOT_FOUND", cause: .queue)
        let unknown = PhoneObservation.lookupAnswered(
            found: false, repeated: false, took: .zero, service: .zero)
        let lost = PhoneObservation.streamLost(job: "job", attempt: 1, .reset, silence: nil)
        #expect(hardship([captured, unknown, refused]) < hardship([captured, lost]))
        #expect(hardship([captured, refused]) > hardship([captured, unknown, refused]))
    }
}
