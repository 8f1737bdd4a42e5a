import JSON
import RunJudge
import SimBase

/// The remarks of a shard as a line of `evidence.ndjson`, as values. Remarks that a merge computes from sums are left out.
enum RemarkCoding {
    /// A remark as a name with its integers and its texts.
    private typealias Form = (name: String, numbers: [Int64], texts: [String])

    static func write(_ remarks: [Remark], to line: inout JSONWriter) {
        line.array("remarks", remarks.compactMap(Self.form)) { line, form in
            line.object { line in
                line.member("name", form.name)
                line.array("numbers", form.numbers) { $0.integer($1) }
                line.array("texts", form.texts) { $0.text($1) }
            }
        }
    }

    /// Nil if one of them is not known.
    static func remarks(_ line: JSONNode) -> [Remark]? {
        let elements = line["remarks"]?.elements ?? []
        let remarks = elements.compactMap { node -> Remark? in
            Self.remark(
                node["name"]?.text ?? "",
                (node["numbers"]?.elements ?? []).compactMap { $0.integer(Int64.self) },
                (node["texts"]?.elements ?? []).compactMap(\.text))
        }
        return remarks.count == elements.count ? remarks : nil
    }

    private static func form(_ remark: Remark) -> Form? {
        switch remark {
        case .load(let remark): Self.form(remark)
        case .start(let remark): Self.form(remark)
        case .end(let remark): Self.form(remark)
        case .quoted(let kind, let text): ("quoted", [], [kind.rawValue, text])
        case .merge, .ofShard: nil
        }
    }

    private static func form(_ remark: LoadRemark) -> Form? {
        switch remark {
        case .timersLate(let process, let late): ("timers-late", [late], [process.rawValue])
        case .photosLate(let late): ("photos-late", [late], [])
        case .descriptorsExhausted(let count): ("descriptors-exhausted", [Int64(count)], [])
        case .resendsBlocked(let count): ("resends-blocked", [Int64(count)], [])
        case .devicesUsedBefore(let phones, let option): ("devices-used-before", [Int64(phones)], [option])
        case .capturesLate, .capturesHeldBack, .phonesHeldBack, .shutdownsTimedOut, .capturesDeferred,
            .capturesSkipped, .controlled, .capacityIsOfMachine, .stepTooShort:
            nil
        }
    }

    private static func form(_ remark: StartRemark) -> Form? {
        switch remark {
        case .photoSkipped(let text): ("photo-skipped", [], [text])
        case .photosRejected(let count): ("photos-rejected", [Int64(count)], [])
        case .stateShortfall(let text): ("state-shortfall", [], [text])
        case .stateOfOtherSeed(let seed, let run):
            ("state-of-other-seed", [Int64(bitPattern: seed), Int64(bitPattern: run)], [])
        case .stateWithoutManifest: ("state-without-manifest", [], [])
        case .stateLinesSkipped(let count): ("state-lines-skipped", [Int64(count)], [])
        case .stateWritesTorn(let count): ("state-writes-torn", [Int64(count)], [])
        case .recordsLost(let lost, let known):
            ("records-lost", [Int64(lost.more), known ? 1 : 0], lost.named)
        case .planOfLiveRun(let broke, let subject): ("plan-of-live-run", [], [broke, subject])
        }
    }

    private static func form(_ remark: EndRemark) -> Form? {
        switch remark {
        case .interruptedBeforeCaptures: ("interrupted-before-captures", [], [])
        case .endedWithoutReport: ("ended-without-report", [], [])
        case .worldFailed(let moment, let events): ("world-failed", [moment], events)
        case .notReproduced(let tool, let savedBy, let digest, let events):
            ("not-reproduced", [Int64(events)], [tool, savedBy, digest])
        case .linkNotUpdated(let link, let reason): ("link-not-updated", [], [link, reason])
        case .logFull(let bytes): ("log-full", [Int64(bytes)], [])
        case .eventsOmitted(let count): ("events-omitted", [Int64(count)], [])
        case .digest(let digest, let events): ("digest", [Int64(events)], [digest])
        case .phonesLeftOut(let count): ("phones-left-out", [Int64(count)], [])
        case .exported(let export):
            (
                "exported", [Int64(export.exported), Int64(export.dropped), export.hasMetrics ? 1 : 0],
                [export.url] + [export.trouble].compactMap { $0 }
            )
        case .judgedWhenMerged, .coverage, .regions: nil
        }
    }

