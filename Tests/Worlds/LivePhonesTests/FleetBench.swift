import Backend
import CurlLoop
import EventLoop
import Faults
import Foundation
import HTTPServer
import Imaging
import Ledger
import LivePhones
import LiveServer
import Metrics
import Observations
import Phone
import Plan
import SimBase
import Talaria
import Testing

/// A whole fleet on its threads, and a server on the test's own loop.
final class FleetBench {
    let loop: Loop
    let plan: FleetPlan
    let run: RunPlan
    /// Those of the plan; with `phonesMax` those that can be opened.
    let phones: [FleetPlan.PhonePlan]
    let threads: Int
    private(set) var reports: [(thread: Int, observations: [Observation], upTo: Instant)] = []
    private(set) var gauges = FleetGauges()
    private(set) var closed: [FleetClosing] = []
    private(set) var outcome: FleetOutcome?
    private(set) var failedAt: Instant?
    /// What the phones connect to instead of the server, if anything.
    let front: HostileFront?
    private let server: SocketServer
    private let backendSaw: Log
    private var fleet: FleetThreads?

    private final class Log { var observations: [Observation] = [] }

    init(
        devices: Int, scans: Int = 1,
        load: LoadModel = .open(.constant(ArrivalRate(arrivals: 200, per: .seconds(1))), .uniform),
        threads: Int, state: String, jobTime: Interval = .milliseconds(30),
        network: Itinerary = .always(NamedLink(name: "perfect", profile: .perfect)),
        faults: [FaultSpec] = [], drain: Interval = .seconds(5), phonesMax: Int? = nil,
        journey: Journey = .scan,
        profile change: (Int, inout ClientProfile) -> Void = { _, _ in },
        front makeFront: (Loop, UInt16) throws -> HostileFront? = { _, _ in nil }
    ) throws {
        var settings = ServerSettings.contract
        settings.backend.jobTime = jobTime...jobTime
        var contract = ClientProfile.contract
        contract.journey = journey
        let group = FleetGroup(
            name: "all", devices: devices, profile: contract, idleTimeout: .automatic,
            network: network, scansPerDevice: scans,
            load: load, photos: .folder("none"), preprocess: .once)
        self.run = RunPlan(
            Scenario(
                name: "bench", description: "", seed: 3, groups: [group], server: settings, faults: faults,
                slos: [], drain: drain, duration: nil), target: .embedded)
        let clock = LoopClock.startingNow()
        self.loop = try Loop(clock: clock)
        self.threads = threads
        let wall: Int64 = 1_700_000_000_000
        let log = Log()
        self.backendSaw = log
        self.server = try SocketServer(
            LiveServerConfiguration(
                host: "127.0.0.1", port: 0,
                origin: .simulated(settings.configuration(wallClockAtZero: wall), self.run.shelf),
                random: self.run.random, faults: faults,
                links: FleetLinks(groups: []), nonce: "bench"), loop: self.loop
        ) { log.observations.append($0) }
        self.front = try makeFront(self.loop, try self.server.port())
        let port = try self.front?.port ?? self.server.port()
        let planner = self.run.faultDesk
        let profile = self.run.groups[0].profile
        let think = self.run.thinkTimes(of: self.run.groups[0])
        self.phones = (0..<devices).map { index in
            let number = DeviceNumber(UInt32(index))
            var profile = profile
            change(index, &profile)
            var phone = FleetPlan.PhonePlan(
                number: number, profile: profile, photos: 0..<1, preprocess: .once,
                faults: planner.phoneSchedule(device: number, group: "all"), think: think)
            phone.network = network
            return phone
        }
        var plan = FleetPlan(
            clock: clock, wallClockAtZero: wall, seed: 3, run: 9, phones: phonesMax == nil ? self.phones : [],
            arrivals: self.run.arrivals, lastArrival: self.run.expectedArrivals.lastArrival,
            photos: [try Self.photo()],
            target: CurlTarget(
                port: port, addresses: ["127.0.0.1"], certificateAuthorities: nil, version: .http1,
                connectTimeout: .seconds(5), sourceAddresses: []),
            base: "http://127.0.0.1:\(port)", stateFolder: state, socketsKept: 1_000, drain: drain)
        plan.shelf = self.run.shelf
        plan.faults = faults
        plan.phonesMax = phonesMax
        self.plan = plan
    }

