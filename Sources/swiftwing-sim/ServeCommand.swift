import ClientTrial
import EventLoop
import Faults
import Foundation
import HTTPServer
import LiveServer
import Observations
import Plan
import RunDriver
import RunJudge
import ScenarioFile
import SimBase
import SystemIO
import Wire

/// `serve`: the simulated Talaria, for other clients or, embedded, for a run of this program.
enum ServeCommand {
    static let command = Command(
        name: "serve", usage: "[SCENARIO]",
        summary: "Runs the simulated backend (Talaria) for other clients, such as the app or curl",
        options: Self.options + [
            Option(
                name: "--browser", value: nil,
                help:
                    "support browsers: enable CORS, and accept ?token= because EventSource cannot send headers"
            ),
            RecordingFile.option,
            Option(
                name: "--replay", value: "FILE",
                help: "answer from a recording: the n-th upload gets the n-th recorded job"),
            // For `run` alone: the nonce; the scenario is a resolved one. Without a help text it is not listed.
            Option(name: "--embedded", value: "NONCE", help: ""),
        ],
        positionalsMin: 0, positionalsMax: 1, example: "swiftwing-sim serve --port 8080",
        run: { try Self.run($0, $1) })

    /// The options of every server.
    static let options =
        [
            Option(
                name: "--port", value: "N", help: "port to listen on (default: 0, which picks a free port)"),
            Option(
                name: "--host", value: "ADDRESS", help: "numeric address to listen on (default: 127.0.0.1)"),
            Option(
                name: "--allow-host", value: "NAME", isRepeatable: true,
                help:
                    "accept requests for this host name, in addition to addresses and private names; --tls certifies it"
            ),
            Option(
                name: "--network", value: "LINK",
                help: "link preset of clients that are not phones of the scenario (default: perfect)"),
        ] + ClientJudge.options + TLSOptions.options + [
            .seed, .set, .fault, Option(name: "--quiet", value: nil, help: "do not log requests"),
        ]

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        if let nonce = arguments["--embedded"] {
            return try Self.embedded(
                path: arguments.positionals.first ?? "", nonce: nonce,
                origin: { .simulated($0, wallClockAtZero: $1) }, tells: { _ in true })
        }
        if arguments["--replay"] != nil, let scenario = arguments.positionals.first {
            throw CommandFailure(
                .usage,
                "--replay cannot be combined with the scenario '\(scenario)': it answers only from the recording",
                hint: "run: swiftwing-sim serve --replay FILE")
        }
        let plan = RunPlan(try ScenarioSource.served(arguments, console), target: .embedded)
        try DescriptorLimit.raise(to: ServerLimits.connectionsMax + 64)
        return try Self.standAlone(plan, arguments, console) { wall in
            try arguments["--replay"].map {
                .recorded(try RecordingFile.read($0, console), wallClockAtZero: wall)
            } ?? .simulated(plan, wallClockAtZero: wall)
        }
    }

    // MARK: Stand-alone

    /// `origin` gets the milliseconds since 1970.
    static func standAlone(
        _ plan: RunPlan, _ arguments: Arguments, _ console: Console, origin: (Int64) throws -> ServerOrigin
    ) throws -> ExitCode {
        let wall = WallClock.now() / 1_000_000
        var setup = LiveServerConfiguration(
            plan, host: arguments["--host"] ?? "127.0.0.1",
            port: try arguments.number("--port", in: 0...65_535) ?? 0, origin: try origin(wall),
            nonce: "stand-alone")
        setup.takeOptions(arguments, plan, wallClockAtZero: wall)
        let judge = try ClientJudge(arguments)
        setup.clientWatch = try judge.watch(arguments, plan, wallClockAtZero: wall)
        setup.tls = try TLSOptions.context(arguments, host: setup.host, at: wall / 1_000, console)
        if let name = arguments["--network"] {
            guard let preset = LinkPreset.named(name) else {
                let names = LinkPreset.all.map(\.name).joined(separator: ", ")
                throw CommandFailure(
                    .usage, "unknown link '\(name)'", hint: "--network expects one of \(names)")
            }
            setup.links.otherCallers = .always(NamedLink(preset))
        }
        let file = try RecordingFile(arguments, by: arguments.command, began: wall, &setup)
        var report: ClientReport?
        let exit = try Self.serve(
            setup, about: Self.text(setup.origin, plan), loop: try Loop(clock: .startingNow()), console,
            atEnd: { report = $0.clientReport() })
        try file?.close()
        guard exit == .success, let report else { return exit }
        return judge.finish(report, wallClockAtZero: wall, console)
    }

    /// What answers.
    private static func text(_ origin: ServerOrigin, _ plan: RunPlan) -> String {
        switch origin {
        case .simulated where plan.scenario.groups.isEmpty:
            "simulated backend, seed \(plan.scenario.seed)"
        case .simulated:
            "simulated backend of the scenario \(Printable.line(plan.scenario.name)), seed \(plan.scenario.seed)"
        case .recorded: "answers from a recording"
        case .upstream: "answers of the backend behind it"
        }
    }

    /// Prints the address, and serves until the process is ordered to end.
    private static func serve(
        _ setup: LiveServerConfiguration, about: String, loop: Loop, _ console: Console,
        atEnd: (SocketServer) -> Void
    ) throws -> ExitCode {
        let (host, port) = (setup.host, setup.port)
        let server: SocketServer
        if let warning = setup.exposureWarning { console.error(warning) }
        do throws(SystemError) {
            let isLogged = setup.served != nil
            server = try SocketServer(setup, loop: loop) { if isLogged { RequestLog.write($0) } }
        } catch  where [EINVAL, EADDRNOTAVAIL].contains(error.code) {
            throw CommandFailure(
                .usage, "cannot listen on '\(host)'",
                hint: "--host expects a numeric address of this machine, such as 127.0.0.1")
        } catch {
            throw CommandFailure(
                .unavailable, "cannot listen on \(host) port \(port): \(error)",
                hint: "choose another port with --port N, or a free port with --port 0")
        }
        // Before the address is printed, since a reader of it may end the server.
        let signals = Signal.asking.map { loop.onSignal($0) { loop.stop() } }
        let scheme = setup.tls == nil ? "http" : "https"
        let address = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(try server.port())"
        console.out("listening \(address)")
        if setup.served != nil {
            console.error("\(about); state and faults on demand: \(address)/_sim; Ctrl-C stops it")
        }
        // A server whose address could not be printed is of no use; one whose reader has seen it and left is.
        guard StandardStream.output.failure == nil else { return .cannotWrite }
        withExtendedLifetime(signals) { loop.run() }
        atEnd(server)
        server.shutDown()
        return .success
    }

    // MARK: Embedded

    /// Prints `ready`, reads the start of the run, listens, prints the address, and serves until its parent
    /// ends. `origin` is called when the wall clock's milliseconds at the start are known.
    static func embedded(
        path: String, nonce: String, origin: (RunPlan, Int64) throws -> ServerOrigin,
        tells: @escaping (Observation) -> Bool
    ) throws -> ExitCode {
        let scenario = try LoadedScenario(path: path, overrides: [], environment: [:], for: .serve)
            .scenario
        StandardStream.output.write("ready\n")
        guard let line = readLine() else { return .success }
        let numbers = line.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 2 else {
            throw CommandFailure(.internalError, "invalid start time from the parent process: '\(line)'")
        }

        try DescriptorLimit.raise(to: ServerLimits.connectionsMax + 64)
        let loop = try Loop(clock: LoopClock(zero: numbers[0]))
        let pipe = try EmbeddedBackend(loop: loop) { loop.stop() }
        let plan = RunPlan(scenario, target: .embedded)
        let setup = LiveServerConfiguration(
            plan, host: "127.0.0.1", port: 0, origin: try origin(plan, numbers[1]), nonce: nonce)
        let server = try SocketServer(setup, loop: loop, observe: { if tells($0) { pipe.record($0) } })
        pipe.server = server
        let lifeline = try Lifeline(adopting: ChildDescriptor.lifeline, loop: loop) { loop.stop() }
        StandardStream.output.write("listening http://127.0.0.1:\(try server.port())\n")
        withExtendedLifetime(lifeline) { loop.run() }
        server.shutDown()
        pipe.finish()
        return .success
    }
}

