import SimBase
import Talaria

/// The waits between the attempts of all phones, whose distribution is judged over the fleet.
struct BackoffWaits: Sendable {
    /// Waits that are judged together, by the profile of their phones.
    enum Kind: Int, Sendable {
        case drawn
        /// The profile is known not to draw them.
        case fixed
    }

    private struct Pool: Sendable {
        var samples = BackoffSamples()
        var storms = RetryStormDetector()

        /// What a shard hands over; nil where all phones are.
        var evidence: FleetEvidence.Waits? {
            guard let record = self.storms.record else { return nil }
            var waits = FleetEvidence.Waits()
            waits.samples = self.samples
            waits.retries = record
            return waits
        }
    }

    /// By kind.
    private var pools = [Pool(), Pool()]
    /// The first phone with fixed waits in the order of observations, and the one with the lowest number.
    private var firstFixed: DeviceNumber?
    private var lowestFixed: DeviceNumber?
    /// Streams that had failures, and those of which nothing has come since they were opened. Events and pings, of which there
    /// are many, mean something only to these.
    var streams = 0

    /// `isShard`: records are kept, and nothing is judged.
    init(isShard: Bool) {
        guard isShard else { return }
        for index in self.pools.indices { self.pools[index].storms.keepRecord() }
    }

    /// What a shard hands over; nil where all phones are.
    var evidence: FleetEvidence? {
        guard let drawn = self.pools[0].evidence, let fixed = self.pools[1].evidence else { return nil }
        var evidence = FleetEvidence()
        evidence.drawn = drawn
        evidence.fixed = fixed
        evidence.firstFixed = self.lowestFixed
        return evidence
    }

    mutating func add(_ device: DeviceNumber, _ kind: Kind) {
        guard kind == .fixed else { return }
        self.firstFixed = self.firstFixed ?? device
        self.lowestFixed = min(self.lowestFixed ?? device, device)
    }

    /// A wait has begun. Returns a storm of retries that was over before.
    mutating func began(_ kind: Kind, ceiling: Interval, at moment: Instant) -> RetryStormDetector.Herd? {
        self.pools[kind.rawValue].storms.began(ceiling: ceiling, at: moment)
    }

    /// A wait that nothing else has held up is over. Returns a storm of retries that was over before.
    mutating func ended(_ kind: Kind, at moment: Instant, by device: DeviceNumber) -> RetryStormDetector.Herd?
    {
        self.pools[kind.rawValue].storms.ended(at: moment, by: device)
    }

    /// `wait`: nil for one that was interrupted after `watched`.
    mutating func sample(
        _ kind: Kind, _ chain: BackoffChain, ceiling: Interval, wait: Interval?, watched: Interval
    ) {
        self.pools[kind.rawValue].samples.add(
            chain.operation, failures: chain.failures, ceiling: ceiling, wait: wait, watched: watched)
    }

    /// Returns what only the whole run shows, with one of the phones where all of them have a profile that is known for it.
    /// The samples of a shard are judged with the others.
    mutating func end() -> [(invariant: Invariant, text: String, device: DeviceNumber?)] {
        self.pools.indices.flatMap { index in
            let storm = self.pools[index].storms.end().map { (Invariant.herdBounded, $0.text) }
            let samples = self.evidence == nil ? self.pools[index].samples.findings : []
            let found = [storm].compactMap { $0 } + samples.map { (Invariant.retryBudget, $0.text) }
            let device = Kind(rawValue: index) == .fixed ? self.firstFixed : nil
            return found.map { ($0, $1, device) }
        }
    }
}
