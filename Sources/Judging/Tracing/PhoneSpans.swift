import Observations
import SimBase
import Talaria

/// The spans of one phone that are open.
struct PhoneSpans: Sendable {
    private struct OpenRequest: Sendable {
        let operation: Operation
        let attempt: UInt32
        let job: String?
        var span: Span
    }

    private struct OpenScan: Sendable {
        var span: Span
        /// The number of the last span that is not a request: the scan is 1.
        var lastOwn: UInt32 = 1
        var books: Int64 = 0
    }

    /// More are never open, unless ends are missing: the oldest is given up.
    private static let openMax = 1_024

    let device: DeviceNumber
    private var scans: [OpenScan] = []
    private var requests: [OpenRequest] = []

    init(device: DeviceNumber) { self.device = device }

    // MARK: Faults

    mutating func fired(_ fault: String, on request: (Operation, UInt32), of scan: ScanNumber) {
        for index in self.requests.indices
        where self.requests[index].span.scan == scan && self.requests[index].operation == request.0
            && self.requests[index].attempt == request.1
        {
            self.requests[index].span.fired(fault)
        }
        if let index = self.index(of: scan) { self.scans[index].span.fired(fault) }
    }

    /// A fault of the phone acts on all that it does.
    mutating func began(_ fault: String) {
        for index in self.scans.indices { self.scans[index].span.fired(fault) }
        for index in self.requests.indices { self.requests[index].span.fired(fault) }
    }

    // MARK: Observations

    /// Returns the number of spans that were given up.
    mutating func record(
        _ payload: PhoneObservation, of scan: ScanNumber, at now: Instant, _ cause: Cause?,
        _ settings: SpanSettings, _ finished: (Span) -> Void
    ) -> Int {
        switch payload {
        case .captured, .regionTaken, .photoPrepared, .bookAdded:
            self.recordScan(payload, of: scan, at: now, settings, finished)
        case .requestSent(let operation, let attempt, let job, _):
            self.sent(operation, attempt, job, of: scan, at: now, settings, finished)
        case .completed: self.endScan(scan, "completed", at: now, finished)
        case .refused(let code, let refusal):
            self.update(scan) {
                $0.span.add(.own("code", .text(Printable.bounded(code, bytesMax: 128))))
                $0.span.fail(refusal?.name ?? "refused", cause)
            }
            self.endScan(scan, "refused", at: now, finished)
        case .canceled: self.endScan(scan, "canceled", at: now, finished)
        case .killed, .reinstalled, .launched, .suspended, .resumed, .pathLost, .pathReturned, .pathChanged,
            .storageFilled, .storageFreed:
            self.recordPhone(payload, at: now, cause, finished)
        default: self.recordRequest(payload, of: scan, at: now, cause, finished)
        }
        return self.giveUpOldest()
    }

    /// What befalls the phone befalls all its scans.
    private mutating func recordPhone(
        _ payload: PhoneObservation, at now: Instant, _ cause: Cause?, _ finished: (Span) -> Void
    ) {
        for index in self.scans.indices { self.scans[index].span.note(payload, at: now) }
        switch payload {
        case .killed: self.endRequests(at: now, "killed", cause, finished) { _ in true }
        // Without a word to the server; a DELETE goes on.
        case .suspended: self.endRequests(at: now, "suspended", cause, finished) { !$0.operation.isDelete }
        case .reinstalled:
            for scan in self.scans.map(\.span.scan) { self.endScan(scan, "discarded", at: now, finished) }
        default: break
        }
    }

    private mutating func recordScan(
        _ payload: PhoneObservation, of scan: ScanNumber, at now: Instant, _ settings: SpanSettings,
        _ finished: (Span) -> Void
    ) {
        switch payload {
        case .captured(let scheduled):
            let index = self.open(scan, at: now, settings)
            self.scans[index].span.start = min(scheduled, self.scans[index].span.start)
        case .regionTaken(let capture, let number, let regions):
            let index = self.open(scan, at: now, settings)
            self.scans[index].span.add(.own("capture", .number(Int64(capture))))
            self.scans[index].span.add(.own("region", .number(Int64(number))))
            self.scans[index].span.add(.own("regions", .number(Int64(regions))))
        case .photoPrepared(let took?, let bytes):
            let index = self.open(scan, at: now, settings)
            self.scans[index].lastOwn += 1
            var span = Span(
                self.device, scan, id: TraceContext.span(ownNumber: self.scans[index].lastOwn), isRoot: false,
                "preprocess", .internal, from: now - took, settings.attributes(of: scan, on: self.device))
            span.add(.own("bytes", .number(Int64(bytes))))
            span.end = now
            finished(span)
        case .bookAdded: self.update(scan) { $0.books += 1 }
        default: break
        }
    }

