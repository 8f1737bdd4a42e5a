internal import CSV
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
    /// Bytes of the document that may come; 0 for photos, which are not kept.
    let documentBytes: Int
}

/// What an upload gives a job to do.
struct Assignment: Sendable {
    var photos = 0
    /// What was found of the books that were asked for; nil for the books on the shelf of the scan.
    var books: [Book]?
    /// Books that were asked for and that no provider has.
    var notFound = 0
    /// The rows of a library file, or why it is none; nil without a file.
    var library: Result<[LibraryEntry], CSVError>?
    /// Bytes that are held for it.
    var documentBytes = 0
}

extension Backend {
    /// The maximum size of a multipart body without its photos.
    private static let overheadBytesMax = 65_536

    mutating func uploadRequested(
        _ context: RequestContext, _ request: OriginRequest, _ device: DeviceKey,
        into effects: inout [OriginEffect]
    ) {
        let headers: [HeaderField]
        switch self.limit(context, device, request.address, into: &effects) {
        case .success(let lines): headers = lines
        case .failure(let refusal):
            self.refuse(context, refusal, into: &effects)
            return
        }
        let refusal =
            switch context.journey.payload {
            case .photos: self.refusal(ofHead: request)
            case .json: self.refusal(ofDocument: request, context.journey)
            case .file: self.refusal(ofFile: request)
            }
        if let refusal = refusal ?? self.refusalOfMoreJobs(request, context.journey, into: &effects) {
            self.refuse(context, refusal, into: &effects)
            return
        }
        let bytes = Self.documentBytes(request, context.journey)
        self.documentBytes += bytes
        self.uploads[context.exchange] = PendingUpload(
            context: context, device: device, headers: headers, authority: request.authority,
            documentBytes: bytes)
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
        return nil
    }

    /// Docs/contract.md section 3.2: a batch is JSON, and so is a barcode.
    private func refusal(ofDocument request: OriginRequest, _ journey: Journey) -> Refusal? {
        guard
            let type = request.contentType.flatMap({ ParameterizedValue($0) })?.value.lowercased(),
            type == "application/json"
        else {
            return Refusal(.invalidRequest, "Content-Type must be application/json.")
        }
        if let length = request.contentLength, length > Self.jsonBytesMax(journey) {
            return Refusal(.fileTooLarge, "The body is too large.")
        }
        return nil
    }

    private func refusal(ofFile request: OriginRequest) -> Refusal? {
        guard let contentType = request.contentType,
            (try? MultipartReader.boundary(contentType: contentType)) != nil
        else { return Refusal(.invalidRequest, "Content-Type must be multipart/form-data with a boundary.") }
        if let length = request.contentLength, length > ImportLimits.bodyBytesMax { return .fileIsTooLarge }
        return nil
    }

    private static func jsonBytesMax(_ journey: Journey) -> Int {
        journey.hasJobs ? BatchRequest.bodyBytesMax : EnrichmentRequest.bodyBytesMax
    }

    /// A job that was served makes room for a new one.
    private mutating func refusalOfMoreJobs(
        _ request: OriginRequest, _ journey: Journey, into effects: inout [OriginEffect]
    ) -> Refusal? {
        if journey.version.hasCircuit, let wait = self.breaker?.wait(at: self.now) {
            var refusal = Refusal(.circuitOpen, "A provider has failed too often. The circuit is open.")
            refusal.retryAfter = wait
            return refusal
        }
        let configuration = self.configuration
        while self.jobs.count + self.uploads.count >= configuration.jobsMax,
            let oldest = self.served.removeFirst(where: { self.jobs[$0]?.isServed == true })
        {
            self.expire(oldest, into: &effects)
        }
        let hasRoom =
            self.jobs.count + self.uploads.count < configuration.jobsMax
            && self.documentBytes + Self.documentBytes(request, journey) <= configuration.documentBytesMax
        return hasRoom ? nil : .tooManyJobs
    }

    /// The most bytes of a document that may come with a request.
    private static func documentBytes(_ request: OriginRequest, _ journey: Journey) -> Int {
        switch journey.payload {
        case .photos: 0
        case .json: request.contentLength ?? Self.jsonBytesMax(journey)
        case .file: request.contentLength ?? ImportLimits.bodyBytesMax
        }
    }

    mutating func uploadFailed(
        _ exchange: ExchangeID, _ fault: UploadFault, into effects: inout [OriginEffect]
    ) {
        guard let upload = self.takePending(exchange) else { return }  // Aborted by now.
        let refusal: Refusal
        switch (fault, upload.context.journey.payload) {
        case (.malformed, .json): refusal = Refusal(.invalidRequest, "The body cannot be read.")
        case (.malformed(let flaw), .photos), (.malformed(let flaw), .file):
            refusal = Refusal(.invalidRequest, "The upload cannot be read: \(flaw).")
        case (.tooManyParts, .json), (.tooManyParts, .photos):
            refusal = Refusal(.invalidRequest, "The upload has too many parts.")
        case (.tooManyParts, .file): refusal = .notOneFile
        case (.tooLarge, .photos): refusal = Refusal(.fileTooLarge, "The photos are too large.")
        case (.tooLarge, .json): refusal = Refusal(.fileTooLarge, "The body is too large.")
        case (.tooLarge, .file): refusal = .fileIsTooLarge
        case (.timedOut, _): refusal = Refusal(.timeout, "The body did not come in time.")
        }
        self.refuse(upload.context, refusal, into: &effects)
    }

