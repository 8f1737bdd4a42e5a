import CurlLoop
import EventLoop
import Faults
import Imaging
import Phone
import Plan
import RunArchive
import RunDriver
import RunJudge
import ScenarioFile
import SimBase
import Talaria

/// `plan`: what a run would do, without doing it.
enum PlanCommand {
    /// A fault that fires less often shows little.
    private static let firingsMin = 10

    static let command = Command(
        name: "plan", usage: "SCENARIO",
        summary: "Shows what a run would do: fleet, captures, expected faults and required resources",
        options: ScenarioSource.options + FleetPlanOptions.options + [
            UnjudgedWithTarget.option,
            Option(
                name: "--json", value: nil,
                help:
                    "print JSON: groups, seed, drain and the resolved scenario, or with --shards what the fleet needs"
            ),
        ], positionalsMin: 1, positionalsMax: 1,
        example: "swiftwing-sim plan flaky-network.scenario --phones 400",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        if FleetPlanOptions.areGiven(arguments) {
            return try FleetPlanOptions.run(arguments, loaded, console)
        }
        ScenarioSource.warn(loaded, console)
        if arguments.has("--json") {
            JSONOutput.print(Self.json(loaded.scenario), console)
            return .success
        }
        let plan = RunPlan(loaded.scenario, target: .embedded)
        let expectedArrivals = plan.expectedArrivals
        // Painting takes long, and changes nothing of this.
        let photos = try PhotoCorpus(plan, scenarioPath: loaded.path) { shelves in
            shelves.map { SourcePhoto(name: $0.name, jpeg: [], size: $0.picture.size) }
        }
        var lines = Self.heading(plan, path: loaded.path)
        for (index, group) in plan.groups.enumerated() {
            lines += Self.lines(
                group, plan, scans: expectedArrivals.scansByGroup[index], photos.ranges[index].count,
                columns: console.tableColumns)
        }
        lines += ["", Self.captures(plan, expectedArrivals), Self.length(plan, expectedArrivals)]
        let (faults, warnings) = Self.faults(plan, columns: console.tableColumns)
        lines += faults
        let needs = RunNeeds(phones: plan.devices, phonesPerHandle: CurlPool.phonesPerMultiMax)
        let limits = try DescriptorLimit.current()
        lines += [
            "",
            "needs: \(needs.descriptorsLeast) file descriptors (recommended: \(needs.descriptorsBest), limit: \(limits.hard))",
            Self.memory(needs, plan, photos),
            "       a port for each phone; a source address has \(SourceAddress.portCount) to a target on another machine (--source)",
        ]
        console.outFolded(lines.joined(separator: "\n"))
        let waits = PlanWarnings(
            plan, expectedArrivals, target: UnjudgedWithTarget.target(arguments)
        ).all
        for warning in warnings + waits + photos.problems { console.error("warning: \(warning)") }
        try Self.require(needs, descriptorsMax: limits.hard)
        return .success
    }

    /// Throws if the run needs more descriptors than the process can have.
    private static func require(_ needs: RunNeeds, descriptorsMax: Int) throws {
        guard needs.descriptorsLeast <= descriptorsMax else {
            throw CommandFailure(
                .impossible,
                "the run needs \(needs.descriptorsLeast) file descriptors, but the limit is \(descriptorsMax)",
                hint: "raise the hard limit (ulimit -Hn), or use fewer phones with --phones")
        }
    }

    private static func heading(_ plan: RunPlan, path: String) -> [String] {
        let scenario = plan.scenario
        var lines = ["\(scenario.name) (\(path)), seed \(scenario.seed)"]
        if !scenario.description.isEmpty { lines.append(Printable.line(scenario.description)) }
        lines += [
            "", "fleet: \(Self.count(plan.devices, "phone")) in \(Self.count(plan.groups.count, "group"))",
        ]
        return lines
    }

    private static func json(_ scenario: Scenario) -> [String: JSONValue] {
        [
            "tool": .string(ThisProgram.tool),
            "name": .string(scenario.name), "description": .string(scenario.description),
            "seed": .integer(scenario.seed),
            "drain_ms": .integer(scenario.drain.wholeMilliseconds),
            "groups": .array(
                scenario.groups.map { group in
                    .object([
                        "name": .string(group.name), "devices": .integer(group.devices),
                        "journey": .string(group.profile.journey.rawValue),
                    ])
                }),
            "resolved": .string(ScenarioWriter.resolved(scenario)),
        ]
    }

    /// The memory of the phones, with the photos of the groups that take any.
    private static func memory(_ needs: RunNeeds, _ plan: RunPlan, _ photos: PhotoCorpus) -> String {
        let indexes = zip(plan.groups, photos.ranges).reduce(into: Set<Int>()) { indexes, group in
            if group.0.profile.journey.takesPhotos { indexes.formUnion(group.1) }
        }
        let bytes = photos.photos.indices.filter { indexes.contains($0) }
            .reduce(Int64(0)) { $0 + Self.bytes(of: photos.photos[$1]) }
        let text = "       about \(Self.mebibytes(needs.bytes + bytes)) MiB of memory for the phones"
        guard !indexes.isEmpty else { return text }
        return "\(text), including \(Self.mebibytes(bytes)) MiB for \(Self.count(indexes.count, "photo"))"
    }

