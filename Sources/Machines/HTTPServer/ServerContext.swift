import Faults
import Observations
import OriginServer
import SimBase
import Talaria
import Wire

/// The shared state of a server's connections: the callers, their faults, and the pending effects.
struct ServerContext: Sendable {
    private struct Entry: Sendable {
        let connection: ConnectionID
        let caller: Caller
        var isStream = false
        /// Only if `/_sim` is available.
        var route: ServedTraffic.Route?
        var status: Int?
        var request: ServedRequest?
        var key: ExchangeKey?
    }

    private(set) var links: FleetLinks
    let clockZero: Int64
    let nonce: [UInt8]?
    private var random: KeyedRandom
    private var planner: FaultPlanner?
    private var callers = ClientDirectory()
    /// Connections of each phone of the fleet so far.
    private var connectionsOf: [DeviceNumber: UInt64] = [:]
    private var exchanges = SlotMap<ExchangeID, Entry>()
    private var exchangesMade: UInt64 = 0
    private(set) var streamsOpenNow = 0
    private var streamsOpen = StreamsOpen(least: 0, most: 0)
    /// Events for the origin, in order.
    var events: [OriginEvent] = []
    let origin: Origin.Traits
    let isForBrowsers: Bool
    private let crossSite: CrossSiteGuard?
    private let reportsRequests: Bool
    /// Whether `/_sim` is available.
    let showsStatus: Bool
    /// Whether `/openapi.yaml` is available. At a gateway the path is the upstream's.
    var showsContract: Bool { self.showsStatus && !self.origin.hasUpstream }
    /// What is asked of the server itself and not answered yet.
    var statusRequests: [(id: ExchangeID, question: StatusQuestion)] = []
    /// Counted only if `/_sim` is available.
    var traffic = ServedTraffic()
    /// The token of faults on demand; nil if there are none.
    let controlToken: String?
    /// What was requested and is not done yet.
    var controls: [(id: ExchangeID, control: ServerControl)] = []
    var outage: Outage?
    let faults: [FaultSpec]
    /// The firings of each fault of the list.
    private(set) var firings: [(count: Int, last: Instant?)]
    /// The names of the callers; only if `/_sim` is available.
    private var names: [DeviceNumber: String] = [:]
    /// The open exchanges by their keys.
    private var ofKey: [ExchangeKey: ExchangeID] = [:]
    /// Bytes that did not arrive.
    var lost = LostBytes()
    /// The time of the present event.
    var now = Instant.zero
    var effects: [ServerEffect] = []

    mutating func redraw(_ random: KeyedRandom) {
        self.random = random
        self.planner?.redraw(random)
    }

    init(_ setup: HTTPServerConfiguration) {
        self.links = setup.links
        self.clockZero = setup.clockZero
        self.nonce = setup.nonce.map { Array($0.utf8) }
        self.random = setup.random
        self.isForBrowsers = setup.isForBrowsers
        self.crossSite = setup.crossSite
        self.reportsRequests = setup.reportsRequests
        self.showsStatus = setup.showsStatus
        self.controlToken = setup.controlToken
        self.faults = (setup.faults ?? []) + setup.faultsOnDemand
        self.firings = Array(repeating: (0, nil), count: self.faults.count)
        self.origin = setup.origin.traits
        let hasFaults = setup.faults != nil || !setup.faultsOnDemand.isEmpty
        self.planner = hasFaults ? FaultPlanner(specs: self.faults, random: setup.random) : nil
        for index in self.faults.indices.suffix(setup.faultsOnDemand.count) {
            self.planner?.set(index, isOn: false)
        }
    }

    /// Why a request is not served at all. Pages may request everything from a simulated backend, whose
    /// answers are not secret, except what the server says of itself.
    func refusal(of head: RequestHead) -> CrossSiteGuard.Refusal? {
        guard let crossSite = self.crossSite else { return nil }
        if !self.origin.isPublic { return crossSite.refusal(of: head) }
        guard StatusQuestion.isAsked(at: head.path) else { return nil }
        return CrossSiteGuard(hosts: crossSite.hosts, pages: .none).refusal(of: head)
    }

    // MARK: Exchanges

