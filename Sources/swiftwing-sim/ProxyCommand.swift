import CurlLoop
import EventLoop
import Foundation
import Gateway
import LiveServer
import Observations
import Plan
import RunDriver
import SimBase

/// `proxy`: the fault gateway in front of somebody else's backend, for other clients or, embedded, for a run of this
/// program.
enum ProxyCommand {
    static let command = Command(
        name: "proxy", usage: "[SCENARIO]",
        summary:
            "Injects the server and link faults of a scenario in front of any backend",
        options: [
            Option(
                name: "--upstream", value: "URL", help: "URL of the backend, with its base path (required)"),
            Option(
                name: "--port", value: "N", help: "port to listen on (default: 0, which picks a free port)"),
            Option(
                name: "--host", value: "ADDRESS",
                help: "numeric address to listen on (default: 127.0.0.1)"),
            ServeCommand.allowHost,
            Option(
                name: "--seed", value: "N", help: "seed of every random decision (default: the scenario's)"),
            Option(
                name: "--set", value: "PATH=VALUE", isRepeatable: true,
                help: "override one value of the scenario"),
            Option(name: "--quiet", value: nil, help: "do not log requests"),
            Option(
                name: "--browser", value: nil,
                help: "support browsers: let every origin read the responses (CORS)"),
            RecordingFile.option,
            Option(name: "--embedded", value: "NONCE", help: ""),
        ] + TargetOptions.options,
        positionalsMin: 0, positionalsMax: 1,
        example: "swiftwing-sim proxy --upstream http://127.0.0.1:8080 flaky-network.scenario",
        run: { try Self.run($0, $1) })

    /// From the last byte of a request to the head of its answer.
    private static let replyTime = Interval.seconds(60)
    private static let connectTime = Interval.seconds(10)
    /// Each phone's connection has one to the upstream.
    private static let connectionsMax = 9_000
    /// Descriptors for everything else.
    private static let descriptorsBeside = 400

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        guard let url = arguments["--upstream"] else {
            throw CommandFailure(
                .usage, "'proxy' requires --upstream URL", hint: "for example: \(Self.command.example)")
        }
        let upstream = try TargetURL(url, option: "--upstream", arguments)
        let granted = try DescriptorLimit.raise(to: 2 * Self.connectionsMax + Self.descriptorsBeside)
        let connections = min(Self.connectionsMax, (granted - Self.descriptorsBeside) / 2)
        guard connections > 0 else {
            throw CommandFailure(
                .impossible, "the gateway needs more file descriptors than the limit of \(granted)"
            )
        }
        if let nonce = arguments["--embedded"] {
            // The backend's view is not there, and nothing of it may be half believed.
            return try ServeCommand.embedded(
                path: arguments.positionals.first ?? "", nonce: nonce,
                origin: { Self.origin(upstream, connections, wallClockAtZero: $1) },
                tells: { if case .fault = $0.what { true } else { false } })
        }
        let scenario = try ScenarioSource.served(arguments, console)
        let plan = RunPlan(try scenario ?? .servedByDefault(arguments), target: .foreign)
        let wall = WallClock.now() / 1_000_000
        var setup = LiveServerConfiguration(
            plan, host: arguments["--host"] ?? "127.0.0.1",
            port: try arguments.number("--port", in: 0...65_535) ?? 0,
            origin: Self.origin(upstream, connections, wallClockAtZero: wall), nonce: "stand-alone")
        setup.takeOptions(arguments, plan, wallClockAtZero: wall)
        let file = try RecordingFile(arguments, by: "proxy", began: wall, &setup)
        let exit = try ServeCommand.serve(setup, loop: try Loop(clock: .startingNow()), console)
        try file?.close()
        return exit
    }

    private static func origin(
        _ upstream: TargetURL, _ connections: Int, wallClockAtZero: Int64
    ) -> ServerOrigin {
        let path = URLComponents(string: upstream.base)?.percentEncodedPath ?? ""
        return .upstream(
            UpstreamConfiguration(
                base: upstream.base,
                target: CurlTarget(
                    port: upstream.port, addresses: upstream.addresses,
                    certificateAuthorities: upstream.certificateAuthorities,
                    version: upstream.isSecure ? .http2 : .http1, connectTimeout: Self.connectTime,
                    sourceAddresses: []),
                headers: upstream.headers,
                gateway: GatewayConfiguration(
                    basePath: path, replyTime: Self.replyTime, wallClockAtZero: wallClockAtZero),
                connectionsMax: connections))
    }
}