    /// Returns the approximate size of a photo that was not painted.
    private static func bytes(of photo: SourcePhoto) -> Int64 {
        let pixels = photo.size.width * photo.size.height
        return Int64(photo.jpeg.isEmpty ? pixels / Self.pixelsPerByte : photo.jpeg.count)
    }

    private static let pixelsPerByte = 4

    // MARK: Fleet

    private static func lines(
        _ group: PlannedGroup, _ plan: RunPlan, scans: Int, _ photos: Int, columns: Int?
    ) -> [String] {
        let spec = group.spec
        let noun = WorkNoun(spec.profile.journey)
        let wanted = "\(spec.scansPerDevice) \(noun.after(spec.scansPerDevice))"
        let things =
            spec.profile.journey.takesPhotos ? (scans == 1 ? "capture" : "captures") : noun.after(scans)
        let product = "\(Self.count(spec.devices, "phone")) x \(wanted)"
        let total: String
        switch spec.load {
        case .open(.stepped(let arrivals), _):
            total = "at most \(arrivals.stairs.total) \(things), if every step holds"
        case .open(let curve, _):
            let end = plan.scenario.duration.map { Instant.zero + $0 }
            let due = end.map { curve.count(before: $0) } ?? curve.total
            let schedule = due.map { "about \($0) in the schedule" } ?? "arrivals until all have begun"
            total = "\(scans) \(things) (\(product), \(schedule))"
        case .closed: total = "at most \(scans) \(things) (\(product), one after the other)"
        }
        var traits = [Self.count(spec.devices, "phone"), spec.profile.name]
        if spec.profile.journey != .scan { traits.append(spec.profile.journey.rawValue) }
        if spec.profile.journey.takesPhotos { traits.append(Self.count(photos, "photo")) }
        let files = spec.library.map { [["", "files: \(ScenarioWriter.text($0))"]] } ?? []
        let cancels =
            spec.profile.cancel.isMade
            ? [["", "canceled: \(ScenarioWriter.text(spec.profile.cancel))"]] : []
        return TextTable.lines(
            [
                [spec.name, traits.joined(separator: ", ")],
                ["", "network: \(ScenarioWriter.text(spec.network))"],
                ["", ScenarioWriter.text(spec.load)],
            ] + files + [["", total]] + cancels, indent: 2, columns: columns)
    }

    private static func captures(_ plan: RunPlan, _ expectedArrivals: ExpectedArrivals) -> String {
        let isClosed = plan.groups.contains { plan.thinkTimes(of: $0) != nil }
        let last = Self.seconds(expectedArrivals.lastArrival - Instant.zero)
        let things = Self.things(plan)
        guard expectedArrivals.scans > 0 else { return "\(things): none" }
        guard plan.scenario.steps == nil else {
            return "\(things): at most \(expectedArrivals.scans), if every step holds until \(last)"
        }
        return isClosed
            ? "\(things): at most \(expectedArrivals.scans), the last at \(last) or later"
            : "\(things): \(expectedArrivals.scans), the last at \(last)"
    }

    /// What the phones begin: `captures`, or the nouns of a fleet in which not everything begins with a photo.
    private static func things(_ plan: RunPlan) -> String {
        let journeys = plan.groups.map(\.profile.journey)
        return journeys.allSatisfy(\.hasPhotos) ? "captures" : WorkNoun(journeys).many
    }

    private static func length(_ plan: RunPlan, _ expectedArrivals: ExpectedArrivals) -> String {
        let scanTime = plan.groups.map { plan.scanTime(of: $0) }.max() ?? .zero
        let last = expectedArrivals.lastArrival - Instant.zero
        let journeys = plan.groups.map(\.profile.journey)
        let noun = WorkNoun(journeys)
        return
            "length: \(plan.scenario.steps == nil ? "about" : "at most about") \(Self.seconds(last + scanTime)) without failures; unfinished \(noun.many) get up to \(Self.seconds(plan.scenario.drain)) after the last \(journeys.allSatisfy(\.hasPhotos) ? "capture" : noun.one)"
    }

    // MARK: Faults

    private static func faults(_ plan: RunPlan, columns: Int?) -> (lines: [String], warnings: [String]) {
        let specs = plan.scenario.faults
        guard !specs.isEmpty else { return (["", "faults: none"], []) }
        let firings = plan.expectedFirings
        let rows = zip(specs, firings).map {
            [$0.id, String($1), "\($0.kind.name) on \($0.target.rawValue)"]
        }
        let rare = zip(specs, firings).filter { $1 < Self.firingsMin }.map { spec, count in
            "\(spec.id): \(Self.count(count, "firing")) drawn with seed \(plan.scenario.seed); fewer than \(Self.firingsMin) give little evidence"
        }
        let title =
            "faults, with the number of firings drawn with seed \(plan.scenario.seed) (first attempts only):"
        return (["", title] + TextTable.lines(rows, indent: 2, columns: columns), rare)
    }

    // MARK: Text

    private static func count(_ count: Int, _ thing: String) -> String {
        "\(count) \(thing)\(count == 1 ? "" : "s")"
    }

    private static func seconds(_ interval: Interval) -> String {
        let tenths = (interval.nanoseconds + 50_000_000) / 100_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }

    private static func mebibytes(_ bytes: Int64) -> Int64 { (bytes + (1 << 20) - 1) >> 20 }
}