    private static func remark(_ name: String, _ numbers: [Int64], _ texts: [String]) -> Remark? {
        let (number, text) = (numbers.first ?? 0, texts.first ?? "")
        let count = Int(clamping: number)
        switch (name, numbers.count, texts.count) {
        case ("quoted", 0, 2): return Remark.Kind(rawValue: text).map { .quoted($0, texts[1]) }
        case ("timers-late", 1, 1):
            return LoadRemark.TimedProcess(rawValue: text).map {
                .load(.timersLate($0, milliseconds: number))
            }
        case ("photos-late", 1, 0): return .load(.photosLate(milliseconds: number))
        case ("descriptors-exhausted", 1, 0): return .load(.descriptorsExhausted(connections: count))
        case ("resends-blocked", 1, 0): return .load(.resendsBlocked(count))
        case ("devices-used-before", 1, 1): return .load(.devicesUsedBefore(phones: count, option: text))
        case ("photo-skipped", 0, 1): return .start(.photoSkipped(text))
        case ("photos-rejected", 1, 0): return .start(.photosRejected(count))
        case ("state-shortfall", 0, 1): return .start(.stateShortfall(text))
        case ("state-of-other-seed", 2, 0):
            return .start(.stateOfOtherSeed(UInt64(bitPattern: number), run: UInt64(bitPattern: numbers[1])))
        case ("state-without-manifest", 0, 0): return .start(.stateWithoutManifest)
        case ("state-lines-skipped", 1, 0): return .start(.stateLinesSkipped(count))
        case ("state-writes-torn", 1, 0): return .start(.stateWritesTorn(count))
        case ("records-lost", 2, _):
            return .start(.recordsLost(LostRecords(texts, more: count), areBooksKnown: numbers[1] == 1))
        case ("plan-of-live-run", 0, 2): return .start(.planOfLiveRun(broke: text, subject: texts[1]))
        default: return Self.endRemark(name, numbers, texts).map { .end($0) }
        }
    }

    private static func endRemark(_ name: String, _ numbers: [Int64], _ texts: [String]) -> EndRemark? {
        let (number, text) = (numbers.first ?? 0, texts.first ?? "")
        let count = Int(clamping: number)
        return switch (name, numbers.count, texts.count) {
        case ("interrupted-before-captures", 0, 0): .interruptedBeforeCaptures
        case ("ended-without-report", 0, 0): .endedWithoutReport
        case ("world-failed", 1, _): .worldFailed(at: number, events: texts)
        case ("not-reproduced", 1, 3):
            .notReproduced(by: text, savedBy: texts[1], digest: texts[2], events: count)
        case ("link-not-updated", 0, 2): .linkNotUpdated(text, reason: texts[1])
        case ("log-full", 1, 0): .logFull(bytes: count)
        case ("events-omitted", 1, 0): .eventsOmitted(count)
        case ("digest", 1, 1): .digest(text, events: count)
        case ("phones-left-out", 1, 0): .phonesLeftOut(count)
        case ("exported", 3, 1...2): .exported(Self.export(numbers, texts))
        default: nil
        }
    }

    /// `numbers` has three, `texts` one or two.
    private static func export(_ numbers: [Int64], _ texts: [String]) -> ExportSummary {
        var export = ExportSummary(url: texts[0])
        export.exported = Int(clamping: numbers[0])
        export.dropped = Int(clamping: numbers[1])
        export.hasMetrics = numbers[2] == 1
        export.trouble = texts.dropFirst().first
        return export
    }
}
