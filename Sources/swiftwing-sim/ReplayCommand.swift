import EventLoop
import RunDriver
import RunJudge
import ScenarioFile
import SimBase
import VirtualWorld

/// `replay`: repeats a saved virtual run bit for bit.
enum ReplayCommand {
    static let command = Command(
        name: "replay", usage: "PLAN",
        summary: "Replays a saved plan bit for bit; with --verify, compares the replays of two processes",
        options: [
            Option(
                name: "--verify", value: nil,
                help: "replay in two processes with different hash seeds; their digests must be equal"),
            Option(
                name: "--canary", value: nil,
                help: ""),
            Option(
                name: "--chain", value: nil,
                help: "print only the digest after every \(Chain.interval) events"),
            Option(
                name: "--events", value: "A..B",
                help: "print only these events and their effects"),
        ] + RunTags.options + OutputFolder.options + [
            .trace, .quiet, .noColor,
        ],
        positionalsMin: 1, positionalsMax: 1,
        example: "swiftwing-sim replay Scenarios/regressions/photo-asked-twice.plan.json",
        run: { try Self.run($0, $1) })

    /// Events between two looks at whether it is to end.
    private static let eventsPerLook = 4_096

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let path = arguments.positionals[0]
        // Also where nothing is reported: a tag that cannot be read is a mistake.
        _ = try RunTags.read(arguments)
        try PlanOptions.requirePlan(path)
        let (saved, bytes) = try PlanFiles.load(path)
        var plan = WorldPlan(saved)
        if arguments.has("--verify") {
            return try ReplayCheck(path: path, hasCanary: arguments.has("--canary"), console: console).run()
        }
        if arguments.has("--canary") { plan.injectNondeterminism() }
        if arguments.has("--chain") || arguments["--events"] != nil {
            return try Self.printChain(of: plan, events: Self.events(arguments), console)
        }
        try RunInterruption.check()
        return try PlanOptions.replay(saved, plan, bytes, arguments, console)
    }

    /// `A..B`, both ends included.
    private static func events(_ arguments: Arguments) throws -> Range<Int> {
        guard let text = arguments["--events"] else { return 0..<0 }
        let ends = text.split(separator: "..", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], 0 <= first, first <= last,
            last < Int.max
        else {
            throw CommandFailure(
                .usage, "--events expects a range of events such as 1024..2047, not '\(text)'")
        }
        return first..<last + 1
    }

    private static func printChain(
        of plan: WorldPlan, events: Range<Int>, _ console: Console
    ) throws -> ExitCode {
        var world = World(plan)
        world.tracedEvents = events
        do throws(WorldFailure) {
            while try world.steps(Self.eventsPerLook) {
                guard !Interruption.isRequested else { return .interrupted }
            }
        } catch {
            console.error("swiftwing-sim: \(error.text)\n\(error.lastEvents.joined(separator: "\n"))")
            return .internalError
        }
        if events.isEmpty {
            for (index, value) in world.chain.checkpoints.enumerated() {
                console.out("\((index + 1) * Chain.interval) \(Hexadecimal.text(value, digits: 16))")
            }
            console.out("\(world.chain.events) \(Hexadecimal.text(world.chain.value, digits: 16))")
        }
        for event in world.trace {
            let digest = Hexadecimal.text(event.digest, digits: 16)
            console.out(([String(event.number), digest, event.what] + event.effects).joined(separator: "\t"))
        }
        return .success
    }
}

extension WorldPlan {
    /// Injects nondeterminism on purpose: photos are swapped by the order of a set.
    mutating func injectNondeterminism() {
        let order = Array(Set(self.photoBytes.indices))
        self.photoBytes = order.map { self.photoBytes[$0] }
    }
}
