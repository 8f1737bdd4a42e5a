internal import Faults
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

/// An upload whose head was acceptable.
struct PendingUpload: Sendable {
    let context: RequestContext
    let device: DeviceKey
    /// `X-RateLimit-…`, for the 202.
    let headers: [HeaderField]
    /// The `Host` of the request.
    let authority: String?
}

extension Backend {
    /// The maximum size of a multipart body beside its photos.
    private static let overheadBytesMax = 65_536

    mutating func uploadRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey,
        into effects: inout [OriginEffect]
    ) {
        let headers: [HeaderField]
        switch self.limit(context, device, into: &effects) {
        case .success(let lines): headers = lines
        case .failure(let refusal):
            self.refuse(context, refusal, into: &effects)
            return
        }
        if let refusal = context.journey.hasPhotos
            ? self.refusal(ofHead: request) : self.refusal(ofDocument: request)
        {
            self.refuse(context, refusal, into: &effects)
            return
        }
        self.uploads[context.exchange] = PendingUpload(
            context: context, device: device, headers: headers, authority: request.authority)
        effects.append(.readUpload(context.exchange))
    }

    private func refusal(ofHead request: OriginRequest) -> Refusal? {
        guard let contentType = request.contentType,
            (try? MultipartReader.boundary(contentType: contentType)) != nil
        else { return Refusal(.invalidRequest, "Content-Type must be multipart/form-data with a boundary.") }
        let bytesMax = self.configuration.batchBytesMax + Self.overheadBytesMax
        if let length = request.contentLength, length > bytesMax {
            return Refusal(
                .fileTooLarge, "The photos are larger than \(self.configuration.batchBytesMax) bytes.")
        }
        if request.contentLength ?? 1 <= 0 { return Refusal(.invalidRequest, "The upload has no photos.") }
        return self.refusalOfMoreJobs
    }

    /// Docs/contract.md section 3.2: a batch is JSON.
    private func refusal(ofDocument request: OriginRequest) -> Refusal? {
        guard request.contentType?.lowercased().hasPrefix("application/json") == true else {
            return Refusal(.invalidRequest, "Content-Type must be application/json.")
        }
        if let length = request.contentLength, length > BatchRequest.bodyBytesMax {
            return Refusal(.fileTooLarge, "The body is too large.")
        }
        return self.refusalOfMoreJobs
    }

    private var refusalOfMoreJobs: Refusal? {
        guard self.jobs.count + self.uploads.count >= self.configuration.jobsMax else { return nil }
        var refusal = Refusal(.circuitOpen, "There are too many jobs.")
        refusal.retryAfter = .seconds(60)  // The breaker's cooldown, Docs/contract.md section 2.5.
        return refusal
    }

    mutating func uploadFailed(
        _ exchange: ExchangeID, _ fault: UploadFault, into effects: inout [OriginEffect]
    ) {
        guard let upload = self.uploads[exchange] else { return }  // Aborted meanwhile.
        self.uploads[exchange] = nil
        let refusal: Refusal
        switch fault {
        case .malformed where !upload.context.journey.hasPhotos:
            refusal = Refusal(.invalidRequest, "The body cannot be read.")
        case .malformed: refusal = Refusal(.invalidRequest, "The body is not multipart/form-data.")
        case .tooLarge: refusal = Refusal(.fileTooLarge, "The photos are too large.")
        case .timedOut: refusal = Refusal(.timeout, "The body did not come in time.")
        }
        self.refuse(upload.context, refusal, into: &effects)
    }

    mutating func uploaded(
        _ exchange: ExchangeID, _ parts: [UploadPart], into effects: inout [OriginEffect]
    ) {
        guard let upload = self.uploads[exchange] else { return }  // Aborted meanwhile.
        self.uploads[exchange] = nil
        guard upload.context.journey.hasPhotos else {
            self.documentUploaded(upload, parts.first?.prefix ?? [], into: &effects)
            return
        }
        if !upload.context.journey.isV2 {
            self.observe(ContractNotes(parts: parts), of: upload.context, into: &effects)
        }
        let form = self.dialect(of: upload.context).upload
        let photos = parts.filter { $0.name == form.part }
        if let refusal = self.refusal(of: photos, form) {
            self.refuse(upload.context, refusal, into: &effects)
            return
        }
        self.accept(upload, photos: photos.count, books: nil, into: &effects)
    }

    private mutating func documentUploaded(
        _ upload: PendingUpload, _ bytes: [UInt8], into effects: inout [OriginEffect]
    ) {
        do throws(BatchRequest.Flaw) {
            let batch = try BatchRequest(bytes)
            let owner = upload.context.caller
            let books = batch.items.enumerated().compactMap { self.enriched($1, at: $0, of: owner) }
            self.accept(upload, photos: 0, books: books, into: &effects)
        } catch {
            self.refuse(upload.context, Refusal(.invalidRequest, error.text), into: &effects)
        }
    }

    /// The book that a lookup finds; nil if no provider has it. The books of a simulated phone are those of its shelf.
    private mutating func enriched(_ item: BatchRequest.Item, at ordinal: Int, of owner: Caller) -> Book? {
        switch item {
        case .barcode(let text): return self.enrichments.book(barcode: text)
        case .book(let title, let author, let isbn):
            if title == self.shelf.title(device: owner.device, scan: owner.scan, ordinal: ordinal) {
                return self.shelf.book(device: owner.device, scan: owner.scan, ordinal: ordinal)
            }
            return Book(
                title: title, author: author, isbn: isbn, confidence: nil,
                enrichmentStatus: isbn == nil ? .notFound : .success, coverUrl: nil)
        }
    }

    /// Docs/contract.md section 1.2. Too many photos are 400 (C28), too many bytes 413.
    private func refusal(of photos: [UploadPart], _ form: UploadForm) -> Refusal? {
        let configuration = self.configuration
        guard !photos.isEmpty else {
            return Refusal(form.withoutPhotos, "The upload has no part \(form.part).")
        }
        guard photos.count <= configuration.photosMax else {
            return Refusal(.batchTooLarge, "At most \(configuration.photosMax) photos may come at once.")
        }
        guard photos.allSatisfy({ $0.bytes <= configuration.photoBytesMax }) else {
            return Refusal(.fileTooLarge, "A photo may have \(configuration.photoBytesMax) bytes.")
        }
        guard photos.reduce(0, { $0 + $1.bytes }) <= configuration.batchBytesMax else {
            return Refusal(
                .fileTooLarge, "All photos together may have \(configuration.batchBytesMax) bytes.")
        }
        guard photos.allSatisfy({ Self.isImage($0.prefix) }) else {
            return Refusal(.invalidFile, "A photo is neither JPEG nor PNG.")
        }
        return nil
    }

    /// Returns whether it is an image, by its first bytes: JPEG starts with an SOI marker, PNG with its
    /// signature.
    private static func isImage(_ prefix: [UInt8]) -> Bool {
        prefix.starts(with: [0xFF, 0xD8])
            || prefix.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    }

    private mutating func accept(
        _ upload: PendingUpload, photos: Int, books: [Book]?, into effects: inout [OriginEffect]
    ) {
        let owner = upload.context.caller
        let (key, secret) = self.newIdentity(owner)
        let (journey, dialect) = (upload.context.journey, self.dialect(of: upload.context))
        let facts = Job.Facts(
            key: key, id: journey.jobPrefix + key.text, owner: owner, device: upload.device,
            host: upload.authority,
            accepted: self.now,
            script: JobScript(
                course: dialect.course, photos: photos,
                books: books?.count ?? self.shelf.count(device: owner.device, scan: owner.scan),
                time: self.jobTime(owner)),
            dialect: dialect, journey: journey, books: books)
        self.jobs[key] = Job(
            facts: facts,
            token: Token(secret: secret, expires: self.now + self.configuration.tokenLifetime),
            log: EventLog(
                buffer: self.configuration.eventBuffer, epoch: self.wall,
                EventLog.Rules(
                    hasIncreasingIDs: dialect.events.hasIncreasingIDs,
                    entriesMax: dialect.replayedEventsMax)), due: self.now)
        effects.append(
            .observe(self.payload(owner, .accepted(job: facts.id, books: facts.script.books))))
        if photos > 1 {
            effects.append(.observe(self.payload(owner, .photosReceived(job: facts.id, count: photos))))
        }

        let host = upload.authority
        let own = self.link(.job(jobId: facts.id), journey, host)
        let stream = self.link(.stream(jobId: facts.id), journey, host)
        let body = UploadAccepted(
            job: UploadAccepted.Job(
                jobId: facts.id, authToken: secret.text, sseUrl: stream, statusUrl: own),
            links: UploadAccepted.Links(
                own: UploadAccepted.Link(href: own, rel: "self", method: "GET"),
                stream: UploadAccepted.Link(href: stream, rel: "stream", method: "GET"),
                cancel: UploadAccepted.Link(href: own, rel: "cancel", method: "DELETE")),
            metadata: self.metadata(upload.context.exchange))
        let headers = [HeaderField("Content-Type", "application/json")] + upload.headers
        self.reply(
            upload.context, 202, headers, dialect.upload.body(body, photos: photos, books: books?.count),
            into: &effects)
        self.advance(key, into: &effects)
    }

    /// Drawn by (device, scan, attempt); a caller that comes twice with the same gets the next draw that is free.
    private func newIdentity(_ owner: Caller) -> (JobKey, TokenSecret) {
        let device = UInt64(owner.device.raw)
        let scan = UInt64(owner.scan.raw)
        var again: UInt64 = 0
        while true {
            let detail = UInt64(owner.attempt) << 32 | again << 2
            let key = JobKey(
                UUIDBits(
                    randomHigh: self.random.draw(.jobIdentity, device, scan, detail),
                    randomLow: self.random.draw(.jobIdentity, device, scan, detail + 1)))
            if self.jobs[key] == nil, !self.tombstones.contains(key) {
                return (key, TokenSecret { self.random.draw(.token, device, scan, detail + $0) })
            }
            again += 1  // Ends: what is taken is bounded.
        }
    }

    private func jobTime(_ owner: Caller) -> Interval {
        let range = self.configuration.jobTime
        let width = UInt64(range.upperBound.nanoseconds - range.lowerBound.nanoseconds) + 1
        let extra = self.random.below(width, .jobTime, UInt64(owner.device.raw), UInt64(owner.scan.raw))
        return range.lowerBound + Interval(nanoseconds: Int64(extra))
    }
}
