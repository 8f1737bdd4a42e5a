import Metrics
import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

@Suite struct OccasionsTests {
    private static let fleet = PhoneGroups([(name: "a", devices: 1), (name: "b", devices: 1)])

    private static func verdict(_ invariant: Invariant, violations: Int = 0) -> Verdict {
        Verdict(
            invariant: invariant, standing: violations == 0 ? .held : .broken, violations: violations,
            expected: 0, examples: [])
    }

    /// The invariants that had an occasion after these observations of the phone of the first group.
    private static func met(_ payloads: PhoneObservation..., group: Int? = nil) -> [Invariant] {
        var occasions = Occasions(fleet: Self.fleet)
        for payload in payloads {
            occasions.record(
                Observation(at: .zero, device: DeviceNumber(0), scan: ScanNumber(1), what: .phone(payload)))
        }
        return occasions.applied(to: Invariant.allCases.map { Self.verdict($0) }, ofGroup: group)
            .filter(\.hadOccasion).map(\.invariant)
    }

    @Test func `a limit can be kept only where there was one`() {
        #expect(!Self.met(.captured(scheduled: .zero)).contains(.limitHonoured))
        let limited = PhoneObservation.replied(.upload, attempt: 1, status: 429, took: .zero)
        #expect(Self.met(limited).contains(.limitHonoured))
        #expect(Self.met(limited, group: 0).contains(.limitHonoured))
        #expect(!Self.met(limited, group: 1).contains(.limitHonoured))
    }

    @Test func `a stream that begins again resumes nothing`() {
        func opened(after: String?) -> PhoneObservation {
            .streamOpened(job: "j", attempt: 1, after: after, took: .zero)
        }
        #expect(!Self.met(opened(after: nil)).contains(.streamNoGap))
        #expect(Self.met(opened(after: "1-progress")).contains(.streamNoGap))
    }

    @Test func `what was violated had an occasion`() {
        let occasions = Occasions(fleet: Self.fleet)
        let verdicts = [Self.verdict(.streamNoGap, violations: 1), Self.verdict(.limitHonoured)]
        #expect(occasions.applied(to: verdicts).map(\.hadOccasion) == [true, false])
    }
}
