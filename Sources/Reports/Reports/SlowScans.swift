import Metrics
import Observations
import RunArchive
package import RunJudge
package import RunMetrics
package import SimBase
import Talaria

/// The scans of a run that had not ended, or that took long, from its log.
package struct SlowScans {
    package struct Scan: Equatable {
        package var device: DeviceNumber
        package var number: ScanNumber
        /// The scheduled time of the capture.
        package var from: Instant
        /// Nil if it had not ended.
        package var to: Instant?
        /// The last that the phone did or met for it, in words, and when. What the end of the run made the phone do is left out.
        package var last: String
        package var lastAt: Instant
        /// Where its time went.
        package var spent = ActivityTimes()
    }

    private struct Key: Hashable {
        var device: DeviceNumber
        var scan: ScanNumber
    }

    /// The end of the run, until which unfinished scans are old.
    private let end: Instant
    private let head: RunHead
    private var open: [Key: Scan] = [:]
    private var ended: [Scan] = []
    /// Phones in the background. At the end of a run all are.
    private var suspended: Set<DeviceNumber> = []
    private let least: Interval?
    private var activities = ActivityAccount()

    /// `least`: the time from which on a scan is slow; nil for only those that had not ended.
    package static func read(
        _ folders: [String], _ head: RunHead, slowerThan least: Interval?, end: Instant
    ) -> [Scan] {
        var scans = SlowScans(head, least: least, end: end)
        let reader = ObservationReader(faults: head.faults)
        for folder in folders {
            let path = RunDirectory.joined(folder, RunDirectory.FileName.events)
            guard var lines = LineReader(path: path) else { continue }
            while let line = lines.next() {
                guard lines.isWhole, let observation = reader.observation(line) else { continue }
                scans.record(observation)
            }
        }
        return scans.sorted
    }

    init(_ head: RunHead, least: Interval?, end: Instant) {
        self.head = head
        self.least = least
        self.end = end
    }

    mutating func record(_ observation: Observation) {
        guard case .phone(let payload) = observation.what else { return }
        switch payload {
        case .suspended: self.suspended.insert(observation.device)
        case .resumed, .launched: self.suspended.remove(observation.device)
        default: break
        }
        let spent = self.activities.record(
            payload, of: observation.scan, on: observation.device, at: observation.at)
        guard observation.scan != .none else { return }
        let key = Key(device: observation.device, scan: observation.scan)
        if case .captured(let scheduled) = payload {
            self.open[key] = Scan(
                device: key.device, number: key.scan, from: min(scheduled, observation.at), to: nil,
                last: "", lastAt: observation.at)
        }
        guard var scan = self.open[key] else { return }
        let journey = self.head.journey(of: key.device)
        if !self.suspended.contains(key.device),
            let text = StoryText.text(observation, journey, faults: self.head.faults)
        {
            (scan.last, scan.lastAt) = (text, observation.at)
        }
        if let spent { scan.spent = spent }
        switch payload {
        case .completed, .refused, .canceled:
            self.open[key] = nil
            scan.to = observation.at
            if let least, observation.at - scan.from >= least { self.ended.append(scan) }
        default: self.open[key] = scan
        }
    }

    /// The slowest first; of an unfinished one its age counts.
    var sorted: [Scan] {
        let least = self.least ?? .zero
        var open = self.open.filter { self.end - $0.value.from >= least }
        for (device, scan, spent) in self.activities.open(at: self.end) {
            open[Key(device: device, scan: scan)]?.spent = spent
        }
        return (self.ended + open.values).sorted { left, right in
            let (a, b) = (self.length(left), self.length(right))
            guard a == b else { return a > b }
            return (left.device, left.number) < (right.device, right.number)
        }
    }

    func length(_ scan: Scan) -> Interval { (scan.to ?? self.end) - scan.from }

    // MARK: As a table

    /// Rows with a header.
    package static func table(_ scans: some Sequence<Scan>, _ head: RunHead, end: Instant) -> [[String]] {
        let noun = WorkNoun(head.groups.map(\.journey))
        return [["phone", noun.one, "group", "time", "mostly", "state", "last event", "at"]]
            + scans.map { scan in
                let group = head.fleet.group(of: scan.device).map { head.groups[$0].name } ?? "-"
                return [
                    String(scan.device.raw), String(scan.number.raw), Printable.line(group, bytesMax: 30),
                    Figures.time(((scan.to ?? end) - scan.from).nanoseconds),
                    scan.spent.longest?.name ?? "-",
                    scan.to == nil ? "not finished" : "ended",
                    Printable.line(scan.last, bytesMax: 60),
                    Figures.seconds(scan.lastAt.nanoseconds) + "s",
                ]
            }
    }
}
