import CurlLoop
import EventLoop
import Foundation
import LocustRuns
import Plan
import RunDriver
import RunJudge
import ScenarioFile
import SimBase

/// `worker`: phones that a Locust master starts and stops.
enum WorkerCommand {
    static let command = Command(
        name: "worker", usage: "",
        summary:
            "Runs phones as a worker of a Locust master that was started with Distributed/locustfile.py",
        options: [
            Option(
                name: "--master", value: "HOST:PORT",
                help: "the Locust master; required (its default port is 5557)"),
            Option(
                name: "--output", value: "DIR",
                help: "write each test to a folder in this one (default: in Reports/)"),
            Option(
                name: "--phones", value: "N",
                help:
                    "phones that this worker may run at once (default: \(WorkerRequest.phonesMaxDefault), or as many as the descriptors allow)"
            ),
            Option(
                name: "--threads", value: "N", help: "share the phones out to N threads (default: by cores)"),
            Option(
                name: "--master-timeout", value: "D",
                help:
                    "stop the phones when the master has not answered for so long (default: \(WorkerRequest.masterSilenceDefault.nanoseconds / 1_000_000_000)s)"
            ),
        ] + TargetOptions.options + RunTags.options + [.noColor],
        positionalsMin: 0, positionalsMax: 0, example: "swiftwing-sim worker --master 127.0.0.1:5557",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let (host, port) = try Self.master(arguments)
        var request = WorkerRequest(
            host: host, port: port, command: ["swiftwing-sim", "worker"] + Self.words(arguments),
            target: { try TargetURL($0, option: "--host of the master", arguments) },
            painter: { try ParallelPainter.paint($0) })
        if let output = arguments["--output"] {
            guard !output.isEmpty else {
                throw CommandFailure(.usage, "--output needs the path of a folder")
            }
            request.output = output
        }
        request.threads = try arguments.number("--threads", in: 1...256)
        request.phonesMax =
            try arguments.number("--phones", in: 1...ScenarioLimit.devicesMax) ?? Self.phonesMax()
        if let time = try arguments.parsed("--master-timeout", OptionValues.duration) {
            // It answers once a second.
            guard time >= .seconds(3) else {
                throw CommandFailure(.usage, "--master-timeout must be at least 3s")
            }
            request.masterSilenceMax = time
        }
        request.tags = try RunTags.read(arguments)
        return try WorkerDriver(request, console: console).run()
    }

    private static func master(_ arguments: Arguments) throws -> (String, UInt16) {
        guard let text = arguments["--master"] else {
            throw CommandFailure(
                .usage, "'worker' requires --master HOST:PORT", hint: "for example: \(Self.command.example)")
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            port > 0
        else {
            throw CommandFailure(
                .usage, "--master expects HOST:PORT, not '\(text)'",
                hint: "for example --master 127.0.0.1:5557")
        }
        let host = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        // What ZeroMQ would read as something else.
        guard !host.isEmpty, !host.contains(where: { "/;* ".contains($0) }) else {
            throw CommandFailure(.usage, "--master expects HOST:PORT, not '\(text)'")
        }
        return (host, port)
    }

    private static func phonesMax() throws -> Int {
        let limits = try DescriptorLimit.current()
        let capacity = MachineCapacity(
            descriptors: limits.hard, ports: .max, bytes: .max, phonesPerHandle: CurlPool.phonesPerMultiMax)
        return max(1, min(WorkerRequest.phonesMaxDefault, capacity.phones))
    }

    private static func words(_ arguments: Arguments) -> [String] {
        arguments.words([
            "--master", "--output", "--phones", "--threads", "--master-timeout", "--cacert", "--http",
            "--source", "--allow-target",
        ]) + (arguments.has("--allow-production") ? ["--allow-production"] : [])
            + arguments.words(["--resolve", "--header", RunTags.name])
    }
}
