internal import CSV
import JSON
internal import OriginServer
internal import SimBase
internal import Talaria

extension EnrichmentService {
    /// Asks for the body of a request, or refuses it by its head.
    mutating func requested(
        _ exchange: ExchangeID, _ request: OriginRequest, _ caller: Caller, at now: Instant,
        into effects: inout [OriginEffect]
    ) {
        self.now = max(self.now, now)
        guard request.method == "POST" else {
            return self.refuse(
                exchange, .methodNotAllowed, "This path does not take this method.",
                [HeaderField("Allow", "POST")],
                into: &effects)
        }
        guard request.contentType?.lowercased().hasPrefix("application/json") == true else {
            return self.refuse(
                exchange, .invalidRequest, "Content-Type must be application/json.", into: &effects)
        }
        guard (request.contentLength ?? 0) <= EnrichmentRequest.bodyBytesMax else {
            return self.refuse(exchange, .fileTooLarge, "The body is too large.", into: &effects)
        }
        guard self.pending.count < self.rules.pendingMax else {
            return self.refuse(
                exchange, .circuitOpen, "There are too many requests.", after: .seconds(60), into: &effects)
        }
        if let wait = self.wait(of: caller.device) {
            return self.refuse(
                exchange, .rateLimitExceeded, "Too many requests.", after: wait, into: &effects)
        }
        self.pending[exchange] = caller
        effects.append(.readUpload(exchange))
    }

    /// The body has come, as the one part of its exchange. Returns false if it is none of an enrichment.
    mutating func uploaded(
        _ exchange: ExchangeID, _ parts: [UploadPart], at now: Instant, into effects: inout [OriginEffect]
    ) -> Bool {
        guard let caller = self.pending[exchange] else { return false }
        self.pending[exchange] = nil
        self.now = max(self.now, now)
        do throws(EnrichmentRequest.Flaw) {
            let request = try EnrichmentRequest(parts.first?.prefix ?? [])
            guard let isbn = ISBN(request.barcode) else {
                self.refuse(exchange, .invalidRequest, "The barcode is not a valid ISBN.", into: &effects)
                return true
            }
            self.answer(exchange, request, isbn, caller, into: &effects)
        } catch {
            self.refuse(exchange, .invalidRequest, error.text, into: &effects)
        }
        return true
    }

    private mutating func answer(
        _ exchange: ExchangeID, _ request: EnrichmentRequest, _ isbn: ISBN, _ caller: Caller,
        into effects: inout [OriginEffect]
    ) {
        switch self.outcome(of: isbn, key: request.idempotencyKey, device: caller.device) {
        case .unknown: self.refuse(exchange, .notFound, "No provider has this book.", into: &effects)
        case .keyMismatch:
            self.refuse(
                exchange, .invalidRequest, "The idempotency key belongs to another book.", into: &effects)
        case .book(let book, let isRepeated):
            let body = V2Envelope.success(
                timestamp: self.wall, cached: isRepeated, source: request.preferredProvider ?? "auto"
            ) { writer in
                writer.member("author", book.author)
                writer.member("coverUrl", book.coverUrl)
                writer.member("isbn", book.isbn)
                writer.member("title", book.title)
                writer.member("vectorized", request.wantsVector)
            }
            let headers = self.identity(exchange) + [HeaderField("Content-Type", "application/json")]
            effects.append(.reply(exchange, OriginReply(status: 200, headers: headers, body: body)))
        }
    }

    /// Returns false if the body is none of an enrichment.
    mutating func uploadFailed(
        _ exchange: ExchangeID, _ fault: UploadFault, into effects: inout [OriginEffect]
    ) -> Bool {
        guard self.pending[exchange] != nil else { return false }
        self.pending[exchange] = nil
        switch fault {
        case .malformed, .tooManyParts:
            self.refuse(exchange, .invalidRequest, "The body cannot be read.", into: &effects)
        case .tooLarge: self.refuse(exchange, .fileTooLarge, "The body is too large.", into: &effects)
        case .timedOut: self.refuse(exchange, .timeout, "The body did not come in time.", into: &effects)
        }
        return true
    }

    private func identity(_ exchange: ExchangeID) -> [HeaderField] {
        [HeaderField(HeaderName.requestID, self.random.requestID(of: exchange))]
    }

    private func refuse(
        _ exchange: ExchangeID, _ code: V2ErrorCode, _ message: String, _ more: [HeaderField] = [],
        after wait: Interval? = nil, into effects: inout [OriginEffect]
    ) {
        effects.append(
            .reply(exchange, .v2(code, message, self.identity(exchange) + more, after: wait)))
    }
}
