import Ledger
import LivePhones
import Plan
import SimBase

/// Shows from time to time how a run stands, in one line.
struct ProgressLine {
    private let console: Console
    private let isQuiet: Bool
    private let expectedArrivals: ExpectedArrivals
    private let seed: UInt64
    private var shownAt = Instant.zero

    init(_ console: Console, isQuiet: Bool, expectedArrivals: ExpectedArrivals, seed: UInt64) {
        self.console = console
        self.isQuiet = isQuiet
        self.expectedArrivals = expectedArrivals
        self.seed = seed
    }

    /// `moment`: the time of the run; `now`: the time of the reader.
    mutating func show(
        at moment: Instant, now: Instant, _ gauges: @autoclosure () -> FleetGauges,
        scans: @autoclosure () -> ScanTotals
    ) {
        let every: Interval = self.console.isInteractive ? .milliseconds(250) : .seconds(10)
        guard !self.isQuiet, now - self.shownAt >= every else { return }
        self.shownAt = now
        self.console.progress(self.text(at: moment, gauges(), scans()))
    }

    func text(at moment: Instant, _ gauges: FleetGauges, _ scans: ScanTotals) -> String {
        let canceled = scans.canceled > 0 ? ["canceled \(scans.canceled)"] : []
        let parts =
            [
                "\(Self.clock(moment))  arrivals until \(Self.clock(self.expectedArrivals.lastArrival))",
                "captured \(gauges.captured)/\(self.expectedArrivals.scans)", "completed \(scans.completed)",
            ] + canceled + [
                "busy \(gauges.phonesBusy)", "offline \(gauges.phonesOffline)", "seed \(self.seed)",
            ]
        return parts.joined(separator: "  ")
    }

    /// Minutes and seconds.
    static func clock(_ moment: Instant) -> String {
        let seconds = max(0, moment.nanoseconds / 1_000_000_000)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}
