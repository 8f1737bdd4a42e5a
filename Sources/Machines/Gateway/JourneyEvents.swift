internal import Faults
import JSON
internal import Talaria
internal import Wire

// What the gateway reads in the events of a foreign backend, and how it writes its own, by the journey of their job
// (Docs/contract.md sections 2.1 and 3.3).

extension Journey {
    /// Whether a block without an event is what comes instead of a ping.
    func isHeartbeat(_ block: [UInt8]) -> Bool {
        guard let heartbeat = self.version.heartbeat, block.first == UInt8(ascii: ":") else { return false }
        let text = block.dropFirst().drop { $0 == UInt8(ascii: " ") }
        let end = text.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.endIndex
        return text[..<end].elementsEqual(heartbeat.utf8)
            && text[end...].allSatisfy { $0 == 0x0A || $0 == 0x0D }
    }

    /// The name and the data of the event of a job that failed.
    ///
    /// - Parameters:
    ///   - subject: That of the names of its events, where they are dotted.
    ///   - progress: The data of the last progress event before it.
    func failure(
        _ error: ErrorData, job: String, _ subject: DottedEventName.Subject?, after progress: [UInt8]
    ) -> (name: String, data: [UInt8]) {
        guard self.version.failureHasProgress else { return (EventKind.error.rawValue, JSON.encode(error)) }
        switch subject {
        case nil:
            return (V2EventName.failed, error.nested(status: .failed, JobProgress(reading: progress)))
        case .photoscan?:
            return (DottedEventName.Subject.photoscan.failed, error.dottedScan(job: job, status: .failed))
        case .enrichment?:
            let last = JSONNode(progress)
            let data = error.dottedEnrichment(
                isbn: last?["isbn"]?.text ?? "", percent: last?["progress"]?.integer ?? 0, status: .failed)
            return (DottedEventName.Subject.enrichment.failed, data)
        }
    }

    /// Whether a progress event shows that a job is in this part of the work, or behind it.
    func hasReached(_ phase: ScanPhase, in event: SSEEvent) -> Bool {
        let status = JSONObjectText(event.bytes)?.text("status")
        let reached: ScanPhase
        switch self {
        case .scan:
            switch status.flatMap(ScanStage.init) {
            case .analyzingImage: reached = .analyzing
            case .identifyingBooks: reached = .identifying
            case .enrichingMetadata, .complete: reached = .enriching
            case nil: return false
            }
        case .bookshelfScan:
            guard status == JobStatus.processing.rawValue else { return false }
            reached = ScanPhase(thousandths: ProgressData.thousandths(in: event.bytes) ?? 0)
        case .batchEnrichment, .csvImport:
            // Nothing but the end is behind a part that a batch or an import does not have.
            return status == JobStatus.processing.rawValue && phase == .enriching
        case .bookEnrichment, .textEnrichment: return false  // They have no events.
        }
        let order = ScanPhase.allCases
        guard let here = order.firstIndex(of: reached), let there = order.firstIndex(of: phase) else {
            return false
        }
        return here >= there
    }
}

extension ScanPhase {
    /// The events of v2 do not name the part of the work. By the curve of section 2.6, the photos are analyzed at a tenth of it and
    /// identified at one half.
    fileprivate init(thousandths: Int) {
        self = thousandths > 500 ? .enriching : thousandths > 100 ? .identifying : .analyzing
    }
}
