import Faults
import Observations
import SimBase
import VirtualWorld

/// The events of one scan that a fault can be tied to, as a run without faults shows them.
struct ScanAnchors: Sendable {
    /// Records of the phone's storage that are counted, from 1. A scan without accidents has about as many.
    private static let recordsMax = 16

    /// The times at which the phone or the backend does something, and the one after the last of them.
    let moments: [Interval]
    /// The number of events of its stream.
    let events: Int

    /// - Parameter plan: One scan of one phone, without faults.
    init(of plan: WorldPlan) {
        var moments: [Interval] = []
        var events = 0
        var isOver = false
        _ = Trial.outcome(
            of: plan,
            observe: { observation in
                if case .phone(.eventApplied) = observation.what { events += 1 }
                // The end of the run suspends the phone.
                if case .phone(.suspended) = observation.what { isOver = true }
                let at = observation.at - Instant.zero
                guard !isOver, ![.network, .control].contains(observation.side), moments.last != at else {
                    return
                }
                moments.append(at)
            })
        self.moments = moments + moments.suffix(1).map { $0 + .milliseconds(1) }
        self.events = events
    }

    /// The triggers of a kind of fault: at once, and each event of the scan that its kind can wait for. Bytes
    /// and times of an exchange are left out, because they are not events.
    func triggers(of entry: FaultKindEntry) -> [FaultTrigger] {
        entry.triggers.reduce(into: [.atOnce]) { triggers, form in
            switch form {
            case .events: triggers += (1...max(1, self.events)).map { .afterEvents($0...$0) }
            case .records: triggers += (1...Self.recordsMax).map { .afterRecords($0...$0) }
            case .step: triggers += ScanStep.allCases.map { .afterStep($0) }
            case .time, .bytes: break
            }
        }
    }
}
