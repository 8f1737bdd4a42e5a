import CurlLoop
import Device
import EventLoop
import Plan
import SimBase
import Talaria

/// What `run` is to do.
struct RunRequest {
    var loaded: LoadedScenario
    /// Nil: the embedded backend.
    var target: TargetURL?
    var stateFolder: String?
    var output: String?
    var isTraced: Bool
    var isQuiet: Bool
    /// The words that run it again, but for the seed.
    var command: [String]
}

/// Everything about a run that can be known, and can be wrong, before anything starts or is written.
struct RunPreparation {
    let request: RunRequest
    let plan: RunPlan
    let census: Census
    let photos: PhotoCorpus
    let state: RunState
    private(set) var warnings: [String] = []

    init(_ request: RunRequest) throws {
        self.request = request
        self.plan = RunPlan(request.loaded.scenario, target: request.target == nil ? .embedded : .foreign)
        self.census = self.plan.census
        self.photos = try PhotoCorpus(self.plan, scenarioPath: request.loaded.path)
        self.warnings = self.photos.problems
        try Self.checkDescriptors(phones: self.plan.devices)
        if let target = request.target {
            try Self.check(
                target, curl: Self.curlTarget(self.plan, port: target.port, addresses: target.addresses))
            if !self.plan.scenario.faults.isEmpty {
                self.warnings.append(
                    "faults of server and link are not applied to a --target: they are the simulated backend's"
                )
            }
        }
        self.state = try RunState(request.stateFolder)
    }

    var isEmbedded: Bool { self.request.target == nil }

    func curlTarget(port: UInt16, addresses: [String]) -> CurlTarget {
        Self.curlTarget(self.plan, port: port, addresses: addresses)
    }

    private static func curlTarget(_ plan: RunPlan, port: UInt16, addresses: [String]) -> CurlTarget {
        // The longest that any group's phones wait for a connection: one pool serves them all.
        let patience = plan.groups.map(\.profile.connectTimeout).max() ?? .seconds(10)
        return CurlTarget(
            port: port, addresses: addresses, certificateAuthorities: nil, version: .http1,
            connectTimeout: patience, sourceAddresses: [])
    }

    /// Each phone may hold five streams, an upload and an answer at once, but hardly ever does: what is asked for is two
    /// connections a phone, and what libcurl and the loop need.
    private static func checkDescriptors(phones: Int) throws {
        let needed = phones * 2 + 128
        let granted = try DescriptorLimit.raise(to: needed)
        guard granted >= needed else {
            throw CommandFailure(
                .impossible,
                "\(phones) phones need \(needed) descriptors, and this process may have \(granted)",
                hint: "raise the hard limit (ulimit -Hn), or run fewer phones with --devices")
        }
    }

    /// One request before any load, so that a dead target is found before phones run against it.
    private static func check(_ target: TargetURL, curl: CurlTarget) throws {
        let loop = try Loop(clock: .startingNow())
        if case .failure(let failure) = Preflight.ask(
            target.base + Endpoint.upload.path, target: curl, loop: loop)
        {
            throw CommandFailure(
                .unavailable, "the target \(target.base) does not answer: \(failure.text)",
                hint: "nothing was sent but this one request; is the backend running?")
        }
    }
}