    deinit { self.server.shutDown() }

    private static func photo() throws -> SourcePhoto {
        let bitmap = Bitmap(width: 64, height: 48, pixels: [UInt8](repeating: 90, count: 64 * 48 * 3))
        var encoder = JPEGEncoder()
        return SourcePhoto(
            name: "grey", jpeg: try encoder.encode(bitmap, quality: 85),
            size: PixelSize(width: 64, height: 48))
    }

    func start() throws {
        self.fleet = try FleetThreads(self.plan, threads: self.threads, loop: self.loop) {
            [unowned self] report in
            switch report {
            case .observations(let observations, let thread, let moment):
                self.reports.append((thread, observations, moment))
            case .gauges(let gauges): self.gauges = gauges
            case .closed(let phones): self.closed += phones
            case .failing(let moment): self.failedAt = moment
            case .finished(let outcome): self.outcome = outcome
            }
        }
    }

    func stop() { self.fleet?.stop() }
    func drain() { self.fleet?.drain() }
    func control(_ control: FleetControl) { self.fleet?.control(control) }
    func open(_ phones: [FleetPlan.PhonePlan]) { self.fleet?.open(phones) }
    func close(_ devices: [DeviceNumber]) { self.fleet?.close(devices) }

    /// Turns the loop until something holds, for at most this long; returns whether it held.
    func turn(until holds: () -> Bool, atMost time: Interval = .seconds(20)) -> Bool {
        let end = self.loop.now() + time
        let tick = LoopTimer(loop: self.loop) { _ in }
        while !holds() {
            guard self.loop.now() < end else { return false }
            tick.arm(after: .milliseconds(5))
            self.loop.runOnce()
        }
        return true
    }

    /// Runs to the end of the fleet.
    func finish(atMost time: Interval = .seconds(20)) throws -> FleetOutcome {
        let isOver = self.turn(until: { self.outcome != nil }, atMost: time)
        #expect(isOver, "the fleet came to its end")
        self.fleet?.join()
        return try #require(self.outcome)
    }

    /// What both sides saw, in one order, and what the ledger makes of it.
    func judge() throws -> (merged: [Observation], ledger: Ledger) {
        var merge = ObservationMerge(sources: self.threads + 1)
        for report in self.reports {
            for observation in report.observations { merge.add(observation, of: report.thread) }
            merge.mark(source: report.thread, upTo: report.upTo)
        }
        for observation in self.backendSaw.observations { merge.add(observation, of: self.threads) }
        merge.close(source: self.threads)
        var settings = LedgerSettings.embedded
        settings.fleet = PhoneGroups(
            groups: ["all"], groupOfDevice: Array(repeating: 0, count: self.phones.count))
        var ledger = Ledger(shelf: self.run.shelf, settings: settings)
        var merged: [Observation] = []
        while let observation = merge.next() {
            merged.append(observation)
            ledger.record(observation)
        }
        ledger.finish(waitingOnDisk: try self.waitingOnDisk(), at: self.loop.now())
        return (merged, ledger)
    }

    /// What fresh phones find in the state folder.
    private func waitingOnDisk() throws -> [WaitingRecord] {
        try StateFolder(path: self.plan.stateFolder).unsettled()
            .filter { !$0.scan.completed && $0.scan.refusal == nil }.map {
                WaitingRecord(
                    device: $0.device, scan: ScanNumber($0.scan.scan),
                    cause: WaitingCause(rawValue: $0.scan.cause) ?? .interrupted)
            }
    }
}