    mutating func uploaded(
        _ exchange: ExchangeID, _ parts: [UploadPart], into effects: inout [OriginEffect]
    ) {
        guard let upload = self.takePending(exchange) else { return }  // Aborted by now.
        let journey = upload.context.journey
        if journey.payload != .json {
            self.observe(ContractNotes(parts: parts, of: journey), of: upload.context, into: &effects)
        }
        switch journey.payload {
        case .photos: break
        case .json:
            let bytes = parts.first?.prefix ?? []
            switch upload.context.journey {
            case .textEnrichment: return self.textUploaded(upload, bytes, into: &effects)
            case .bookEnrichment: return self.barcodeUploaded(upload, bytes, into: &effects)
            case .scan, .bookshelfScan, .batchEnrichment, .csvImport:
                return self.documentUploaded(upload, bytes, into: &effects)
            }
        case .file: return self.fileUploaded(upload, parts, into: &effects)
        }
        let form = self.dialect(of: upload.context).upload
        let photos = parts.filter { $0.name == form.part }
        if let refusal = self.refusal(of: photos, form) {
            self.refuse(upload.context, refusal, into: &effects)
            return
        }
        self.accept(upload, Assignment(photos: photos.count), into: &effects)
    }

    /// An upload whose body is read no longer.
    mutating func takePending(_ exchange: ExchangeID) -> PendingUpload? {
        guard let upload = self.uploads[exchange] else { return nil }
        self.uploads[exchange] = nil
        self.documentBytes -= upload.documentBytes
        return upload
    }

    private mutating func documentUploaded(
        _ upload: PendingUpload, _ bytes: [UInt8], into effects: inout [OriginEffect]
    ) {
        self.observe(ContractNotes(batch: bytes), of: upload.context, into: &effects)
        do throws(BatchRequest.Flaw) {
            let batch = try BatchRequest(bytes)
            var assignment = Assignment()
            // The books of a simulated phone are those of its shelf.
            if !self.isOfShelf(batch, upload.context.caller) {
                let books = batch.items.compactMap { self.enriched($0) }
                assignment.books = books
                assignment.notFound = batch.items.count - books.count
                assignment.documentBytes = bytes.count
            }
            self.accept(upload, assignment, into: &effects)
        } catch {
            self.refuse(upload.context, Refusal(.invalidRequest, error.text), into: &effects)
        }
    }

    /// Whether the books that are asked for are those that the shelf of the scan has.
    private func isOfShelf(_ batch: BatchRequest, _ owner: Caller) -> Bool {
        guard batch.items.count == self.shelf.count(device: owner.device, scan: owner.scan) else {
            return false
        }
        let isByBarcode = self.shelf.stock(of: owner.device) == .barcodes
        return batch.items.enumerated().allSatisfy { ordinal, item in
            switch item {
            case .book(let title, _, _):
                !isByBarcode
                    && title == self.shelf.title(device: owner.device, scan: owner.scan, ordinal: ordinal)
            case .barcode(let barcode):
                isByBarcode
                    && barcode
                        == self.shelf.book(device: owner.device, scan: owner.scan, ordinal: ordinal).isbn
            }
        }
    }

    /// The book that a lookup finds; nil if no provider has it.
    private mutating func enriched(_ item: BatchRequest.Item) -> Book? {
        switch item {
        case .barcode(let text): self.enrichments.book(barcode: text)
        case .book(let title, let author, let isbn):
            Book(
                title: title, author: author, isbn: isbn, confidence: nil,
                enrichmentStatus: isbn == nil ? .notFound : .success, coverUrl: nil)
        }
    }

