import CurlLoop
package import Dashboard
import EventLoop
import Faults
import Foundation
import LivePhones
import Phone
import Plan
import RunJudge
package import SimBase
import SystemIO
import Talaria

/// The parameters of `run`.
package struct RunRequest {
    let options: RunOptions
    /// Nil: the embedded backend.
    let target: TargetURL?
    /// The salt of the phones' device ids; nil for the embedded backend.
    package var deviceSalt: DeviceSalt?
    /// Whether the salt was drawn for this run, so that its ids are new.
    package var hasNewDevices = true
    package var stateFolder: String?
    /// Nil: as suits the machine.
    package var threads: Int?
    /// The phones that run.
    package var shard = FleetShard.whole
    /// The start of the run in milliseconds since 1970; nil: as soon as everything is ready.
    package var startAt: Int64?
    /// Whether another process started this one as a shard, and orders its start.
    package var isLinked = false
    /// The address of the live dashboard; nil for none.
    package var dashboard: DashboardAddress?
    /// Whether the dashboard is served after the run, until it is closed.
    package var dashboardStays = false
    /// The file of the plan, whatever the verdict; nil for none.
    package var savesPlanTo: String?
    /// Set for the run of a worker, whose phones start and stop as its master says.
    package var worker: WorkerTerms?

    package init(_ options: RunOptions, target: TargetURL?) {
        self.options = options
        self.target = target
    }
}

/// Everything about a run that can be known, and can be wrong, before anything starts or is written.
package struct RunPreparation {
    let request: RunRequest
    let plan: RunPlan
    let expectedArrivals: ExpectedArrivals
    let photos: PhotoCorpus
    package let state: RunState
    /// Loop threads that the phones are shared out to.
    let threads: Int
    /// The number of open connections above which idle ones are closed.
    let socketsKept: Int
    /// Open already: a port that is taken must not be found out by a run that has begun.
    let dashboard: DashboardListener?
    /// How the target is spoken to, decided once; nil for the embedded backend.
    let http: SpokenHTTP?
    private(set) var remarks: [Remark] = []

    package init(_ request: RunRequest, painter: PhotoCorpus.Painter) throws {
        self.request = request
        let scenario = request.options.loaded.scenario
        self.plan = RunPlan(
            request.worker == nil ? scenario : scenario.endless,
            target: request.target == nil ? .embedded : .foreign, shard: request.shard)
        let phones = request.worker?.phonesMax ?? self.plan.phones
        try Self.requireClock()
        // What cannot be is said before the work of planning it.
        self.socketsKept = try Self.takeDescriptors(
            phones: phones,
            beside: request.dashboard == nil ? 0 : DashboardLimits.descriptors)
        self.dashboard = try request.dashboard.map { try RunPage.listen($0) }
        try RunInterruption.check()
        // How long a worker's phones will run is not known.
        self.expectedArrivals =
            request.worker == nil
            ? self.plan.expectedArrivals
            : ExpectedArrivals(scansByGroup: self.plan.groups.map { _ in 0 }, lastArrival: .zero)
        try RunInterruption.check()
        self.photos =
            try request.worker?.photos
            ?? PhotoCorpus(self.plan, scenarioPath: request.options.loaded.path, painter: painter)
        try RunInterruption.check()
        self.remarks = self.photos.problems.map { .start(.photoSkipped($0)) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        self.threads = min(
            request.threads ?? FleetThreads.count(phones: phones, cores: cores), phones)
        if let target = request.target {
            try target.requirePorts(phones: phones)
            self.http = try target.preflight(
                Self.curlTarget(self.plan, to: target),
                takesAnyError: self.plan.scenario.trial.takesAnyError)
        } else {
            self.http = nil
        }
        self.state = try RunState(request.stateFolder, threads: self.threads, self.plan)
        self.remarks += self.state.remarks
        var lost = LostRecords()
        for scan in self.state.lost { lost.add(scan.scan, of: scan.device) }
        self.remarks += [lost.remark(areBooksKnown: self.isEmbedded)].compactMap { $0 }
    }

    var isEmbedded: Bool { self.request.target == nil }

    /// Faults of server and link meet a foreign backend in a gateway before it.
    var hasGateway: Bool {
        !self.isEmbedded
            && self.plan.scenario.faults.contains {
                $0.kind.layer != .phone && !$0.kind.has(.isHandledByPhone)
            }
    }

    /// Returns the target for the run's own backend.
    func curlTarget(port: UInt16) -> CurlTarget {
        let address = "127.0.0.1"
        return CurlTarget(
            port: port, addresses: [address], certificateAuthorities: nil, version: .http1,
            connectTimeout: Self.patience(self.plan), sourceAddresses: Self.sources(self.plan, to: [address]))
    }

    func curlTarget(to target: TargetURL) -> CurlTarget {
        var decided = target
        decided.http = self.http
        return Self.curlTarget(self.plan, to: decided)
    }

    static func curlTarget(_ plan: RunPlan, to target: TargetURL) -> CurlTarget {
        let sources = target.sources.isEmpty ? Self.sources(plan, to: target.addresses) : target.sources
        return target.curlTarget(connectTimeout: Self.patience(plan), sourceAddresses: sources)
    }

    /// The longest that any group's phones wait for a connection: one pool serves them all.
    private static func requireClock() throws {
        guard let flaw = WallClock.flaw(of: WallClock.now()) else { return }
        throw CommandFailure(
            .impossible, "the clock of this machine shows \(flaw)",
            hint: "set the clock: times of the run are counted from 1970")
    }

    private static func patience(_ plan: RunPlan) -> Interval {
        plan.groups.map(\.profile.stream.connectTimeout).max() ?? .seconds(10)
    }

    /// More connections than this from one address to one other, and the kernel searches long for free ports.
    private static let phonesPerSourceMax = 10_000

    /// Linux answers for all of 127.0.0.0/8; elsewhere there is one loopback address.
    private static func sources(_ plan: RunPlan, to addresses: [String]) -> [String] {
        #if os(Linux)
            guard plan.phones > Self.phonesPerSourceMax,
                addresses.allSatisfy({ $0.hasPrefix("127.") })
            else { return [] }
            return (2...17).map { "127.0.0.\($0)" }
        #else
            return []
        #endif
    }

    /// Answers how many connections may be open before idle ones are closed.
    private static func takeDescriptors(phones: Int, beside: Int) throws -> Int {
        let needs = RunNeeds(phones: phones, phonesPerHandle: CurlPool.phonesPerMultiMax)
        let needed = needs.descriptorsLeast + beside
        let granted = try DescriptorLimit.raise(to: needs.descriptorsBest + beside)
        guard granted >= needed else {
            throw CommandFailure(
                .impossible,
                "\(phones) phones need \(needed) file descriptors, but the limit is \(granted)",
                hint: "raise the hard limit (ulimit -Hn), or use fewer phones with --phones")
        }
        return (granted - needs.descriptorsBeside - beside) / 5 * 4
    }
}
