import Ledger
import LivePhones
import Plan
import SimBase

/// How a run stands, in one line.
enum ProgressLine {
    static func text(
        at now: Instant, expectedArrivals: ExpectedArrivals, gauges: FleetGauges, scans: ScanTotals,
        seed: UInt64
    ) -> String {
        let parts = [
            "\(Self.clock(now))  arrivals until \(Self.clock(expectedArrivals.lastArrival))",
            "captured \(gauges.captured)/\(expectedArrivals.scans)", "completed \(scans.completed)",
            "busy \(gauges.phonesBusy)", "offline \(gauges.phonesOffline)", "seed \(seed)",
        ]
        return parts.joined(separator: "  ")
    }

    /// Minutes and seconds.
    static func clock(_ moment: Instant) -> String {
        let seconds = max(0, moment.nanoseconds / 1_000_000_000)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}
