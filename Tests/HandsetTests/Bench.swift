import Device
import Faults
import Handset
import Plan
import SimBase
import Talaria

/// A handset without a network: what it wants, as it wants it.
struct Bench {
    static let zero: Int64 = 1_700_000_000_000

    var handset: Handset
    var now = Instant.zero
    private(set) var effects: [HandsetEffect] = []

    init(remembers: Bool = true, seed: UInt64 = 7) {
        self.handset = Handset(
            number: DeviceNumber(3), profile: .contract,
            identity: .draw(KeyedRandom(seed: seed), DeviceNumber(3)), installation: 0, lastScan: .none,
            remembers: remembers,
            surroundings: Surroundings(
                random: KeyedRandom(seed: seed), run: 9, clockZero: 0, wallClockAtZero: Self.zero))
        self.tell(.switchedOn(restored: []))
    }

    mutating func tell(_ event: HandsetEvent) {
        self.handset.handle(event, at: self.now, into: &self.effects)
    }

    mutating func act(_ act: LifeAct) { self.tell(.act(act)) }

    mutating func capture() {
        self.tell(
            .captureDue(
                Arrival(scheduled: self.now, device: DeviceNumber(3), ordinal: 1, photoDraw: 0),
                PhotoReference(0)))
    }

    /// What was written becomes durable.
    mutating func flush() {
        self.tell(.flushing)
        self.tell(.flushed)
    }

    mutating func take() -> [HandsetEffect] {
        defer { self.effects = [] }
        return self.effects
    }

    /// What was seen since the last `take`.
    var seen: [PhoneSighting] {
        self.effects.compactMap {
            guard case .observe(let observation) = $0, case .phone(let sighting) = observation.what else {
                return nil
            }
            return sighting
        }
    }

    /// What was wanted of the driver beside being seen, in a word each.
    var wanted: [String] {
        self.effects.compactMap { effect in
            switch effect {
            case .observe: nil
            case .send(let request): "send \(request.operation.name)"
            case .abort: "abort"
            case .preparePhoto: "prepare"
            case .releasePhoto: "release"
            case .use(let scan): "use \(scan.raw)"
            case .write: "write"
            case .flush: "flush"
            case .flushNow: "flush now"
            case .wiped: "wiped"
            case .park: "park"
            case .hangUp: "hang up"
            case .forgetProcess: "forget process"
            case .schedule(_, let moment): "schedule \((moment - .zero).wholeMilliseconds)"
            case .awaitedSettled: "awaited settled"
            }
        }
    }

    func window(_ kind: FaultKind, from: Int64, to: Int64? = nil) -> PhoneWindow {
        PhoneWindow(
            fault: 0, kind: kind, from: .zero + .seconds(from),
            to: to.map { .zero + .seconds($0) } ?? .distantFuture)
    }
}
