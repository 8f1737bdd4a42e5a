import JSON
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

extension ImportService {
    /// Answers a request, or asks for the file that comes with it.
    mutating func requested(
        _ exchange: ExchangeID, _ endpoint: ImportEndpoint, _ request: OriginRequest, _ caller: Caller,
        into effects: inout [OriginEffect]
    ) {
        guard endpoint.methods.contains(request.method) else {
            let allow = HeaderField("Allow", endpoint.methods.joined(separator: ", "))
            return self.refuse(
                exchange, .methodNotAllowed, "This path does not take this method.", [allow], into: &effects)
        }
        switch endpoint {
        case .upload: self.uploadRequested(exchange, request, caller, into: &effects)
        case .job(let id): self.statusRequested(exchange, id, into: &effects)
        case .stream(let id):
            guard let key = self.key(id) else { return self.refuseUnknown(exchange, into: &effects) }
            let headers =
                [HeaderField("Content-Type", "text/event-stream"), HeaderField("Cache-Control", "no-cache")]
                + self.identity(exchange)
            self.openStream(exchange, key, lastEventID: request.lastEventID, headers, into: &effects)
        case .results(let id): self.resultsRequested(exchange, id, into: &effects)
        case .cancel(let id), .cancelByPost(let id):
            self.cancelRequested(exchange, id, request, into: &effects)
        }
    }

    // MARK: Upload

    private mutating func uploadRequested(
        _ exchange: ExchangeID, _ request: OriginRequest, _ caller: Caller,
        into effects: inout [OriginEffect]
    ) {
        guard let type = request.contentType, (try? MultipartReader.boundary(contentType: type)) != nil else {
            return self.refuse(
                exchange, .invalidRequest, "Content-Type must be multipart/form-data with a boundary.",
                into: &effects)
        }
        guard (request.contentLength ?? 0) <= ImportLimits.bodyBytesMax else {
            return self.refuse(
                exchange, .fileTooLarge, "The file is larger than \(ImportLimits.fileBytesMax) bytes.",
                into: &effects)
        }
        guard self.files.count < self.rules.filesMax, self.jobs.count + self.files.count < self.rules.jobsMax
        else {
            return self.refuse(
                exchange, .circuitOpen, "There are too many imports.", after: .seconds(60), into: &effects)
        }
        if let wait = self.wait(of: caller.device) {
            return self.refuse(
                exchange, .rateLimitExceeded, "Too many imports.", after: wait, into: &effects)
        }
        self.files[exchange] = PendingFile(caller: caller)
        effects.append(.readUpload(exchange))
    }

    /// The body of an upload has come. Returns false if it is none of an import.
    mutating func uploaded(
        _ exchange: ExchangeID, _ parts: [UploadPart], into effects: inout [OriginEffect]
    ) -> Bool {
        guard let file = self.files[exchange] else { return false }
        self.files[exchange] = nil
        let named = parts.filter { $0.name == ImportLimits.part }
        guard let part = named.first, named.count == 1 else {
            self.refuse(
                exchange, .invalidRequest, "The upload must have one part \(ImportLimits.part).",
                into: &effects)
            return true
        }
        guard part.bytes <= ImportLimits.fileBytesMax, part.prefix.count == part.bytes else {
            self.refuse(
                exchange, .fileTooLarge, "The file is larger than \(ImportLimits.fileBytesMax) bytes.",
                into: &effects)
            return true
        }
        let (_, job) = self.accept(part.prefix, file.caller)
        self.reply(exchange, 202, into: &effects) { writer in
            writer.member("authToken", job.token.secret.text)
            writer.member("jobId", job.id)
            writer.member("sseUrl", ImportEndpoint.stream(id: job.id).path)
            writer.member("statusUrl", ImportEndpoint.job(id: job.id).path)
            writer.member("token", job.token.secret.text)
        }
        return true
    }

    /// Returns false if the upload is none of an import.
    mutating func uploadFailed(
        _ exchange: ExchangeID, _ fault: UploadFault, into effects: inout [OriginEffect]
    ) -> Bool {
        guard self.files[exchange] != nil else { return false }
        self.files[exchange] = nil
        switch fault {
        case .malformed:
            self.refuse(exchange, .invalidRequest, "The body is not multipart/form-data.", into: &effects)
        case .tooLarge:
            self.refuse(
                exchange, .fileTooLarge, "The file is larger than \(ImportLimits.fileBytesMax) bytes.",
                into: &effects)
        case .timedOut: self.refuse(exchange, .timeout, "The body did not come in time.", into: &effects)
        }
        return true
    }

