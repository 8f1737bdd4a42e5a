package import Faults
import SimBase
import Talaria

/// A fault in words, for reports: what it does, where, and when. Values that a scenario need not write are left out.
package enum FaultSentence {
    /// `resets the connection (RST) (on a stream, after 1 event, inside a character of several bytes)`.
    package static func text(_ fault: FaultSpec) -> String {
        guard let entry = FaultTable.entry(fault.kind.name) else { return fault.kind.name }
        var parts = entry.targets.count > 1 ? ["on " + self.text(fault.target)] : []
        if let trigger = self.text(fault.trigger) { parts.append(trigger) }
        parts += self.values(of: fault, entry.fields)
        parts += self.times(of: fault)
        parts += self.limits(of: fault, entry)
        return self.summary(fault, entry) + (parts.isEmpty ? "" : " (" + parts.joined(separator: ", ") + ")")
    }

    /// What a fault of its kind does; in the documentation of some, the summary speaks of the key `for`.
    private static func summary(_ fault: FaultSpec, _ entry: FaultKindEntry) -> String {
        let again = fault.window.length.map { "after \(Units.text($0))" }
        if entry.id == .kill {
            return "kills the app"
                + (again.map { ", which is started again \($0)" }
                    ?? ", which stays closed until the faults end")
        }
        if entry.id == .handover {
            return "changes the network: connections die without being closed"
                + (again.map { ", and there is a new path \($0)" } ?? ", and there is no new path")
        }
        if entry.id == .reinstall {
            return "removes the app with all its data"
                + (again.map { ", and installs it again \($0) with a new device id" } ?? "")
        }
        return entry.summary
    }

    private static func tellsLength(_ kind: FaultKindID) -> Bool {
        kind == .kill || kind == .handover || kind == .reinstall
    }

    private static func values(of fault: FaultSpec, _ fields: [FaultField]) -> [String] {
        fault.kind.values.entries.compactMap { entry -> String? in
            let (name, value) = (entry.name, entry.value)
            if case .cut(let cut) = value { return self.text(cut) }
            let text = ScenarioWriter.text(value)
            let bare = text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
            let usual = fields.first { $0.name == name }?.defaultText
            guard usual != bare else { return nil }
            if name == "side" { return bare == "request" ? "while the request is sent" : "in the answer" }
            return "\(name) \(bare)"
        }
    }

    private static func times(of fault: FaultSpec) -> [String] {
        var parts: [String] = []
        let window = fault.window
        if window.at > .zero || fault.spread > .zero {
            parts.append(
                fault.spread > .zero
                    ? "starting between \(Units.text(window.at)) and \(Units.text(window.at + fault.spread))"
                    : "from \(Units.text(window.at)) on")
        }
        if let length = window.length, !self.tellsLength(fault.kind.id) {
            parts.append("for \(Units.text(length))")
        }
        return parts
    }

    private static func limits(of fault: FaultSpec, _ entry: FaultKindEntry) -> [String] {
        var parts: [String] = []
        if fault.chance != .always {
            parts.append("with a chance of \(Units.percent(Int64(fault.chance.perMillion)))")
        }
        if let usual = entry.defaultCount, fault.count != usual {
            switch fault.count {
            case .oncePerScan: parts.append("once per scan")
            case .eachAttempt: parts.append("at each attempt")
            case .perScan(let count): parts.append("up to \(count) times per scan")
            }
        }
        switch fault.scope {
        case .everyone: break
        case .share(let share): parts.append("for \(Units.percent(Int64(share.perMillion))) of the phones")
        case .group(let name): parts.append("for the group \(name)")
        case .phone(let number): parts.append("for phone \(number.raw)")
        }
        if let scan = fault.scan { parts.append("for scan \(scan) of a phone") }
        if let attempt = fault.attempt { parts.append("at attempt \(attempt)") }
        if let transport = fault.transport { parts.append("by \(transport.name)") }
        return parts
    }

    private static func text(_ target: FaultTarget) -> String {
        switch target {
        case .upload: "an upload"
        case .stream: "a stream"
        case .results: "a request for results"
        case .cleanup: "a DELETE"
        case .status: "a request for the status"
        case .refresh: "an exchange of a token"
        case .token: "the token of a job"
        case .link: "any request"
        case .app: "the app"
        }
    }

    private static func text(_ cut: Cut) -> String? {
        switch cut {
        case .betweenEvents: nil
        case .insideEvent: "inside an event"
        case .insideUTF8: "inside a character of several bytes"
        case .insideLineEnd: "inside a line end (between CR and LF)"
        case .afterBytes(let bytes): "\(bytes) bytes later"
        }
    }

    private static func text(_ trigger: FaultTrigger) -> String? {
        switch trigger {
        case .atOnce: nil
        case .afterTime(let range):
            range.lowerBound == range.upperBound
                ? "after \(Units.text(range))"
                : "after \(Units.text(range.lowerBound)) to \(Units.text(range.upperBound))"
        case .afterEvents(let range): "after \(self.counted(range, "event"))"
        case .afterBytes(let range): "after \(self.counted(range, "byte"))"
        case .afterRecords(let range): "after \(self.counted(range, "write")) of the app to its storage"
        case .afterStep(let step): "at the moment when " + step.text
        }
    }

    private static func counted(_ range: ClosedRange<Int>, _ noun: String) -> String {
        let isOne = range == 1...1
        let number =
            range.lowerBound == range.upperBound
            ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        return "\(number) \(noun)\(isOne ? "" : "s")"
    }
}
