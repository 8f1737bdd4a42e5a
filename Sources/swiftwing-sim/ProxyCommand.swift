import EventLoop
import Foundation
import Gateway
import LiveServer
import Observations
import Plan
import RunDriver
import RunJudge
import SimBase
import Talaria
import TargetTrial

/// `proxy`: the fault gateway in front of somebody else's backend, for other clients or, embedded, for a run of this
/// program.
enum ProxyCommand {
    static let command = Command(
        name: "proxy", usage: "[SCENARIO]",
        summary:
            "Injects the server and link faults of a scenario in front of a backend",
        options: [
            Option(
                name: "--upstream", value: "URL", help: "URL of the backend, with its base path (required)")
        ] + ServeCommand.options + [
            Option(
                name: Self.pathOption, value: "PATH=OPERATION", isRepeatable: true,
                help:
                    "give a path that is none of the API an operation, and so its faults: upload, stream, results, cleanup, status or cancel; '/events/*=stream', 'POST /photos=upload'"
            ),
            Option(
                name: "--browser", value: nil,
                help: "support browsers: let every origin read the responses (CORS)"),
            RecordingFile.option,
            Option(name: "--embedded", value: "NONCE", help: ""),
        ] + TargetOptions.options,
        positionalsMin: 0, positionalsMax: 1,
        example: "swiftwing-sim proxy --upstream http://127.0.0.1:8080 flaky-network.scenario",
        run: { try Self.run($0, $1) })

    private static let pathOption = "--path"

    /// The maximum time from the last byte of a request to the head of its response.
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
                origin: { plan, zero in
                    Self.origin(
                        upstream, connections, wallClockAtZero: zero,
                        trial: plan.scenario.trial.rules(
                            isOfOwnPhones: true, inGateway: true, host: upstream.host,
                            isLocal: upstream.isLoopback,
                            wallClockAtZero: zero))
                },
                tells: Self.tells)
        }
        let paths = try Self.paths(arguments)
        let plan = RunPlan(try ScenarioSource.served(arguments, console), target: .foreign)
        return try ServeCommand.standAlone(plan, arguments, console) {
            Self.origin(
                upstream, connections, paths, wallClockAtZero: $0,
                trial: plan.scenario.trial.rules(
                    isOfOwnPhones: false, inGateway: true, host: upstream.host, isLocal: upstream.isLoopback,
                    wallClockAtZero: $0))
        }
    }

    private static func paths(_ arguments: Arguments) throws -> PathMap {
        var paths = PathMap()
        for text in arguments.all(Self.pathOption) where !paths.add(text) {
            throw CommandFailure(
                .usage, "\(Self.pathOption) expects PATH=OPERATION, not '\(text)'",
                hint:
                    "for example \(Self.pathOption) '/events/*=stream' or \(Self.pathOption) 'POST /photos=upload'"
            )
        }
        return paths
    }

    /// What the ledger of a run hears of its gateway: what the faults do, and what the upstream does wrong.
    private static func tells(_ observation: Observation) -> Bool {
        switch observation.what {
        case .fault, .backend(.targetBroke), .backend(.targetTried), .backend(.targetProbed),
            .backend(.targetEvent):
            true
        case .backend(.found(let finding)): finding.part == TargetTrial.findingPart
        case .phone, .backend, .network, .control: false
        }
    }

    private static func origin(
        _ upstream: TargetURL, _ connections: Int, _ paths: PathMap = PathMap(), wallClockAtZero: Int64,
        trial: TrialRules?
    ) -> ServerOrigin {
        let path = URLComponents(string: upstream.base)?.percentEncodedPath ?? ""
        var gateway = GatewayConfiguration(
            basePath: path, replyTime: Self.replyTime, wallClockAtZero: wallClockAtZero)
        gateway.trial = trial
        gateway.paths = paths
        return .upstream(
            UpstreamConfiguration(
                base: upstream.base,
                target: upstream.curlTarget(connectTimeout: Self.connectTime),
                headers: upstream.headers,
                gateway: gateway,
                connectionsMax: connections))
    }
}
