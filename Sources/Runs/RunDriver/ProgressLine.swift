import SimBase

/// The state of a run.
struct RunStanding {
    /// The time of the run.
    var moment: Instant
    var progress: RunProgress
    var isPaused = false

    init(at moment: Instant, _ progress: RunProgress) {
        self.moment = moment
        self.progress = progress
    }
}

/// Shows the state of a run from time to time, in one line.
struct ProgressLine {
    private let console: Console
    private let isQuiet: Bool
    private let outlook: RunOutlook
    private let seed: UInt64
    private var shownAt = Instant.zero

    init(_ console: Console, isQuiet: Bool, outlook: RunOutlook, seed: UInt64) {
        self.console = console
        self.isQuiet = isQuiet
        self.outlook = outlook
        self.seed = seed
    }

    /// `now`: the time of the reader, which passes faster or slower than that of a simulated run.
    mutating func show(now: Instant, _ standing: @autoclosure () -> RunStanding) {
        let every: Interval = self.console.isInteractive ? .milliseconds(250) : .seconds(10)
        guard !self.isQuiet, now - self.shownAt >= every else { return }
        self.shownAt = now
        self.console.progress(self.text(standing(), now: now))
    }

    /// The most important parts come first: a narrow terminal shows no others.
    func text(_ standing: RunStanding, now: Instant) -> String {
        let progress = standing.progress
        var parts = [Self.clock(standing.moment)]
        if let percent = self.outlook.percent(settled: progress.settled) { parts.append("\(percent)%") }
        if let left = self.left(standing, now: now) { parts.append(left) }
        parts += [
            self.phase(standing), "captured \(progress.captured)/\(self.outlook.scans)",
            "done \(progress.completed)", "errors \(progress.errors)",
        ]
        if progress.failed > 0 { parts.append("failed \(progress.failed)") }
        if progress.canceled > 0 { parts.append("canceled \(progress.canceled)") }
        if progress.heldBack > 0 { parts.append("held back \(progress.heldBack)") }
        parts += ["busy \(progress.busy)", "offline \(progress.offline)", "seed \(self.seed)"]
        return parts.joined(separator: "  ")
    }

    private func phase(_ standing: RunStanding) -> String {
        if standing.isPaused { return "paused" }
        return self.outlook.isDraining(at: standing.moment, captured: standing.progress.captured)
            ? "drain" : "arrivals"
    }

    private func left(_ standing: RunStanding, now: Instant) -> String? {
        guard standing.moment > .zero,
            let remainder = self.outlook.remainder(at: standing.moment, settled: standing.progress.settled)
        else { return nil }
        let pace = Double(now.nanoseconds) / Double(standing.moment.nanoseconds)
        return switch remainder.scaled(by: pace) {
        case .about(let time): "\(Self.clock(.zero + time)) left"
        case .atMost(let time): "up to \(Self.clock(.zero + time)) left"
        }
    }

    /// Minutes and seconds.
    static func clock(_ moment: Instant) -> String {
        let seconds = max(0, moment.nanoseconds / 1_000_000_000)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}
