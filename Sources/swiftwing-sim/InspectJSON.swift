import JSON
import Ledger
import Metrics
import Observations
import Reports
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// What `inspect` prints of a run for programs.
enum InspectJSON {
    /// The worst-affected phones, and how many there are.
    static func phones(_ run: PastRun, count: Int) -> [String: JSONValue] {
        let violators = run.result.violators
        let all = run.timeline.phones(named: violators.map(\.device), worst: .max)
        return [
            "count": .integer(all.count),
            "phones": .array(
                all.prefix(count).map { phone in
                    .object([
                        "device": .integer(phone.device.raw),
                        "group": Self.group(of: phone.device, run.head),
                        "violations": .integer(
                            violators.first { $0.device == phone.device }?.violations ?? 0),
                        "begun": .integer(phone.captured),
                        "completed": .integer(phone.completed),
                        "refused": .integer(phone.refused),
                        "canceled": .integer(phone.canceled),
                        "unfinished": .integer(phone.unsettled),
                        "streams_lost": .integer(phone.losses),
                        "gave_up": .integer(phone.gaveUp),
                        "errors": .integer(phone.errors),
                        "slowest_reconnect_ms": Self.milliseconds(phone.longestReconnect),
                        "slowest_scan_ms": Self.milliseconds(phone.longestScan),
                    ])
                }),
        ]
    }

    static func scans(
        _ scans: [SlowScans.Scan], count: Int, _ head: RunHead, end: Instant
    ) -> [String: JSONValue] {
        [
            "count": .integer(scans.count),
            "scans": .array(
                scans.prefix(count).map { scan in
                    .object([
                        "device": .integer(scan.device.raw),
                        "scan": .integer(scan.number.raw),
                        "group": Self.group(of: scan.device, head),
                        "time_ms": Self.milliseconds((scan.to ?? end) - scan.from),
                        "finished": .bool(scan.to != nil),
                        "spent_ms": .object(
                            Dictionary(
                                SlowTime.parts { scan.spent[$0] }.map {
                                    ($0.activity.rawValue, Self.milliseconds($0.time))
                                }, uniquingKeysWith: { first, _ in first })),
                        "last_event": .string(Printable.bounded(scan.last)),
                        "last_event_at_ms": Self.milliseconds(scan.lastAt - .zero),
                    ])
                }),
        ]
    }

    /// `books` is there only for a scan whose books were read by the phone or reviewed.
    static func story(
        _ story: ScanStory, _ device: DeviceNumber, _ scan: ScanNumber
    ) -> [String: JSONValue] {
        let books = story.books.map { ["books": JSONValue.string(Printable.bounded($0))] } ?? [:]
        return books.merging([
            "device": .integer(device.raw),
            "scan": .integer(scan.raw),
            "outcome": .string(story.outcome),
            "lines": .array(
                story.lines.map { line in
                    .object([
                        "at_ms": Self.milliseconds(line.at - .zero),
                        "gap_ms": line.gap.map(Self.milliseconds) ?? .null,
                        "side": .string(line.side),
                        "text": .string(Printable.bounded(line.text, bytesMax: 1_000)),
                        "mark": line.mark.map { .string(Self.word($0)) } ?? .null,
                    ])
                }),
        ]) { $1 }
    }

    /// The events of a phone, each as events.ndjson has it or would have it with --trace.
    static func events(_ lines: [JSONNode], of device: UInt32) -> [String: JSONValue] {
        ["device": .integer(device), "events": .array(lines.map(Self.value))]
    }

    // MARK: Values

    private static func word(_ mark: ScanStory.Mark) -> String {
        switch mark {
        case .silence: "silence"
        case .violation: "violation"
        }
    }

    private static func group(of device: DeviceNumber, _ head: RunHead) -> JSONValue {
        head.fleet.group(of: device).map { .string(Printable.bounded(head.groups[$0].name)) } ?? .null
    }

    private static func milliseconds(_ time: Interval) -> JSONValue {
        .number(Figures.milliseconds(time.nanoseconds))
    }

    private static func value(_ node: JSONNode) -> JSONValue {
        switch node.kind {
        case .null: .null
        case .bool: .bool(node.flag ?? false)
        case .number: .number(node.digits ?? "0")
        case .string: .string(node.text ?? "")
        case .array: .array(node.elements.map(Self.value))
        case .object:
            .object(
                Dictionary(
                    node.members.map { ($0.key, Self.value($0.value)) },
                    uniquingKeysWith: { first, _ in first }))
        }
    }
}