extension ServerOrigin {
    static func simulated(_ plan: RunPlan, wallClockAtZero: Int64) -> ServerOrigin {
        .simulated(plan.scenario.server.configuration(wallClockAtZero: wallClockAtZero), plan.shelf)
    }
}

extension LiveServerConfiguration {
    /// Applies the options for interactive use.
    mutating func takeOptions(_ arguments: Arguments, _ plan: RunPlan, wallClockAtZero: Int64) {
        self.showsStatus = true
        // Who can reach the server from another machine may not control it.
        if IPAddress.isLoopback(self.host) {
            self.controlToken = Hexadecimal.text(UInt64.random(in: .min ... .max), digits: 16)
            self.faultsOnDemand = FaultsOnDemand.specs
        }
        self.isForBrowsers = arguments.has("--browser")
        self.crossSite = CrossSiteGuard(
            hosts: .privateOr(Set(arguments.all("--allow-host").map { $0.lowercased() })),
            pages: !self.isForBrowsers ? .none : self.hasSecret ? .ofAllowedHosts : .all)
        guard !arguments.has("--quiet") else { return }
        let log = RequestLog(
            faults: (plan.scenario.faults + self.faultsOnDemand).map(\.id), wallClockAtZero: wallClockAtZero,
            hasUpstream: self.upstream != nil)
        self.served = { log.write($0) }
        self.connectionFailed = { log.write($0) }
    }

    /// Whether it sends headers of its own to an upstream, which may hold a secret.
    private var hasSecret: Bool { self.upstream?.headers.isEmpty == false }

    private var upstream: UpstreamConfiguration? {
        if case .upstream(let upstream) = self.origin { upstream } else { nil }
    }

    /// The warning if other machines can connect; nil otherwise.
    var exposureWarning: String? {
        guard IPAddress.isNumeric(self.host), !IPAddress.isLoopback(self.host) else { return nil }
        let reach =
            "warning: listening on \(self.host): every client that can reach this machine can use this server"
        return self.hasSecret ? reach + " and sends the values of --header to the upstream" : reach
    }

    init(_ plan: RunPlan, host: String, port: UInt16, origin: ServerOrigin, nonce: String) {
        self.init(
            host: host, port: port, origin: origin, random: plan.random, faults: plan.scenario.faults,
            links: FleetLinks(
                groups: plan.groups.map {
                    .init(name: $0.spec.name, devices: $0.devices, link: $0.spec.network)
                }),
            nonce: nonce)
    }
}

extension Scenario {
    /// Returns the scenario of `serve` without a file: the contract's backend, no fleet and no faults, with
    /// the changes of the options.
    static func servedByDefault(_ arguments: Arguments) throws -> Scenario {
        // A scenario must have a fleet; this one is gone before anybody meets it.
        let text = "{scenario: 1, fleet: {nobody: {phones: 1, arrivals: 1/s}}}"
        var scenario = try ScenarioLoader.load(
            path: "serve", text: text, overrides: try ScenarioSource.overrides(arguments),
            environment: ProcessInfo.processInfo.environment)
        scenario.groups = []
        return scenario
    }
}