    /// A request has begun: who sends it, and what number it gets. `path`: nil for a path of no journey. `trace`: nil for a
    /// caller that is no phone of this program.
    mutating func nextExchange(
        _ head: RequestHead, at path: JourneyPath?, by trace: TraceContext?, on connection: ConnectionID
    ) -> (ExchangeID, ExchangeKey?) {
        self.exchangesMade += 1
        let id = ExchangeID(self.exchangesMade)
        let operation = path.flatMap { $0.operation(method: head.method) }
        let caller = self.callers.caller(
            of: head, trace: trace, operation: operation, jobId: path?.endpoint.jobID)
        self.exchanges[id] = Entry(connection: connection, caller: caller)
        let key = operation.map {
            ExchangeKey(device: caller.device, scan: caller.scan, operation: $0, attempt: caller.attempt)
        }
        if self.showsStatus {
            self.exchanges.update(id) { $0.route = ServedTraffic.Route(head, at: path) }
            if let name = head.headers[HeaderName.deviceID] { self.note(name, caller.device) }
        }
        if self.reportsRequests {
            let request = ServedRequest(
                began: self.now, method: head.method, path: head.path,
                deviceID: head.headers[HeaderName.deviceID],
                lastEventID: head.headers[HeaderName.lastEventID], scan: caller.scan,
                isForeign: path?.foreignOperation != nil)
            self.exchanges.update(id) { ($0.request, $0.key) = (request, key) }
            if let key { self.ofKey[key] = id }
        }
        return (id, key)
    }

    private static let namesMax = 10_000

    private mutating func note(_ name: String, _ device: DeviceNumber) {
        if self.names.count >= Self.namesMax { self.names.removeAll() }
        self.names[device] = String(name.prefix(64))
    }

    /// The open streams of callers with this name, or of all, the oldest first.
    func streams(ofDeviceNamed name: String?) -> [ExchangeID] {
        let found = self.exchanges.entries.filter { _, exchange in
            exchange.isStream && (name.map { $0 == self.name(of: exchange.caller.device) } ?? true)
        }
        return found.map(\.key).sorted { $0.raw < $1.raw }
    }

    /// Returns the name of a caller, if it is known.
    func name(of device: DeviceNumber) -> String { self.names[device] ?? "phone \(device.raw)" }

    mutating func answered(_ id: ExchangeID?, _ status: Int) {
        guard self.reportsRequests || self.showsStatus, let id else { return }
        self.exchanges.update(id) {
            $0.request?.status = status
            $0.status = status
        }
    }

    func caller(of id: ExchangeID) -> Caller? { self.exchanges.with(id) { $0.caller } }

    /// The connection of an exchange that is not over.
    ///
    /// Mutating, so that the table remembers where it found it.
    mutating func connection(of id: ExchangeID) -> ConnectionID? {
        self.exchanges.update(id) { $0.connection }
    }

    mutating func streamOpened(_ id: ExchangeID) {
        guard self.exchanges.update(id, { $0.isStream = true }) != nil else { return }
        self.countStreams(1)
    }

    /// Forgets an exchange whose response is complete.
    mutating func forget(_ id: ExchangeID) { self.remove(id) }

    /// An exchange ended without its answer.
    mutating func abandon(_ id: ExchangeID) {
        guard self.remove(id) else { return }
        self.events.append(.aborted(id))
    }

    @discardableResult
    private mutating func remove(_ id: ExchangeID) -> Bool {
        guard let exchange = self.exchanges[id] else { return false }
        self.exchanges[id] = nil
        if exchange.isStream { self.countStreams(-1) }
        if let route = exchange.route { self.traffic.count(route, status: exchange.status) }
        if var request = exchange.request {
            request.took = self.now - request.began
            self.effects.append(.served(request))
            if let key = exchange.key, self.ofKey[key] == id { self.ofKey[key] = nil }
        }
        return true
    }

    private mutating func countStreams(_ change: Int) {
        self.streamsOpenNow += change
        self.streamsOpen.record(self.streamsOpenNow)
    }

    mutating func takeStreamsOpen() -> StreamsOpen {
        defer { self.streamsOpen = StreamsOpen(least: self.streamsOpenNow, most: self.streamsOpenNow) }
        return self.streamsOpen
    }

