import Observations
import ReportSamples
import SimBase
import Talaria
import Testing

@testable import Reports

@Suite struct SlowScansTests {
    private static let device = DeviceNumber(7)

    private static func last(_ more: [(seconds: Int64, scan: UInt32, what: PhoneObservation)]) -> String? {
        var scans = SlowScans(Samples.head(groups: ["commuters"]), least: nil, end: .zero + .seconds(60))
        let all: [(seconds: Int64, scan: UInt32, what: PhoneObservation)] =
            [
                (0, 0, .launched(restored: 0)), (1, 1, .captured(scheduled: .zero)),
                (2, 1, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
            ] + more
        for (seconds, scan, what) in all {
            scans.record(
                Observation(
                    at: .zero + .seconds(seconds), device: Self.device, scan: ScanNumber(scan),
                    what: .phone(what)))
        }
        return scans.sorted.first?.last
    }

    /// The end of a run suspends every phone, which gives up its requests and deletes its jobs: that is not
    /// part of what hung.
    @Test func `the last event of an unfinished scan is from before the end of the run`() {
        let end: [(seconds: Int64, scan: UInt32, what: PhoneObservation)] = [
            (40, 0, .suspended), (41, 1, .requestFailed(.upload, attempt: 1, .reset, took: .seconds(39))),
        ]
        #expect(Self.last([]) == "-> POST scans, attempt 1")
        #expect(Self.last(end) == "-> POST scans, attempt 1")
        let back: [(seconds: Int64, scan: UInt32, what: PhoneObservation)] = [
            (42, 0, .resumed), (43, 1, .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil)),
        ]
        #expect(Self.last(end + back) == "-> POST scans, attempt 2")
    }
}
