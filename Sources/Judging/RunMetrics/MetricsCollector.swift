package import Metrics
package import Observations
package import SimBase
package import Talaria

/// Turns observations into metrics (Docs/design.md section 7). Scans, books and jobs are counted by the
/// ledger, which knows their outcome; `generator.lateness` is the driver's.
///
/// Failure rates are per operation: an operation begins with its first request and ends when its purpose is
/// fulfilled, or when the phone gives up. If the end of the run cuts it short, it has failed if its last
/// attempt had; if a request was open, or waited for a 429, it is in no rate.
///
/// A value: each shard of the fleet has its own, and their measurements are added up. All observations of one
/// phone must be in one collector.
package struct MetricsCollector: Sendable {
    package let fleet: PhoneGroups
    private let faultIDs: [String]
    /// The journeys of the groups of `fleet`, by the group's index; `scan` for a group without one.
    package var journeys: [Journey] = []
    /// The measurements since the start, or since the last `drain`.
    package private(set) var measured: Measurements
    private var indexes = DeviceIndex()
    /// The phones in the order of their first operation.
    private var phones: [(group: MetricGroup, operations: PhoneOperations)] = []
    /// The moment of the last observation of a phone: the end of the run as phones see it.
    package private(set) var heardAt = Instant.zero

    /// `faultIDs`: of the scenario's list, in its order. Without the backend's view what needs it is not available.
    package init(fleet: PhoneGroups, faultIDs: [String], hasBackendView: Bool, hasTrial: Bool = false) {
        self.fleet = fleet
        self.faultIDs = faultIDs
        var table = MetricTable(groups: fleet.groups)
        for id in faultIDs { table.declare(fault: id) }
        if !hasBackendView {
            for metric in Metric.unknown(hasTrial: hasTrial) { table.cannotKnow(metric) }
        }
        self.measured = Measurements(table: table)
    }

    // MARK: Events

    /// `cause`: that of `CauseAccount`.
    package mutating func record(_ observation: Observation, cause: Cause? = nil) {
        self.measured.begin()
        // Everything that is measured is measured where the user would notice it: at the phone. Only the server sees what
        // requests have that the contract does not define, and only the trial of a target how old an event is.
        if observation.side == .backend {
            if case .backend(.found(let finding)) = observation.what {
                self.record(finding, observation, cause)
            } else if case .backend(.targetEvent(let latency)) = observation.what {
                self.measured.record(
                    .sseEventLatency, latency, in: self.fleet.metricGroup(of: observation.device))
            } else if case .backend(.targetProbed(let probe, let status)) = observation.what {
                self.measured.table.answered(
                    probe, status: status, in: self.fleet.metricGroup(of: observation.device))
            }
            return
        }
        self.record(observation.what, of: observation, cause)
    }

    /// `what`: by itself, since to switch over a member of the observation copies all of it.
    private mutating func record(_ what: ObservationPayload, of observation: Observation, _ cause: Cause?) {
        let group = self.fleet.metricGroup(of: observation.device)
        switch what {
        case .phone(.found(let finding)): self.record(finding, observation, cause)
        case .phone(let payload):
            self.heardAt = max(self.heardAt, observation.at)
            self.measure(payload, group)
            guard payload.concernsOperations else { return }
            let index = self.index(of: observation.device, group)
            self.phones[index].operations.record(
                payload, scan: observation.scan, at: observation.at, into: &self.measured, group)
        case .backend: break
        case .fault(let payload):
            self.measure(payload, group)
        case .network(let payload):
            self.measure(payload, group)
        case .control: break
        }
    }

    private mutating func record(_ finding: ContractFinding, _ observation: Observation, _ cause: Cause?) {
        let group = self.fleet.metricGroup(of: observation.device)
        self.measured.table.add(Int64(finding.count), to: .contractFindings, in: group)
        if finding.side == .target, !finding.isAdditional, cause?.fault == nil {
            self.measured.table.add(Int64(finding.count), to: .contractBreaking, in: group)
        }
        self.measured[group].findings.add(
            finding, device: observation.device, scan: observation.scan, at: observation.at, cause: cause)
    }

    /// The end of the run: operations that are still under way are closed, and counted as unfinished.
    /// `moment`: nil for the last that was heard of a phone.
    package mutating func finish(at moment: Instant? = nil) {
        self.measured.table.add(self.unfinished(at: moment ?? self.heardAt))
        for index in self.phones.indices {
            self.phones[index].operations.close(into: &self.measured, self.phones[index].group)
        }
    }

    /// The operations that are open, and nothing else.
    package func unfinished(at moment: Instant) -> MetricTable {
        var table = MetricTable(groups: self.measured.table.groups)
        for index in self.phones.indices {
            let group = self.phones[index].group
            self.phones[index].operations.open { metric, since in
                table.record(unfinished: metric, age: max(.zero, moment - since), in: group)
            }
        }
        return table
    }

    /// The operations that are open, one by one.
    package func openOperations(at moment: Instant) -> [OpenOperation] {
        var found: [OpenOperation] = []
        for index in self.phones.indices {
            let group = self.phones[index].group
            self.phones[index].operations.open { metric, since in
                found.append(OpenOperation(metric: metric, group: group, age: max(.zero, moment - since)))
            }
        }
        return found
    }

    /// Scans whose operations are still followed: what grows when something never settles.
    package var followed: Int { self.phones.reduce(0) { $0 + $1.operations.followed } }

    /// Returns and removes the measurements since the last call. Open operations stay.
    package mutating func drain() -> Measurements {
        let measured = self.measured
        self.measured.reset()
        return measured
    }

    /// Shows what was measured since the last time, and adds it to what was measured before, without a copy of it.
    package mutating func settle(into past: inout Measurements, _ show: (Measurements) -> Void) {
        show(self.measured)
        past.add(self.measured)
        self.measured.reset()
    }

    /// Takes in what another collector measured.
    package mutating func add(_ other: Measurements) {
        self.measured.add(other)
    }

    private mutating func index(of device: DeviceNumber, _ group: MetricGroup) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append((group, PhoneOperations(self.journey(of: group))))
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }

    // MARK: What needs no memory
    // What takes several observations is recorded by `PhoneOperations` and `ScanOperations`: the rates of operations and
    // `sse.reconnect.time`, which a kill divides.

    private mutating func measure(_ payload: FaultObservation, _ group: MetricGroup) {
        switch payload {
        case .fired(let fault, _, _), .began(let fault):
            guard self.faultIDs.indices.contains(fault) else { return }
            self.measured.table.fired(fault: self.faultIDs[fault], in: group)
        case .decided, .passed, .ended:
            break
        }
    }

    private mutating func measure(_ payload: NetworkObservation, _ group: MetricGroup) {
        let times: [(LatencyMetric, Interval?)] = [
            (.netDNSTime, payload.lookup), (.netConnectTime, payload.connect),
            (.netTLSTime, payload.tls), (.netFirstByteTime, payload.firstByte),
        ]
        for case (let metric, let time?) in times { self.measured.record(metric, time, in: group) }
    }

    private mutating func measure(_ payload: PhoneObservation, _ group: MetricGroup) {
        switch payload {
        case .captured: self.countPhotos(1, group)
        case .photosTaken(let count): self.countPhotos(count - 1, group)
        case .photoPrepared(let took, _):
            guard let took else { return }
            self.measured.record(.preprocessTime, took, in: group)
            self.measured.table.record(.preprocessFailed, failed: false, in: group)
        case .refused(code: _, cause: .photo):
            self.measured.table.record(.preprocessFailed, failed: true, in: group)
        case .completed(let took):
            self.measured.record(.scanTime, took, in: group)
        case .requestSent(let operation, _, _, _):
            self.countAttempt(operation, group)
        case .replied(let operation, _, let status, _):
            self.measured.table.answered(operation, status: status, in: group)
        case .requestFailed(_, _, let failure, _):
            guard failure == .descriptorsExhausted else { return }
            self.measured.table.add(1, to: .descriptorsRefused, in: group)
        case .uploadAccepted(_, let took, let service):
            self.measured.record(.uploadTime, took, in: group)
            self.measured.record(.uploadServiceTime, service, in: group)
        case .lookupAnswered(_, _, let took, let service):
            self.measured.record(.uploadTime, took, in: group)
            self.measured.record(.uploadServiceTime, service, in: group)
        case .bookRead(let took): self.measured.record(.feedbackTime, took, in: group)
        case .enriched(_, let took, let service):
            self.measured.record(.enrichedTime, took, in: group)
            self.measured.record(.enrichTime, service, in: group)
        case .resultsDecoded(_, _, let took):
            self.measured.record(.resultsTime, took, in: group)
        case .statusDecoded(_, _, let took):
            self.measured.record(.statusTime, took, in: group)
        case .cleanupAnswered(_, _, let took):
            self.measured.record(.cleanupTime, took, in: group)
        case .cancelAnswered(_, let took):
            self.measured.record(.cancelTime, took, in: group)
        default: self.measureStream(payload, group)
        }
    }

    private mutating func measureStream(_ payload: PhoneObservation, _ group: MetricGroup) {
        switch payload {
        case .streamOpened(_, _, _, let took):
            self.measured.record(.sseConnectTime, took, in: group)
        case .firstEvent(_, let took):
            self.measured.record(.sseFirstEventTime, took, in: group)
        case .eventApplied(_, _, _, let latency, let replayed):
            self.measured.table.add(1, to: .sseEvents, in: group)
            guard let latency else { return }
            self.measured.record(replayed ? .sseEventDelay : .sseEventLatency, latency, in: group)
        case .eventIgnored(_, _, _, let malformed):
            self.measured.table.add(1, to: malformed ? .sseUndecodable : .sseUnknown, in: group)
        case .badAnswer(.stream, _, .undecodable):
            // A terminal event that cannot be read is not ignored: the job is over.
            self.measured.table.add(1, to: .sseUndecodable, in: group)
        case .ping(_, let gap):
            self.measured.table.add(1, to: .ssePings, in: group)
            guard let gap else { return }
            self.measured.record(.ssePingGap, gap, in: group)
        case .streamLost(_, _, .silence, let silence):
            guard let silence else { return }
            self.measured.record(.sseDetectTime, silence, in: group)
        default: break
        }
    }

    /// Photos of scans: what has none takes none.
    private mutating func countPhotos(_ count: Int, _ group: MetricGroup) {
        guard self.journey(of: group).hasPhotos else { return }
        self.measured.table.add(Int64(count), to: .photosTaken, in: group)
    }

    private func journey(of group: MetricGroup) -> Journey {
        let index = group.position - 1
        return self.journeys.indices.contains(index) ? self.journeys[index] : .scan
    }

    private mutating func countAttempt(_ operation: Operation, _ group: MetricGroup) {
        switch operation {
        case .upload: self.measured.table.add(1, to: .uploadAttempts, in: group)
        case .results: self.measured.table.add(1, to: .resultsAttempts, in: group)
        case .cleanup, .cancel: self.measured.table.add(1, to: .cleanupAttempts, in: group)
        case .stream: break  // A first connect or a reconnect: that takes memory.
        case .status: self.measured.table.add(1, to: .statusAttempts, in: group)
        case .refresh: self.measured.table.add(1, to: .refreshAttempts, in: group)
        }
    }
}
