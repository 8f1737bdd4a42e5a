import Ledger
import Plan
import RunJudge
import SimBase

// What a plan of a live run says of that run.

extension PlanLoader {
    private static let keysOfLive = ["command", "phones-left-out", "faults-left-out", "failures"]
    private static let keysOfFailure = ["what", "device", "scan", "at", "text"]

    static func live(_ node: Node, _ findings: Findings) -> LiveRecord? {
        guard
            let map = MapReader(
                node, what: "a live run", keys: self.keysOfLive, planned: [], findings: findings),
            let command = map.required(
                "command", example: "swiftwing-sim run flaky-network",
                { text throws(ValueError) in try self.words(text) })
        else { return nil }
        var live = LiveRecord(command: command, failures: [])
        live.phonesLeftOut = self.count("phones-left-out", map)
        live.faultsLeftOut = self.count("faults-left-out", map)
        guard let list = map.entry("failures")?.value else { return live }
        guard case .list(let nodes) = list.content, nodes.count <= LiveRecord.failuresMax else {
            findings.add(
                list.location, "`failures` must be a list of at most \(LiveRecord.failuresMax) failures")
            return nil
        }
        live.failures = nodes.compactMap { self.failure($0, findings) }
        return live
    }

    private static func count(_ key: String, _ map: MapReader) -> Int {
        map.value(key, default: 0) { text throws(ValueError) in
            try Values.integer(text, 0...ScenarioLimit.scansMax, what: "`\(key)`")
        }
    }

    private static func failure(_ node: Node, _ findings: Findings) -> LiveRecord.Failure? {
        guard
            let map = MapReader(
                node, what: "a failure", keys: self.keysOfFailure, planned: [], findings: findings),
            let kind = map.required(
                "what", example: Invariant.streamNoGap.rawValue,
                { text throws(ValueError) in try self.kind(text) }),
            let at = map.required(
                "at", example: "12s",
                { text throws(ValueError) in try Values.duration(text, max: ScenarioLimit.timeMax) })
        else { return nil }
        let device = map.value("device") { text throws(ValueError) in
            DeviceNumber(
                UInt32(try Values.integer(text, 0...(ScenarioLimit.devicesMax - 1), what: "a phone")))
        }
        let scan = map.value("scan") { text throws(ValueError) in
            ScanNumber(UInt32(try Values.integer(text, 1...ScenarioLimit.scansMax, what: "a scan")))
        }
        return LiveRecord.Failure(
            kind, device: device, scan: scan ?? .none, at: .zero + at,
            text: map.value("text", default: "") { text throws(ValueError) in try self.words(text) })
    }

    private static func kind(_ text: String) throws(ValueError) -> LiveRecord.Failure.Kind {
        if text == LiveRecord.Failure.unfinished { return .unfinished }
        guard let invariant = Invariant(rawValue: text) else {
            throw ValueError(
                "\(Findings.quoted(text)) is no invariant",
                help: Values.didYouMean(text, Invariant.allCases.map(\.rawValue)))
        }
        return .broken(invariant)
    }
}