    // MARK: Requests

    private mutating func sent(
        _ operation: Operation, _ attempt: UInt32, _ job: String?, of scan: ScanNumber, at now: Instant,
        _ settings: SpanSettings, _ finished: (Span) -> Void
    ) {
        if operation.isDelete {
            self.endRequests(at: now, "abandoned", nil, finished) { $0.operation.isDelete && $0.job == job }
        } else {
            // A scan that an earlier run has captured.
            if self.index(of: scan) == nil {
                let index = self.open(scan, at: now, settings)
                self.scans[index].span.add(.own("restored", .flag(true)))
            }
            self.endRequests(at: now, "abandoned", nil, finished) {
                $0.span.scan == scan && $0.operation == operation
            }
        }
        let span = Span(
            self.device, scan, id: TraceContext.span(operation, attempt), isRoot: false, operation.name,
            .client, from: now,
            settings.attributes(of: scan, on: self.device)
                + settings.attributes(of: operation, attempt: attempt, job: job, on: self.device))
        self.requests.append(OpenRequest(operation: operation, attempt: attempt, job: job, span: span))
    }

    private mutating func recordRequest(
        _ payload: PhoneObservation, of scan: ScanNumber, at now: Instant, _ cause: Cause?,
        _ finished: (Span) -> Void
    ) {
        switch payload {
        case .replied(let operation, let attempt, let status, _):
            guard let index = self.index(of: operation, attempt, scan) else { return }
            self.requests[index].span.add(.standard("http.response.status_code", .number(Int64(status))))
            // What its body says is in the events of the scan.
            guard PhoneObservation.isError(status: status) else { return }
            self.end(index, at: now, String(status), cause, finished)
        case .requestFailed(let operation, let attempt, let failure, _):
            guard let index = self.index(of: operation, attempt, scan) else { return }
            self.end(index, at: now, failure.rawValue, cause, finished)
        case .badAnswer(let operation, let attempt, let problem):
            guard let index = self.index(of: operation, attempt, scan) else { return }
            self.end(index, at: now, problem.rawValue, cause, finished)
        case .uploadAccepted(let job, _, _):
            self.update(scan) { $0.span.add(.own("job", .text(job))) }
            self.endAnswered(.upload, scan, .own("job", .text(job)), at: now, finished)
        case .lookupAnswered(let found, _, _, _):
            self.endAnswered(.upload, scan, .own("found", .flag(found)), at: now, finished)
        case .resultsDecoded(_, let books, _):
            self.endAnswered(.results, scan, .own("books", .number(Int64(books))), at: now, finished)
        case .statusDecoded(_, let status, _):
            self.endAnswered(.status, scan, .own("status", .text(status.rawValue)), at: now, finished)
        case .tokenExchanged:
            self.endRequests(at: now, nil, nil, finished) {
                $0.operation == .refresh && $0.span.scan == scan
            }
        case .cleanupAnswered(let job, _, _):
            self.endRequests(at: now, nil, nil, finished) { $0.operation.isDelete && $0.job == job }
        case .jobAbandoned(let job, let abandoned):
            self.noteScan(payload, of: scan, at: now)
            self.endRequests(at: now, abandoned.name, nil, finished) {
                $0.operation.isDelete && $0.job == job
            }
        default: self.recordStream(payload, of: scan, at: now, cause, finished)
        }
    }

    private mutating func recordStream(
        _ payload: PhoneObservation, of scan: ScanNumber, at now: Instant, _ cause: Cause?,
        _ finished: (Span) -> Void
    ) {
        let stream = self.requests.lastIndex { $0.operation == .stream && $0.span.scan == scan }
        switch payload {
        case .eventApplied, .eventIgnored:
            if let stream { self.requests[stream].span.note(payload, at: now) }
        case .jobFollowed(_, let transport):
            self.update(scan) { $0.span.add(.own("transport", .text(transport.rawValue))) }
        case .streamOpened(_, _, let after, _):
            guard let stream, let after else { return }
            self.requests[stream].span.add(.own("resumed_after", .text(after)))
        case .terminalApplied(_, let kind, _):
            guard let stream else { return }
            self.requests[stream].span.add(.own("terminal", .text(kind.rawValue)))
            self.end(stream, at: now, kind == .error ? "job-failed" : nil, cause, finished)
        case .streamLost(_, let attempt, let loss, _):
            self.noteScan(payload, of: scan, at: now)
            guard let index = self.index(of: .stream, attempt, scan) else { return }
            self.end(index, at: now, loss.rawValue, cause, finished)
        case .queued(let waiting):
            self.noteScan(payload, of: scan, at: now)
            self.endRequests(at: now, waiting.rawValue, cause, finished) {
                $0.span.scan == scan && !$0.operation.isDelete
            }
        case .photoRejected, .rateLimited, .found, .reconnected, .reconnectGivenUp, .reconnectSuperseded,
            .resultsGivenUp, .statusGivenUp, .cancelRequested, .bookPending, .booksNotFound, .readingKept,
            .photoInstead:
            self.noteScan(payload, of: scan, at: now)
        default: break
        }
    }

