import CurlLoop
import EventLoop
import Faults
import Foundation
import Imaging
import Phone
import Plan
import RunArchive
import ScenarioFile
import SimBase

/// `plan`: what a run would do, without doing it.
enum PlanCommand {
    /// A fault that fires less often shows little.
    private static let firingsMin = 10

    static let command = Command(
        name: "plan", usage: "SCENARIO",
        summary: "Says what a run would do: fleet, captures, how often each fault fires, what it needs",
        options: ScenarioSource.options, positionalsMin: 1, positionalsMax: 1,
        example: "swiftwing-sim plan flaky-network.scenario --devices 400",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let loaded = try ScenarioSource.load(arguments.positionals[0], arguments)
        ScenarioSource.warn(loaded, console)
        let plan = RunPlan(loaded.scenario, target: .embedded)
        let census = plan.census
        // Painting takes long, and changes nothing of this.
        let photos = try PhotoCorpus(plan, scenarioPath: loaded.path) { shelves in
            shelves.map { SourcePhoto(name: $0.name, jpeg: [], size: $0.picture.size) }
        }
        let scenario = plan.scenario
        var lines = ["\(scenario.name) (\(loaded.path)), seed \(scenario.seed)"]
        if !scenario.description.isEmpty { lines.append(Printable.line(scenario.description)) }
        lines += [
            "", "fleet: \(Self.count(plan.devices, "phone")) in \(Self.count(plan.groups.count, "group"))",
        ]
        for (index, group) in plan.groups.enumerated() {
            lines += Self.lines(
                group, plan, scans: census.scansByGroup[index], photos.ranges[index].count,
                columns: console.tableColumns)
        }
        lines += ["", Self.captures(plan, census), Self.length(plan, census)]
        let (faults, warnings) = Self.faults(plan, columns: console.tableColumns)
        lines += faults
        let needs = RunNeeds(phones: plan.devices, phonesPerHandle: CurlPool.phonesPerMultiMax)
        let photoBytes = photos.photos.reduce(Int64(0)) { $0 + Self.bytes(of: $1) }
        let limits = try DescriptorLimit.current()
        lines += [
            "",
            "needs: \(needs.descriptorsLeast) descriptors, at best \(needs.descriptorsBest); a process here may have \(limits.hard)",
            "       about \(Self.mebibytes(needs.bytes + photoBytes)) MiB of memory for the phones, \(Self.mebibytes(photoBytes)) of it for \(Self.count(photos.photos.count, "photo"))",
        ]
        console.outFolded(lines.joined(separator: "\n"))
        for warning in warnings + photos.problems { console.error("warning: \(warning)") }
        guard needs.descriptorsLeast <= limits.hard else {
            throw CommandFailure(
                .impossible, "this machine gives no process \(needs.descriptorsLeast) descriptors",
                hint: "raise the hard limit (ulimit -Hn), or run fewer phones with --devices")
        }
        return .success
    }

    /// Of a photo that was not painted, about.
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
        let wanted = spec.devices * spec.scansPerDevice
        let product = "\(spec.devices) x \(spec.scansPerDevice) = \(wanted) scans"
        let total: String
        switch spec.load {
        case .open(let curve, _):
            let end = plan.scenario.duration.map { Instant.zero + $0 }
            let due = end.map { curve.count(before: $0) } ?? curve.total
            let schedule = due.map { "about \($0) by the schedule" } ?? "a schedule without an end"
            total = "\(scans) captures: the smaller of \(schedule) and \(product)"
        case .closed: total = "at most \(scans) captures: \(product), each after the one before"
        }
        return TextTable.lines(
            [
                [
                    spec.name,
                    "\(Self.count(spec.devices, "phone")), \(spec.profile.name), \(Self.count(photos, "photo"))",
                ],
                ["", "network: \(ScenarioWriter.text(spec.network))"],
                ["", ScenarioWriter.text(spec.load)],
                ["", total],
            ], indent: 2, columns: columns)
    }

    private static func captures(_ plan: RunPlan, _ census: Census) -> String {
        let isClosed = plan.groups.contains { plan.thinkTimes(of: $0) != nil }
        let last = Self.seconds(census.lastArrival - Instant.zero)
        guard census.scans > 0 else { return "captures: none" }
        return isClosed
            ? "captures: at most \(census.scans), the last not before \(last)"
            : "captures: \(census.scans), the last at \(last)"
    }

    private static func length(_ plan: RunPlan, _ census: Census) -> String {
        let scanTime = plan.groups.map { plan.scanTime(of: $0) }.max() ?? .zero
        let last = census.lastArrival - Instant.zero
        return
            "length: about \(Self.seconds(last + scanTime)) if nothing goes wrong; unfinished scans get \(Self.seconds(plan.scenario.drain)) after the last capture"
    }

    // MARK: Faults

    private static func faults(_ plan: RunPlan, columns: Int?) -> (lines: [String], warnings: [String]) {
        let specs = plan.scenario.faults
        guard !specs.isEmpty else { return (["", "faults: none"], []) }
        let firings = plan.expectedFirings
        let rows = zip(specs, firings).map { [$0.id, String($1), "\($0.kind.name) on \($0.place.rawValue)"] }
        let rare = zip(specs, firings).filter { $1 < Self.firingsMin }.map { spec, count in
            "\(spec.id) is expected to fire \(Self.count(count, "time")): fewer than \(Self.firingsMin) show little"
        }
        return (
            ["", "faults, and how often each is expected to fire:"]
                + TextTable.lines(
                    rows, indent: 2, columns: columns), rare
        )
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
