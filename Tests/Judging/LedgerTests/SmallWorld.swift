import Backend
import Faults
import Ledger
import Observations
import OriginServer
import Phone
import RunMetrics
import SimBase
import Talaria

/// The real phone and the real backend, put together in memory with a link that cuts, a path that goes away, and an app
/// that is killed: what they observe when they do their work is what the ledger must not mistake for a fault of theirs.
///
/// Just enough of a world for that; seeded and repeatable.
struct SmallWorld {
    struct Weather: Sendable {
        /// Chances of a piece of an answer, in percent.
        var reset: UInt64 = 0
        /// How often each phone is killed, and goes without a path.
        var kills = 0
        var outages = 0
        /// How often the app leaves the screen, the network changes, and the app is installed again.
        var aways = 0
        var handovers = 0
        var reinstalls = 0
        var faults: [FaultKind] = []
        /// Changes the observations on their way to the ledger, as a planted bug would; nil drops one.
        var plant: @Sendable (Observation) -> Observation? = { $0 }
    }

    private enum Happening: Sendable {
        case capture(ScanNumber)
        case kill, relaunch, pathLost, pathReturned, suspend, resume, handover, reinstall, wake
        case prepared(ScanNumber, process: Int)
        case stored(WriteID, process: Int)
        case asked(AppRequest, process: Int)
        case uploadRead(ExchangeID)
        case answer(ExchangeID, DeviceAnswer)
        case givenUp(ExchangeID)
        case backendWake
    }

    private enum DeviceAnswer: Sendable {
        case head(ReplyHead)
        case bytes([UInt8])
        case ended
    }

    private struct Exchange {
        var request: AppRequest
        var process: Int
        var isAlive = true
        var pieces: UInt64 = 0
    }

    static let length = Interval.seconds(120)
    private static let latency = Interval.milliseconds(20)
    private static let number = DeviceNumber(0)

    let shelf = Shelf(seed: 3, booksMin: 0, booksMax: 6)
    private let random: KeyedRandom
    private let weather: Weather
    private var backend: Backend
    private var phone: App
    private var process = 0
    private var isAlive = false
    private var hasPath = true
    private var store = DurableState()
    /// Written, and not acknowledged yet.
    private var unacknowledged: [(change: StoreChange, writeID: WriteID)] = []
    private var exchanges: [Exchange] = []
    private var agenda = EventHeap<Happening>()
    private var now = Instant.zero
    private(set) var observations: [Observation] = []
    private(set) var ledger: Ledger
    private(set) var tally = MetricsCollector(
        fleet: .ungrouped, faultIDs: ["fault-1", "fault-2"], hasBackendView: true)

    init(seed: UInt64, weather: Weather, configuration change: (inout BackendConfiguration) -> Void) {
        self.random = KeyedRandom(seed: seed)
        self.weather = weather
        var configuration = BackendConfiguration.contract
        configuration.jobTime = .seconds(1)...(.seconds(3))
        configuration.ping = .seconds(1)
        configuration.rateLimit = nil
        change(&configuration)
        self.backend = Backend(configuration: configuration, shelf: self.shelf, random: self.random)
        self.phone = Self.fresh(self.random)
        var settings = LedgerSettings.embedded
        settings.faultsThatChange = weather.faults.indices.filter { weather.faults[$0].has(.changesEvents) }
        self.ledger = Ledger(shelf: self.shelf, settings: settings)
    }

    private static func fresh(_ random: KeyedRandom) -> App {
        var profile = ClientProfile.contract
        profile.stream.idleTimeout = .milliseconds(2_500)
        return App(
            number: Self.number, identity: .draw(random, Self.number), profile: profile, random: random,
            run: 1, clockZero: 0, wallClockAtZero: 1_769_947_200_000)
    }

    private func moment(_ what: UInt64, _ index: Int) -> Instant {
        .zero + .milliseconds(1_000 + Int64(self.random.below(50_000, .test, what, UInt64(index))))
    }

    // MARK: The run

    mutating func run(scans: UInt32) {
        self.launch()
        for scan in 1...scans {
            self.agenda.insert(.capture(ScanNumber(scan)), at: self.moment(1, Int(scan)))
        }
        for index in 0..<self.weather.kills {
            let at = self.moment(2, index)
            self.agenda.insert(.kill, at: at)
            self.agenda.insert(.relaunch, at: at + .milliseconds(700))
        }
        for index in 0..<self.weather.outages {
            let at = self.moment(3, index)
            self.agenda.insert(.pathLost, at: at)
            self.agenda.insert(.pathReturned, at: at + .seconds(3))
        }
        for index in 0..<self.weather.aways {
            let at = self.moment(4, index)
            self.agenda.insert(.suspend, at: at)
            self.agenda.insert(.resume, at: at + .milliseconds(Int64(index) * 2_500))
        }
        for index in 0..<self.weather.handovers {
            self.agenda.insert(.handover, at: self.moment(5, index))
        }
        for index in 0..<self.weather.reinstalls {
            let at = self.moment(6, index)
            self.agenda.insert(.reinstall, at: at)
            self.agenda.insert(.relaunch, at: at + .milliseconds(700))
        }
        self.agenda.insert(.suspend, at: .zero + Self.length)
        let end = Instant.zero + Self.length + .seconds(60)
        while let (at, happening) = self.agenda.popDue(at: end) {
            self.now = max(self.now, at)
            self.happen(happening)
        }
        let waiting = self.store.scans.filter { !$0.completed && $0.refusal == nil }.map {
            WaitingRecord(
                device: Self.number, scan: ScanNumber($0.scan),
                cause: WaitingCause(rawValue: $0.cause) ?? .interrupted)
        }
        self.ledger.finish(waitingOnDisk: waiting, at: self.now)
        self.tally.finish()
    }