    // MARK: Faults

    /// Returns the faults that affect a request. Decided when its head is read, before its link has delivered
    /// it, since some faults affect its bytes on their way.
    mutating func openFaults(
        _ key: ExchangeKey, by transport: StreamTransport, at now: Instant
    ) -> [ArmedFault] {
        var decisions: [Observation] = []
        let group = self.links.groupName(of: key.device)
        guard let armed = self.planner?.open(key, by: transport, group: group, at: now, into: &decisions)
        else { return [] }
        for decision in decisions { self.observe(decision) }
        return armed.untilFirstEnd
    }

    /// Returns the randomness of the packet loss on a phone's next connection.
    mutating func nextLinkRandom(of device: DeviceNumber?) -> KeyedRandom {
        guard let device, self.links.groupName(of: device) != "" else {
            // A perfect link loses nothing.
            guard self.links.otherCallers != FleetLinks.perfect else {
                return KeyedRandom(seed: self.random.seed)
            }
            return self.linkRandom(of: DeviceNumber(.max))
        }
        return self.linkRandom(of: device)
    }

    private mutating func linkRandom(of device: DeviceNumber) -> KeyedRandom {
        let ordinal = self.connectionsOf[device, default: 0]
        self.connectionsOf[device] = ordinal + 1
        return KeyedRandom(seed: self.random.draw(.link, UInt64(device.raw), ordinal))
    }

    /// A fault has done what it was armed for: it will not be armed for this scan again.
    mutating func faultConsumed(_ fault: Int, _ key: ExchangeKey) {
        self.planner?.fired(fault, key)
        if self.reportsRequests, let id = self.ofKey[key] {
            self.exchanges.update(id) { $0.request?.faults.append(fault) }
        }
    }

    /// A fault that was on its way met no request: it has not done what it was armed for.
    mutating func faultMissed(_ fault: Int, _ key: ExchangeKey) {
        self.planner?.missed(fault, key)
        if self.reportsRequests, let id = self.ofKey[key] {
            self.exchanges.update(id) { $0.request?.faults.removeAll { $0 == fault } }
        }
    }

    /// Whether a fault of the list acts on the exchanges that open now.
    func isOn(_ fault: Int) -> Bool { self.planner?.isOn(fault) ?? false }

    mutating func set(_ fault: Int, isOn: Bool) { self.planner?.set(fault, isOn: isOn) }

    func endsExchange(_ fault: Int) -> Bool { self.planner?.specs[fault].kind.has(.endsExchange) ?? false }

    /// Ends all faults and resets the links to the first link of each phone.
    mutating func endFaults() {
        self.planner = nil
        self.links = self.links.healed
    }

    mutating func faultFired(_ fault: Int, _ key: ExchangeKey, at now: Instant) {
        self.observe(
            Observation(
                at: now, device: key.device, scan: key.scan,
                what: .fault(.fired(fault: fault, key.operation, attempt: key.attempt))))
    }

    /// A fault cuts a stream behind so many events.
    mutating func faultPassed(_ events: Int, by fault: Int, _ key: ExchangeKey, at now: Instant) {
        self.observe(
            Observation(
                at: now, device: key.device, scan: key.scan,
                what: .fault(.passed(fault: fault, attempt: key.attempt, events: events))))
    }

    // MARK: Observations

    mutating func observe(_ payload: BackendObservation, _ caller: Caller, at now: Instant) {
        self.observe(Observation(at: now, device: caller.device, scan: caller.scan, what: .backend(payload)))
    }

    mutating func observe(_ observation: consuming Observation) {
        if !observation.isRoutine { self.callers.record(observation) }
        // Apart, for those that need no look into them, which is a copy.
        if case .fault = observation.side { self.countFiring(observation) }
        self.effects.append(.observe(observation))
    }

    private mutating func countFiring(_ observation: Observation) {
        guard case .fault(.fired(let fault, _, attempt: _)) = observation.what,
            self.firings.indices.contains(fault)
        else { return }
        self.firings[fault] = (self.firings[fault].count + 1, self.now)
    }
}