    mutating func aborted(_ exchange: ExchangeID) {
        self.files[exchange] = nil
        self.forget(exchange)
    }

    // MARK: Status, results, cancel

    private mutating func statusRequested(
        _ exchange: ExchangeID, _ id: String, into effects: inout [OriginEffect]
    ) {
        guard let key = self.key(id) else { return self.refuseUnknown(exchange, into: &effects) }
        let (quota, now) = (self.rules.polls, self.now)
        if let wait = self.jobs.update(key, { $0.polls.wait(quota, at: now) }) ?? nil {
            return self.refuse(
                exchange, .rateLimitExceeded, "Too many requests for this status.", after: wait,
                into: &effects)
        }
        self.process(key)
        guard let job = self.jobs[key] else { return }
        self.reply(exchange, 200, into: &effects) { writer in
            writer.member("jobId", job.id)
            writer.member("processedCount", job.account.processed)
            writer.member("progress", thousandths: job.progressThousandths)
            writer.member("status", job.status)
            writer.member("totalCount", job.account.total)
        }
    }

    /// Docs/contract.md section 3.2: what became of each row. Only a job that has completed has results. Of a canceled one the status
    /// says how many rows were taken before.
    private mutating func resultsRequested(
        _ exchange: ExchangeID, _ id: String, into effects: inout [OriginEffect]
    ) {
        guard let key = self.key(id), let job = self.jobs[key] else {
            return self.refuseUnknown(exchange, into: &effects)
        }
        switch job.phase {
        case .completed: break
        case .processing, .failed, .canceled:
            return self.refuse(exchange, .notFound, "The import has no results.", into: &effects)
        }
        let account = job.account
        self.reply(exchange, 200, into: &effects) { writer in
            writer.member("booksCreated", account.created)
            writer.member("booksUpdated", account.updated)
            writer.member("duplicatesSkipped", account.skipped)
            writer.member("enrichmentFailed", account.failed)
            writer.member("enrichmentSucceeded", account.succeeded)
            writer.array("errors", account.errors) { writer, error in
                writer.object { writer in
                    writer.member("error", error.text)
                    writer.member("isbn", error.isbn)
                    writer.member("row", error.row)
                }
            }
            writer.member("totalCount", account.total)
        }
    }

    /// A job that is over stays as it is: the answer is the same, however often it is asked for.
    private mutating func cancelRequested(
        _ exchange: ExchangeID, _ id: String, _ request: OriginRequest, into effects: inout [OriginEffect]
    ) {
        let bearer = Bearer(authorization: request.authorization)
        guard bearer != .missing else {
            return self.refuse(exchange, .unauthorized, "A bearer token is required.", into: &effects)
        }
        guard let key = self.key(id), let job = self.jobs[key] else {
            return self.refuseUnknown(exchange, into: &effects)
        }
        guard job.token.verdict(on: bearer, at: self.now) == .valid else {
            return self.refuse(exchange, .unauthorized, "The token is not this job's.", into: &effects)
        }
        if !job.isOver {
            self.process(key)
            self.end(key, as: .canceled(at: self.now), into: &effects)
        }
        self.reply(exchange, 200, into: &effects) { writer in
            writer.object("cleanup") { writer in
                writer.member("kvCacheCleared", !job.isOver)
                writer.member("r2ObjectsDeleted", job.isOver ? 0 : 1)
            }
            writer.member("jobId", job.id)
            writer.member("message", job.isOver ? "The job was over." : "The job was canceled.")
            writer.member("status", self.jobs[key]?.status ?? job.status)
        }
    }

    // MARK: Answers

    private func identity(_ exchange: ExchangeID) -> [HeaderField] {
        [HeaderField(HeaderName.requestID, self.random.requestID(of: exchange))]
    }

    private func reply(
        _ exchange: ExchangeID, _ status: Int, into effects: inout [OriginEffect],
        _ data: (inout JSONWriter) -> Void
    ) {
        let headers = self.identity(exchange) + [HeaderField("Content-Type", "application/json")]
        let body = V2Envelope.success(timestamp: self.wall(at: self.now), data)
        effects.append(.reply(exchange, OriginReply(status: status, headers: headers, body: body)))
    }

    private func refuseUnknown(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        self.refuse(exchange, .notFound, "There is no such import.", into: &effects)
    }

    private func refuse(
        _ exchange: ExchangeID, _ code: V2ErrorCode, _ message: String, _ more: [HeaderField] = [],
        after wait: Interval? = nil, into effects: inout [OriginEffect]
    ) {
        effects.append(
            .reply(exchange, .v2(code, message, self.identity(exchange) + more, after: wait)))
    }
}
