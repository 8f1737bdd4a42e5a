package import JSON
import Metrics
package import RunArchive
import RunJudge
import RunMetrics
import SimBase
package import Talaria

/// One phone's timeline as text: a line for each observation in the log, by phone and backend.
package enum PhoneTimelineText {
    /// The limit of one field in UTF-8 bytes.
    private static let textBytesMax = 60

    /// The column in which the fields of a line begin.
    package static let fieldsColumn = 60

    /// Writes one line after the other and returns their number. `noun`: what the phone does.
    package static func write(
        device: UInt32, _ noun: WorkNoun, folder: String, style: TerminalStyle, _ write: (String) -> Void
    ) -> Int {
        var count = 0
        var last: Int64?
        Self.eachEvent(of: device, folder: folder) { fields, moment in
            write(Self.text(fields, noun, at: moment, since: last, style: style))
            last = moment
            count += 1
        }
        return count
    }

    /// The observations of the phone as the log has them.
    package static func events(device: UInt32, folder: String) -> [JSONNode] {
        var events: [JSONNode] = []
        Self.eachEvent(of: device, folder: folder) { fields, _ in events.append(fields) }
        return events
    }

    private static func eachEvent(
        of device: UInt32, folder: String, _ body: (_ fields: JSONNode, _ moment: Int64) -> Void
    ) {
        PhoneLog.eachLine(of: DeviceNumber(device), folder: folder) { line in
            guard let fields = JSONNode(Array(line)), let moment = fields["t"]?.integer(Int64.self) else {
                return
            }
            body(fields, moment)
        }
    }

    /// `   1.234s  +250ms  scan 2  phone    stream-lost  job=… cause=reset`.
    private static func text(
        _ fields: JSONNode, _ noun: WorkNoun, at moment: Int64, since last: Int64?, style: TerminalStyle
    ) -> String {
        let gap = last.map { "+" + Figures.time(max(0, moment - $0)) } ?? ""
        let scan = fields["scan"]?.integer.map { "\(noun.one) \($0)" } ?? ""
        // What a fault decides when a request begins: it acts only if the request gets that far.
        let armed = fields["what"]?.text == "decided" ? fields["fires"]?.flag : nil
        let shown = ["t", "device", "scan", "side", "what"] + (armed == nil ? [] : ["fires"])
        let rest = fields.members.filter { !shown.contains($0.key) }.compactMap { key, value -> String? in
            let (name, text) = Self.field(key, value)
            return text.map { "\(name)=\($0)" }
        }.joined(separator: " ")
        let columns = [
            Self.right(Figures.seconds(moment), 10) + "s", Self.right(gap, 8), Self.left(scan, 8),
            Self.left(fields["side"]?.text ?? "", 8),
            Self.left(
                armed.map { $0 ? "armed" : "not armed" } ?? fields["what"]?.text ?? "", 20),
        ]
        var line = columns.joined(separator: " ") + " " + rest
        while line.last == " " { line.removeLast() }
        let plain = Printable.line(line, bytesMax: 1_000)
        return style.isASCII ? Printable.ascii(plain) : plain
    }

    /// Words for the names of the log that do not say what they are. The others are shown without a change.
    private static let words = [
        "ahead": "clock-ahead", "by_peer": "closed-by-phone", "decided": "outcome-stored",
        "effective": "deleted", "first_byte": "first-byte", "gap": "since-last-ping",
        "inline": "books-in-event", "last_event_id": "Last-Event-ID", "latency": "after-emission",
        "replayed": "replay", "retry_after": "Retry-After", "scheduled": "due", "service": "after-sending",
    ]

    private static func field(_ key: String, _ value: JSONNode) -> (name: String, text: String?) {
        let isTime = value.kind == .number && key.hasSuffix("_ns")
        let name = isTime ? String(key.dropLast(3)) : key
        let text: String? =
            switch value.kind {
            case .null, .array, .object: nil
            case .bool: value.flag.map { $0 ? "yes" : "no" }
            case .number: isTime ? value.integer(Int64.self).map { Figures.time($0) } : value.digits
            case .string: value.text.map { Printable.line($0, bytesMax: Self.textBytesMax) }
            }
        return (Self.words[name] ?? name, text)
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    // MARK: The worst-affected phones

    /// Says how many of the phones `worst` has, and in which order: `PhoneSummary.hardship` has the weights.
    package static func order(_ run: PastRun, count: Int) -> String {
        let all = run.timeline.worstPhones(.max).count
        let shown = all > count ? "\(Figures.count(count)) of " : ""
        return
            "\(shown)\(Figures.count(all, "phone", "phones")) with problems, the worst first; the weights, from high to low: "
            + (run.result.violators.isEmpty ? "" : "broken invariants (of those that the report names), ")
            + "refused and unfinished scans, reconnects given up, kills, lost streams, errors, slow scans"
    }

    /// The worst-affected phones as rows of a table with a header.
    package static func worst(_ run: PastRun, count: Int) -> [[String]] {
        let violators = run.result.violators.prefix(count)
        let marks = run.timeline.phones(named: violators.map(\.device), worst: count).prefix(count)
        guard !marks.isEmpty else { return [] }
        let fleet = run.head.fleet
        let noun = run.result.noun
        let cancels = marks.contains { $0.canceled > 0 }
        let header =
            ["phone", "group"] + (violators.isEmpty ? [] : ["violations"]) + [
                noun.many, "completed", "refused",
            ] + (cancels ? ["canceled"] : []) + [
                "unfinished", "streams lost", "gave up", "errors", "slowest reconnect", "slowest \(noun.one)",
            ]
        return [header]
            + marks.map { mark in
                [
                    String(mark.device.raw),
                    fleet.group(of: mark.device).map {
                        Printable.line(run.head.groups[$0].name, bytesMax: 30)
                    } ?? "-",
                ]
                    + (violators.isEmpty
                        ? []
                        : [String(violators.first { $0.device == mark.device }?.violations ?? 0)])
                    + ([mark.captured, mark.completed, mark.refused] + (cancels ? [mark.canceled] : [])
                    + [mark.unsettled, mark.losses, mark.gaveUp, mark.errors]).map { String($0) }
                    + [mark.longestReconnect, mark.longestScan].map {
                        $0 > .zero ? Figures.time($0.nanoseconds) : "-"
                    }
            }
    }
}
