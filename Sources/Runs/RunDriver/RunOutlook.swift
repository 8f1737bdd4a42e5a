import Plan
import SimBase

/// What a run will do and how long it takes, as far as that is known before it begins.
struct RunOutlook: Hashable, Sendable {
    var phones: Int
    var scans: Int
    /// The last scheduled capture.
    var lastArrival: Instant
    /// About how long a scan takes.
    var scanTime: Interval
    /// The time that unfinished scans have after the last capture.
    var drain: Interval
    /// Whether there are groups whose captures depend on the backend.
    var isClosed: Bool

    /// Returns one sentence for the start of the run. `target`: nil for the simulated backend.
    func banner(target: String?, folder: String) -> String {
        let rate = self.rateText.map { ", about \($0)" } ?? ""
        return "\(Self.count(self.phones, "phone")), \(Self.count(self.scans, "scan"))\(rate) against "
            + "\(target ?? "the simulated backend"), about \(Self.text(self.expectedTime)); reports in \(folder)"
    }

    /// From the start to the end of the last scan, when nothing goes wrong.
    private var expectedTime: Interval { self.lastArrival - .zero + self.scanTime }

    /// The average of the schedule; nil where the backend sets the rate.
    private var rateText: String? {
        let time = self.lastArrival.nanoseconds
        guard !self.isClosed, time > 0 else { return nil }
        let tenths = Int((Double(self.scans) * 10_000_000_000 / Double(time)).rounded())
        if tenths >= 1 { return "\(tenths / 10)" + (tenths % 10 == 0 ? "/s" : ".\(tenths % 10)/s") }
        let perHour = Int((Double(self.scans) * 3_600_000_000_000 / Double(time)).rounded())
        return "\(max(1, perHour))/h"
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private static func text(_ time: Interval) -> String {
        let seconds = max(1, (time.nanoseconds + 500_000_000) / 1_000_000_000)
        if seconds < 120 { return "\(seconds) s" }
        let minutes = (seconds + 30) / 60
        return minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }

    // MARK: While it runs

    /// Whether only unfinished scans are left.
    func isDraining(at moment: Instant, captured: Int) -> Bool {
        self.isClosed ? captured >= self.scans : moment > self.lastArrival
    }

    /// The share of the scans that are settled, in percent; nil if no number is planned.
    func percent(settled: Int) -> Int? {
        self.scans > 0 ? min(100, settled * 100 / self.scans) : nil
    }

    /// The time that is left.
    enum Remainder: Hashable {
        case about(Interval)
        case atMost(Interval)

        func scaled(by factor: Double) -> Remainder {
            func scaled(_ time: Interval) -> Interval {
                Interval(nanoseconds: Int64(Double(time.nanoseconds) * factor))
            }
            return switch self {
            case .about(let time): .about(scaled(time))
            case .atMost(let time): .atMost(scaled(time))
            }
        }
    }

    /// Returns the time that is left; nil if it cannot be known.
    func remainder(at moment: Instant, settled: Int) -> Remainder? {
        guard moment > .zero, self.scans > 0 else { return nil }
        if self.isClosed {
            guard settled > 0, settled <= self.scans else { return nil }
            let perScan = Double(moment.nanoseconds) / Double(settled)
            return .about(Interval(nanoseconds: Int64(perScan * Double(self.scans - settled))))
        }
        let end = self.lastArrival + self.scanTime
        guard moment >= end else { return .about(end - moment) }
        let last = self.lastArrival + self.drain
        return moment < last ? .atMost(last - moment) : nil
    }
}

extension RunOutlook {
    init(_ plan: RunPlan, _ expected: ExpectedArrivals) {
        self.init(
            phones: plan.phones, scans: expected.scans, lastArrival: expected.lastArrival,
            scanTime: plan.groups.map { plan.scanTime(of: $0) }.max() ?? .zero, drain: plan.scenario.drain,
            isClosed: !plan.scenario.closedGroups.isEmpty)
    }
}