    /// Ends a request whose answer was read.
    private mutating func endAnswered(
        _ operation: Operation, _ scan: ScanNumber, _ attribute: SpanAttribute, at now: Instant,
        _ finished: (Span) -> Void
    ) {
        guard
            let index = self.requests.lastIndex(where: { $0.operation == operation && $0.span.scan == scan })
        else { return }
        self.requests[index].span.add(attribute)
        self.end(index, at: now, nil, nil, finished)
    }

    private mutating func endRequests(
        at now: Instant, _ error: String?, _ cause: Cause?, _ finished: (Span) -> Void,
        where ends: (OpenRequest) -> Bool
    ) {
        // Most often there are none.
        while let index = self.requests.firstIndex(where: ends) {
            self.end(index, at: now, error, cause, finished)
        }
    }

    private mutating func end(
        _ index: Int, at now: Instant, _ error: String?, _ cause: Cause?, _ finished: (Span) -> Void
    ) {
        var span = self.requests.remove(at: index).span
        if let error { span.fail(error, cause) }
        span.end = max(now, span.start)
        finished(span)
    }

    private func index(of operation: Operation, _ attempt: UInt32, _ scan: ScanNumber) -> Int? {
        self.requests.lastIndex {
            $0.attempt == attempt && $0.operation == operation && $0.span.scan == scan
        }
    }

    // MARK: Scans

    private func index(of scan: ScanNumber) -> Int? { self.scans.lastIndex { $0.span.scan == scan } }

    private mutating func update(_ scan: ScanNumber, _ change: (inout OpenScan) -> Void) {
        if let index = self.index(of: scan) { change(&self.scans[index]) }
    }

    private mutating func noteScan(_ payload: PhoneObservation, of scan: ScanNumber, at now: Instant) {
        self.update(scan) { $0.span.note(payload, at: now) }
    }

    private mutating func open(_ scan: ScanNumber, at now: Instant, _ settings: SpanSettings) -> Int {
        if let index = self.index(of: scan) { return index }
        let span = Span(
            self.device, scan, id: TraceContext.span(ownNumber: 1), isRoot: true, "scan", .internal,
            from: now,
            settings.attributes(of: scan, on: self.device))
        self.scans.append(OpenScan(span: span))
        return self.scans.count - 1
    }

    private mutating func endScan(
        _ scan: ScanNumber, _ outcome: String, at now: Instant, _ finished: (Span) -> Void
    ) {
        self.endRequests(at: now, outcome == "completed" ? nil : outcome, nil, finished) {
            $0.span.scan == scan && !$0.operation.isDelete
        }
        guard let index = self.index(of: scan) else { return }
        var open = self.scans.remove(at: index)
        open.span.add(.own("outcome", .text(outcome)))
        if open.books > 0 { open.span.add(.own("books", .number(open.books))) }
        open.span.end = max(now, open.span.start)
        finished(open.span)
    }

    // MARK: The end

    mutating func finish(at now: Instant, _ finished: (Span) -> Void) {
        for index in self.requests.indices {
            self.requests[index].span.add(.own("outcome", .text("unfinished")))
        }
        self.endRequests(at: now, nil, nil, finished) { _ in true }
        for scan in self.scans.map(\.span.scan) { self.endScan(scan, "unfinished", at: now, finished) }
    }

    /// Returns the number of spans that were open.
    mutating func forget() -> Int {
        defer { (self.scans, self.requests) = ([], []) }
        return self.scans.count + self.requests.count
    }

    private mutating func giveUpOldest() -> Int {
        var count = 0
        if self.scans.count > Self.openMax {
            self.scans.removeFirst()
            count += 1
        }
        if self.requests.count > Self.openMax {
            self.requests.removeFirst()
            count += 1
        }
        return count
    }
}
