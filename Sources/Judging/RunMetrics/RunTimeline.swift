package import Observations
package import SimBase
import Talaria

/// The history of a run over time, for its report.
///
/// Its memory is bounded however long the run is: there are at most `windowsMax` windows, and when a run
/// exceeds them, each two become one. A phone takes a fixed amount. It uses the observations of the log, so
/// that a log that is read again gives the same history.
package struct RunTimeline: Sendable {
    package static let windowsMax = 600
    /// The width of the first windows.
    package static let widthFirst = Interval.seconds(1)

    /// The present width of a window.
    package private(set) var width = Self.widthFirst
    package private(set) var windows: [TimelineWindow] = []
    package private(set) var errors = ErrorSummary()
    /// The timelines by the index of the fault in the scenario.
    package private(set) var faults: [FaultTimeline]
    private var phoneIndexes = DeviceIndex()
    /// The phones in the order of their first observation.
    package private(set) var phones: [PhoneSummary] = []
    /// The time of the last one.
    package private(set) var until = Instant.zero
    private var gauges = FleetGauge()

    /// The timeline that a shard has handed over. `windows`: at most `windowsMax`. `phones`: those with the most problems.
    package init(
        width: Interval, windows: [TimelineWindow], errors: ErrorSummary, faults: [FaultTimeline],
        phones: [PhoneSummary], until: Instant
    ) {
        self.width = width
        self.windows = Array(windows.prefix(Self.windowsMax))
        self.errors = errors
        self.faults = faults
        self.phones = phones
        self.until = until
    }

    package init(faults: Int) {
        self.faults = [FaultTimeline](repeating: FaultTimeline(), count: faults)
    }

    // MARK: Events

    /// `cause`: that of `CauseAccount`.
    package mutating func record(_ observation: Observation, cause: Cause? = nil) {
        // What users would notice, phones notice; what the log leaves out unless it is traced is counted elsewhere.
        guard observation.side != .backend, !observation.isRoutine else { return }
        guard observation.at >= .zero || observation.at.nanoseconds > -1_000_000_000 else { return }
        switch observation.what {
        case .phone(let payload): self.record(payload, observation, cause)
        case .fault(let payload): self.record(payload, observation)
        case .backend, .network, .control: break
        }
    }

    /// Adds counts of an interval that are not individual observations.
    package mutating func counted(events: Int, pings: Int, from moment: Instant) {
        let windowIndex = self.windowIndex(moment)
        self.windows[windowIndex].events = self.windows[windowIndex].events.addingSaturating(events)
        self.windows[windowIndex].pings = self.windows[windowIndex].pings.addingSaturating(pings)
    }

    private mutating func record(_ payload: FaultObservation, _ observation: Observation) {
        switch payload {
        case .decided, .passed: return
        case .fired(let fault, _, _):
            guard self.faults.indices.contains(fault) else { return }
            let windowIndex = self.windowIndex(observation.at)
            self.windows[windowIndex].fault(fault, of: self.faults.count)
            self.faults[fault].fired(at: observation.at)
        case .began(let fault):
            guard self.faults.indices.contains(fault) else { return }
            let windowIndex = self.windowIndex(observation.at)
            self.windows[windowIndex].fault(fault, of: self.faults.count)
            self.faults[fault].began(at: observation.at)
        case .ended(let fault):
            guard self.faults.indices.contains(fault) else { return }
            self.faults[fault].ended(at: observation.at)
        }
        self.note(observation)
    }

    private mutating func record(
        _ payload: PhoneObservation, _ observation: Observation, _ cause: Cause?
    ) {
        switch payload {
        case .ping: return
        case .eventApplied(_, _, let kind, _, _) where kind == .progress || kind == .ping: return
        default: break
        }
        self.note(observation)
        let index = self.mark(of: observation.device)
        // Made before anything changes: a window begins with those who were there.
        let windowIndex = self.windowIndex(observation.at)
        let before = self.phones[index].gauge
        self.phones[index].record(payload, scan: observation.scan, at: observation.at)
        self.gauges.change(from: before, to: self.phones[index].gauge)
        self.windows[windowIndex].record(payload, wasReconnecting: before.isReconnecting)
        self.windows[windowIndex].record(self.gauges)
        if case .captured(let scheduled) = payload {
            let due = self.windowIndex(min(scheduled, observation.at))
            self.windows[due].planned += 1
        }
        if let trouble = RunError(payload) {
            self.errors.add(
                trouble, at: observation.at, device: observation.device, scan: observation.scan,
                cause: cause)
            self.windows[windowIndex].errors[trouble.family.ordinal] += 1
        }
    }

    private mutating func note(_ observation: Observation) {
        if observation.at > self.until { self.until = observation.at }
    }

    // MARK: Indexes

    private mutating func mark(of device: DeviceNumber) -> Int {
        if let index = self.phoneIndexes[device] { return index }
        self.phones.append(PhoneSummary(device: device))
        self.phoneIndexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }

    /// The window of a time, created if it does not exist yet.
    private mutating func windowIndex(_ moment: Instant) -> Int {
        var index = Int(max(0, moment.nanoseconds) / self.width.nanoseconds)
        while index >= Self.windowsMax {
            self.halve()
            index = Int(max(0, moment.nanoseconds) / self.width.nanoseconds)
        }
        while self.windows.count <= index {
            var window = TimelineWindow()
            // No phone appears or disappears in a quiet window.
            window.record(self.gauges)
            self.windows.append(window)
        }
        return index
    }

    private mutating func halve() {
        self.width = self.width * 2
        self.windows = stride(from: 0, to: self.windows.count, by: 2).map { index in
            var window = self.windows[index]
            if index + 1 < self.windows.count { window.add(self.windows[index + 1]) }
            return window
        }
    }

    // MARK: Reading

    /// Returns the worst-affected phones, the worst first; none without problems. The last of them are those with the slowest
    /// scans, if they are not among the others.
    package func worstPhones(_ count: Int) -> [PhoneSummary] {
        let hard = self.phones.filter { $0.hardship > 0 }.sorted {
            ($0.hardship, $0.longestScan, $1.device) > ($1.hardship, $1.longestScan, $0.device)
        }
        guard hard.count > count else { return hard }
        let slowest = hard.sorted { ($0.longestScan, $1.device) > ($1.longestScan, $0.device) }
            .prefix(count / Self.phonesPerSlowest).map(\.device)
        var kept = Array(hard.prefix(count))
        for device in slowest where !kept.contains(where: { $0.device == device }) {
            guard let last = kept.lastIndex(where: { !slowest.contains($0.device) }) else { break }
            kept.remove(at: last)
            kept += hard.filter { $0.device == device }
        }
        return kept
    }

    /// Some phones, then the worst-affected of all others. The numbers of the phones of shards are not unique.
    package func phones(named devices: some Sequence<DeviceNumber>, worst count: Int) -> [PhoneSummary] {
        let named = devices.compactMap { device in self.phones.first { $0.device == device } }
        return named + self.worstPhones(count).filter { mark in !named.contains { $0.device == mark.device } }
    }

    /// One in so many of the worst-affected phones may be listed for its slow scan.
    private static let phonesPerSlowest = 3

    /// The timeline without the phones, for showing a run that continues.
    package var withoutPhones: RunTimeline {
        var copy = self
        copy.phones = []
        copy.phoneIndexes = DeviceIndex()
        return copy
    }

    /// Returns the timeline at a time: only windows that had ended, including quiet ones, and at most as many
    /// as requested.
    package func shown(at moment: Instant, windowsMax: Int) -> RunTimeline {
        var copy = self
        if moment > .zero { _ = copy.windowIndex(moment) }
        copy.makeWider(until: windowsMax)
        let over = Int(max(0, moment.nanoseconds) / copy.width.nanoseconds)
        copy.windows.removeLast(max(0, copy.windows.count - over))
        return copy
    }

    /// All of it in no more windows than requested.
    package func shown(windowsMax: Int) -> RunTimeline {
        var copy = self
        copy.makeWider(until: windowsMax)
        return copy
    }

    private mutating func makeWider(until windowsMax: Int) {
        while self.windows.count > windowsMax { self.halve() }
    }

    /// Adds another run, as if it had run at the same time with other phones. Device numbers of shards may be
    /// equal; their phones stay separate.
    package mutating func add(_ other: RunTimeline) {
        var other = other
        while self.width < other.width { self.halve() }
        while other.width < self.width { other.halve() }
        while self.windows.count < other.windows.count { self.windows.append(TimelineWindow()) }
        for index in other.windows.indices { self.windows[index].join(other.windows[index]) }
        self.errors.add(other.errors)
        for index in self.faults.indices where index < other.faults.count {
            self.faults[index].add(other.faults[index])
        }
        self.phones += other.phones
        self.until = max(self.until, other.until)
    }
}