    private mutating func happen(_ happening: Happening) {
        switch happening {
        case .capture(let scan):
            guard self.isAlive else { return }
            self.handle(.captured(scan: scan, photo: PhotoReference(0), scheduled: self.now))
        case .kill: self.kill()
        case .relaunch: if !self.isAlive { self.launch() }
        case .pathLost:
            self.hasPath = false
            self.observe(.fault(.began(fault: 0)))
            if self.isAlive { self.handle(.pathLost) }
        case .pathReturned:
            self.hasPath = true
            self.observe(.fault(.ended(fault: 0)))
            if self.isAlive { self.handle(.pathReturned) }
        case .suspend: if self.isAlive { self.handle(.suspended) }
        case .resume: if self.isAlive { self.handle(.resumed) }
        case .handover:
            guard self.isAlive else { return }
            for index in self.exchanges.indices { self.cut(index, tellsPhone: false) }
            self.handle(.pathChanged(isAvailable: true))
        case .reinstall:
            self.kill()
            let discarded = self.store.scans.count { !$0.completed && $0.refusal == nil }
            self.observe(.phone(.reinstalled(discarded: discarded)))
            self.store = DurableState()
        case .wake: if self.isAlive { self.handle(.woke) }
        case .prepared(let scan, let process):
            guard process == self.process else { return }
            self.handle(.photoPrepared(scan: scan, bytes: 1_000, took: .milliseconds(30)))
        case .stored(let writeID, let process):
            guard process == self.process else { return }
            self.acknowledge(upTo: writeID)
            self.handle(.stored(writeID))
        case .asked(let request, let process): self.ask(request, process)
        case .uploadRead(let exchange):
            let photo = UploadPart(
                name: "photos[]", filename: "spine.jpg", contentType: "image/jpeg", bytes: 1_000,
                prefix: [0xFF, 0xD8, 0xFF, 0xE0])
            self.tellBackend(.uploaded(exchange, [photo]))
        case .answer(let exchange, let answer): self.answer(exchange, answer)
        case .givenUp(let exchange): self.tellBackend(.aborted(exchange))
        case .backendWake: self.tellBackend(.woke)
        }
    }

    // MARK: The phone

    private mutating func launch() {
        self.process += 1
        self.isAlive = true
        self.phone = Self.fresh(self.random)
        self.handle(.launched(restored: self.store.scans, pathAvailable: self.hasPath))
    }

    /// What was not acknowledged is lost from some point on, but nothing that was reported to the ledger.
    private mutating func kill() {
        guard self.isAlive else { return }
        self.observe(.phone(.killed))
        for record in self.store.scans {
            let kept = PhoneObservation.recordKept(
                job: record.job?.jobId, lastEventID: record.job?.lastEventID,
                decided: record.completed || record.refusal != nil)
            self.see(
                Observation(
                    at: self.now, device: Self.number, scan: ScanNumber(record.scan), what: .phone(kept)))
        }
        self.unacknowledged = []
        self.isAlive = false
        self.process += 1
        for index in self.exchanges.indices { self.cut(index, tellsPhone: false) }
    }

    private mutating func acknowledge(upTo writeID: WriteID) {
        let count = self.unacknowledged.prefix { $0.writeID <= writeID }.count
        for write in self.unacknowledged.prefix(count) { self.store.apply(write.change) }
        self.unacknowledged.removeFirst(count)
    }

    private mutating func handle(_ event: AppEvent) {
        var effects: [PhoneEffect] = []
        self.phone.handle(event, at: self.now, into: &effects)
        for case .app(let effect) in effects {
            switch effect {
            case .preparePhoto(let scan, _):
                self.agenda.insert(
                    .prepared(scan, process: self.process), at: self.now + .milliseconds(30))
            case .releasePhoto:
                break
            case .send(let request):
                self.agenda.insert(.asked(request, process: self.process), at: self.now + Self.latency)
            case .abort(let id):
                if let index = self.exchanges.lastIndex(where: {
                    $0.request.id == id && $0.process == self.process
                }) {
                    self.cut(index, tellsPhone: false)
                }
            case .store(let change, let writeID):
                self.unacknowledged.append((change, writeID))
                self.agenda.insert(
                    .stored(writeID, process: self.process), at: self.now + .milliseconds(4))
            case .observe(let observation):
                self.see(observation)
            }
        }
        if let wake = self.phone.nextWake { self.agenda.insert(.wake, at: max(wake, self.now)) }
    }

