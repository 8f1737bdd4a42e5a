import CurlLoop
import EventLoop
import Foundation
import Plan
import RunArchive
import RunDriver
import RunJudge
import SimBase

/// `plan --shards`: what a fleet in several processes needs, and how many machines of a kind.
enum FleetPlanOptions {
    static let options = [
        Option(
            name: "--shards", value: "N",
            help: "show what the fleet needs in N shards; 'auto' for as few as the file descriptors allow"),
        Option(
            name: "--cores", value: "N",
            help: "with --shards: processors of each machine (default: this machine's)"),
        Option(
            name: "--memory", value: "SIZE",
            help: "with --shards: memory of each machine, for example 32GiB (default: this machine's)"),
        Option(
            name: "--descriptors", value: "N",
            help: "with --shards: file descriptors that a process may have (default: this machine's limit)"),
        Option(
            name: "--foreign-target", value: nil,
            help: "with --shards: the target is another backend, so that no shard runs a simulated one"),
    ]

    private static let automatic = "auto"

    static func areGiven(_ arguments: Arguments) -> Bool { Self.options.contains { arguments.has($0.name) } }

    static func run(
        _ arguments: Arguments, _ loaded: LoadedScenario, _ console: Console
    ) throws -> ExitCode {
        guard arguments.has("--shards") else {
            let name = Self.options.first { arguments.has($0.name) }?.name ?? ""
            throw CommandFailure(.usage, "\(name) requires --shards", hint: "for example --shards auto")
        }
        let isForeign = arguments.has("--foreign-target")
        let plan = RunPlan(loaded.scenario, target: isForeign ? .foreign : .embedded)
        let shards =
            arguments["--shards"] == Self.automatic
            ? nil : try arguments.number("--shards", in: 1...FleetShard.countMax)
        let needs = FleetNeeds(
            plan, shards: shards, machine: try Self.machine(arguments), hasBackend: !isForeign,
            phonesPerHandle: CurlPool.phonesPerMultiMax)
        if needs.shards > 1 {
            try ShardOptions.check(loaded, shards: needs.shards, option: "--shards", isEmbedded: !isForeign)
        }
        if arguments.has("--json") {
            JSONOutput.print(Self.json(needs), console)
        } else {
            console.outFolded(Self.lines(needs, loaded).joined(separator: "\n"))
        }
        guard let objection = needs.objection else { return .success }
        throw CommandFailure(.impossible, objection, hint: "use more shards, or larger machines")
    }

    private static func machine(_ arguments: Arguments) throws -> MachineKind {
        let here = ProcessInfo.processInfo
        let bytes = try arguments["--memory"].map { text in
            guard let bytes = Self.bytes(text) else {
                throw CommandFailure(
                    .usage, "--memory expects a size such as 32GiB, not '\(text)'",
                    hint: "units: MiB, GiB, TiB")
            }
            return bytes
        }
        return MachineKind(
            cores: try arguments.number("--cores", in: 1...4_096) ?? here.activeProcessorCount,
            bytes: bytes ?? Int64(clamping: here.physicalMemory),
            descriptors: try arguments.number("--descriptors", in: 256...10_000_000)
                ?? DescriptorLimit.current().hard)
    }

    private static func bytes(_ text: String) -> Int64? {
        for (unit, shift) in [("MiB", Int64(20)), ("GiB", 30), ("TiB", 40)] where text.hasSuffix(unit) {
            guard let number = Int64(text.dropLast(unit.count)), (1...1_048_576).contains(number) else {
                return nil
            }
            return number << shift
        }
        return nil
    }

    // MARK: Text

    private static func lines(_ needs: FleetNeeds, _ loaded: LoadedScenario) -> [String] {
        let machine = needs.machine
        let rate = needs.journeysPerMillionSeconds
        let perMachine = needs.shardsPerMachine
        let phone = FleetNeeds.phoneBytes >> 10
        let process = FleetNeeds.processBytes >> 20
        let backend =
            needs.hasBackend
            ? "; with its backend \(FleetNeeds.backendPhoneBytes >> 10) KiB a phone and \(FleetNeeds.backendBytes >> 20) MiB more"
            : ""
        let micros =
            (FleetNeeds.journeyTime + (needs.hasBackend ? FleetNeeds.backendJourneyTime : .zero)).nanoseconds
            / 1_000
        var lines = [
            "\(loaded.scenario.name) (\(loaded.path)): \(needs.phones) phones",
            "machines: \(machine.cores) cores, \(machine.bytes >> 20) MiB, \(machine.descriptors) file descriptors a process",
            "",
            needs.isGiven
                ? "shards: \(needs.shards) (given); a process could have \(needs.phonesByDescriptors) phones"
                : "shards: \(needs.phones) phones / \(needs.phonesByDescriptors) a process = \(needs.shards)",
            "phones: \(needs.phones) / \(needs.shards) = at most \(needs.phonesPerShard) a shard",
            "descriptors: \(needs.phonesPerShard) streams, other requests and the rest of the process = \(needs.descriptorsPerShard) a shard",
            "memory: \(needs.phonesPerShard) phones x \(phone) KiB + \(process) MiB\(backend) = \(needs.bytesPerShard >> 20) MiB a shard, \(needs.bytes >> 20) MiB in all",
            "processors: \(Self.decimal(rate, 6)) journeys a second x \(micros) us = \(Self.decimal(needs.processorTime.nanoseconds, 9)) cores at the peak",
            "network: \(Self.decimal(rate, 6)) uploads a second x \(needs.uploadBytes / 1_000) KB = \(Self.decimal(needs.uploadBitsPerSecond, 6)) Mbit/s at the peak",
            "",
            "a machine: \(FleetNeeds.memoryPercent) % of its memory is enough for \(needs.shardsByMemory) shards, \(FleetNeeds.processorPercent) % of its processors for \(min(needs.shardsByProcessors, needs.shards))",
        ]
        if let machines = needs.machines {
            lines.append(
                "machines: \(needs.shards) shards / \(perMachine.count) = \(machines) (limit: \(perMachine.bound.rawValue))"
            )
        }
        return lines
    }

    private static func decimal(_ value: Int64, _ decimals: Int) -> String {
        var divisor: Int64 = 1
        for _ in 0..<(decimals - 1) { divisor *= 10 }
        let tenths = (value + divisor / 2) / divisor
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func json(_ needs: FleetNeeds) -> [String: JSONValue] {
        [
            "phones": .integer(needs.phones),
            "shards": .integer(needs.shards),
            "phones_per_shard": .integer(needs.phonesPerShard),
            "descriptors_per_shard": .integer(needs.descriptorsPerShard),
            "memory_bytes_per_shard": .integer(needs.bytesPerShard),
            "cpu_millicores_per_shard": .integer(
                (needs.processorTime.nanoseconds / Int64(needs.shards) + 999_999) / 1_000_000),
            "journeys_per_second": .number(Self.decimal(needs.journeysPerMillionSeconds, 6)),
            "upload_bits_per_second": .integer(needs.uploadBitsPerSecond),
            "shards_per_machine": .integer(needs.shardsPerMachine.count),
            "limited_by": .string(needs.shardsPerMachine.bound.rawValue),
            "machines": needs.machines.map { .integer($0) } ?? .null,
        ]
    }
}