/// The firings and windows of a fault.
package struct FaultTimeline: Equatable, Sendable {
    /// Spans that are kept; later ones lengthen the last.
    package static let spansMax = 64

    package struct Span: Equatable, Sendable {
        package var from: Instant
        /// Nil while it lasts.
        package var to: Instant?

        package init(from: Instant, to: Instant?) {
            self.from = from
            self.to = to
        }
    }

    package private(set) var count = 0
    package private(set) var first: Instant?
    package private(set) var last: Instant?
    /// While at least one phone was under it: of faults that have a beginning and an end.
    package private(set) var spans: [Span] = []
    private var active = 0

    package init() {}

    /// Read back from a file.
    package init(count: Int, first: Instant?, last: Instant?, spans: [Span]) {
        self.count = count
        self.first = first
        self.last = last
        self.spans = Array(spans.prefix(Self.spansMax))
    }

    mutating func fired(at moment: Instant) {
        self.count += 1
        self.first = min(self.first ?? moment, moment)
        self.last = max(self.last ?? moment, moment)
    }

    mutating func began(at moment: Instant) {
        self.fired(at: moment)
        self.active += 1
        guard self.active == 1 else { return }
        if self.spans.count < Self.spansMax {
            self.spans.append(Span(from: moment, to: nil))
        } else {
            self.spans[self.spans.count - 1].to = nil
        }
    }

    mutating func ended(at moment: Instant) {
        guard self.active > 0 else { return }
        self.active -= 1
        self.last = max(self.last ?? moment, moment)
        if self.active == 0, !self.spans.isEmpty { self.spans[self.spans.count - 1].to = moment }
    }

    mutating func add(_ other: FaultTimeline) {
        self.count += other.count
        if let first = other.first { self.first = min(self.first ?? first, first) }
        if let last = other.last { self.last = max(self.last ?? last, last) }
        self.spans = Array((self.spans + other.spans).sorted { $0.from < $1.from }.prefix(Self.spansMax))
    }
}