    // MARK: The link

    private mutating func ask(_ request: AppRequest, _ process: Int) {
        guard process == self.process, self.hasPath else { return }
        self.exchanges.append(Exchange(request: request, process: process))
        let exchange = ExchangeID(UInt64(self.exchanges.count - 1))
        let header = { (name: String) in request.headers.first { $0.name == name }?.value }
        guard let trace = header(TraceContext.headerName).flatMap(TraceContext.init(headerValue:)) else {
            return
        }
        let target = request.target.split(separator: "?", maxSplits: 1)
        let armed = self.weather.faults.enumerated().compactMap { (index, kind) -> ArmedFault? in
            let draw = self.random.draw(
                .test, UInt64(trace.scan.raw), UInt64(trace.attempt), UInt64(index))
            guard draw % 3 == 0 else { return nil }
            let trigger: ArmedTrigger =
                switch draw >> 32 % 3 {
                case 0: .atOnce
                case 1: .afterEvents(Int(draw >> 40 % 4))
                default: .afterTime(.milliseconds(Int64(draw % 900)))
                }
            return ArmedFault(fault: index, kind: kind, trigger: trigger, draw: draw)
        }
        self.tellBackend(
            .requested(
                exchange,
                OriginRequest(
                    method: request.method, path: String(target[0]),
                    query: target.count > 1 ? String(target[1]) : nil,
                    deviceID: header(HeaderName.deviceID), authorization: header(HeaderName.authorization),
                    accept: header("Accept"),
                    contentType: request.body == .none ? nil : "multipart/form-data; boundary=x",
                    contentLength: nil, lastEventID: header(HeaderName.lastEventID), authority: nil),
                Caller(device: trace.device, scan: trace.scan, attempt: trace.attempt),
                connection: exchange.raw, faults: armed))
    }

    private mutating func answer(_ exchange: ExchangeID, _ answer: DeviceAnswer) {
        let index = Int(exchange.raw)
        guard self.exchanges[index].isAlive, self.exchanges[index].process == self.process, self.hasPath
        else { return }
        self.exchanges[index].pieces += 1
        let draw = self.random.below(100, .test, 9, exchange.raw, self.exchanges[index].pieces)
        guard draw >= self.weather.reset else {
            self.cut(index, tellsPhone: true)
            return
        }
        let id = self.exchanges[index].request.id
        switch answer {
        case .head(let head): self.handle(.replyHead(id, head))
        case .bytes(let bytes): self.handle(.replyBytes(id, bytes[...]))
        case .ended:
            self.exchanges[index].isAlive = false
            self.handle(.replyEnded(id))
        }
    }

    private mutating func cut(_ index: Int, tellsPhone: Bool) {
        guard self.exchanges[index].isAlive else { return }
        self.exchanges[index].isAlive = false
        self.agenda.insert(.givenUp(ExchangeID(UInt64(index))), at: self.now + Self.latency)
        if tellsPhone { self.handle(.replyFailed(self.exchanges[index].request.id, .reset)) }
    }

    // MARK: The backend

    private mutating func tellBackend(_ event: OriginEvent) {
        var effects: [OriginEffect] = []
        self.backend.handle(event, at: self.now, into: &effects)
        let later = self.now + Self.latency
        for effect in effects {
            switch effect {
            case .readUpload(let exchange):
                self.agenda.insert(.uploadRead(exchange), at: self.now + .milliseconds(6))
            case .reply(let exchange, let reply):
                let head = ReplyHead(
                    status: reply.status, contentType: "application/json",
                    retryAfter: reply.headers.first { $0.name == HeaderName.retryAfter }?.value)
                self.agenda.insert(.answer(exchange, .head(head)), at: later)
                if !reply.body.isEmpty {
                    self.agenda.insert(.answer(exchange, .bytes(reply.body)), at: later)
                }
                self.agenda.insert(.answer(exchange, .ended), at: later)
            case .openStream(let exchange, _, _):
                let head = ReplyHead(status: 200, contentType: "text/event-stream", retryAfter: nil)
                self.agenda.insert(.answer(exchange, .head(head)), at: later)
            case .stream(let exchange, let bytes, _):
                self.agenda.insert(.answer(exchange, .bytes(bytes)), at: later)
            case .endStream(let exchange):
                self.agenda.insert(.answer(exchange, .ended), at: later)
            case .observe(let observation):
                self.see(observation)
            case .forward, .passHead, .passBody, .passEnd, .breakOff, .releaseUpstream, .upstreamFailed,
                .probe:
                break  // Effects of a gateway.
            }
        }
        if let wake = self.backend.nextWake { self.agenda.insert(.backendWake, at: max(wake, self.now)) }
    }

    // MARK: The ledger

    private mutating func observe(_ what: ObservationPayload) {
        self.see(Observation(at: self.now, device: Self.number, scan: .none, what: what))
    }

    private mutating func see(_ observation: Observation) {
        guard let observation = self.weather.plant(observation) else { return }
        self.observations.append(observation)
        self.ledger.record(observation)
        self.tally.record(observation)
    }
}