    /// A file that cannot be read is a job as well, which fails at once.
    private mutating func fileUploaded(
        _ upload: PendingUpload, _ parts: [UploadPart], into effects: inout [OriginEffect]
    ) {
        let named = parts.filter { $0.name == ImportLimits.part }
        guard let part = named.first, named.count == 1 else {
            return self.refuse(upload.context, .notOneFile, into: &effects)
        }
        guard part.bytes <= ImportLimits.fileBytesMax, part.prefix.count == part.bytes else {
            return self.refuse(upload.context, .fileIsTooLarge, into: &effects)
        }
        var assignment = Assignment()
        do throws(CSVError) {
            let entries = try LibraryTable(part.prefix, limits: .imports).entries
            assignment.library = .success(entries)
            assignment.documentBytes = ImportAccount.bytes(of: entries)
        } catch {
            assignment.library = .failure(error)
        }
        // Rows can take more than their file did.
        guard self.documentBytes + assignment.documentBytes <= self.configuration.documentBytesMax else {
            return self.refuse(upload.context, .tooManyJobs, into: &effects)
        }
        self.accept(upload, assignment, into: &effects)
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
        _ upload: PendingUpload, _ assignment: Assignment, into effects: inout [OriginEffect]
    ) {
        let owner = upload.context.caller
        let (key, secret) = self.newIdentity(owner)
        let (journey, dialect) = (upload.context.journey, self.dialect(of: upload.context))
        let facts = Job.Facts(
            key: key, id: journey.jobPrefix + key.text, owner: owner, device: upload.device,
            host: upload.authority,
            accepted: self.now, script: self.script(assignment, dialect, journey, owner),
            dialect: dialect, journey: journey, books: assignment.books)
        self.documentBytes += assignment.documentBytes
        self.jobs[key] = Job(
            facts: facts,
            token: Token(secret: secret, expires: self.now + self.configuration.tokenLifetime),
            log: EventLog(
                buffer: self.configuration.eventBuffer, epoch: self.wall,
                EventLog.Rules(
                    hasIncreasingIDs: dialect.events.hasIncreasingIDs,
                    entriesMax: dialect.replayedEventsMax)),
            rows: assignment.library.map { ImportAccount((try? $0.get()) ?? []) },
            documentBytes: assignment.documentBytes, due: self.now)
        let photos = assignment.photos
        effects.append(
            .observe(self.payload(owner, .accepted(job: facts.id, books: facts.script.books))))
        if photos > 1 {
            effects.append(.observe(self.payload(owner, .photosReceived(job: facts.id, count: photos))))
        }
        self.answer(upload, facts, secret, isBatch: journey.payload == .json, into: &effects)
        if case .failure(let error)? = assignment.library {
            self.end(facts, .unreadable(error), into: &effects)
        } else {
            self.advance(key, into: &effects)
        }
    }

    private func script(
        _ assignment: Assignment, _ dialect: Dialect, _ journey: Journey, _ owner: Caller
    ) -> JobScript {
        guard let library = assignment.library else {
            let isProgressive = self.configuration.progressive && journey.version.hasProgressiveEvents
            return JobScript(
                course: isProgressive ? dialect.course.progressive : dialect.course,
                photos: assignment.photos,
                books: assignment.books?.count ?? self.shelf.count(device: owner.device, scan: owner.scan),
                notFound: assignment.notFound, time: self.jobTime(owner))
        }
        let rows = (try? library.get())?.count ?? 0
        return JobScript(
            course: dialect.course, photos: 0, books: 0, rows: rows,
            time: self.configuration.imports.time(rows))
    }

    /// The 202.
    private func answer(
        _ upload: PendingUpload, _ facts: Job.Facts, _ secret: TokenSecret, isBatch: Bool,
        into effects: inout [OriginEffect]
    ) {
        let (journey, script) = (facts.journey, facts.script)
        let host = upload.authority
        let own = self.link(.job(jobId: facts.id), journey, host)
        let stream = self.link(.stream(jobId: facts.id), journey, host)
        var job = UploadAccepted.Job(
            jobId: facts.id, authToken: secret.text, sseUrl: stream, statusUrl: own)
        if facts.dialect.upload.webSocketURL != .absent { job.websocketUrl = self.socketLink(facts.id, host) }
        let body = UploadAccepted(
            job: job,
            links: UploadAccepted.Links(
                own: UploadAccepted.Link(href: own, rel: "self", method: "GET"),
                stream: UploadAccepted.Link(href: stream, rel: "stream", method: "GET"),
                cancel: UploadAccepted.Link(href: own, rel: "cancel", method: "DELETE")),
            metadata: self.metadata(upload.context.exchange))
        let headers = [HeaderField("Content-Type", "application/json")] + upload.headers
        self.reply(
            upload.context, 202, headers,
            facts.dialect.upload.body(
                body, photos: script.photos, books: isBatch ? script.books + script.notFound : nil),
            into: &effects)
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

extension Refusal {
    /// There is no room for another job. The wait is a breaker's cooldown (Docs/contract.md section 2.5).
    fileprivate static let tooManyJobs: Refusal = {
        var refusal = Refusal(.circuitOpen, "There are too many jobs.")
        refusal.retryAfter = .seconds(60)
        return refusal
    }()

    fileprivate static let notOneFile = Refusal(
        .invalidRequest, "The upload must have one part, \(ImportLimits.part), and no other.")

    fileprivate static let fileIsTooLarge = Refusal(
        .fileTooLarge, "The file is larger than \(ImportLimits.fileBytesMax) bytes.")
}
