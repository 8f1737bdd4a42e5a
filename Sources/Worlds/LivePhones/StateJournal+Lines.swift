import JSON
import Phone
import SimBase
import Talaria

// What the lines of a journal hold, written and read. The first two members say what a line is about; see
// `JournalSubject`. A test holds writing and reading together, whatever members are added.
extension JSONWriter {
    /// The first line of a folder's form.
    mutating func writeHead(version: String) {
        self.object { $0.member("version", version) }
        self.newline()
    }

    mutating func writeLine(
        _ device: DeviceNumber, _ scan: UInt32? = nil, _ members: (inout JSONWriter) -> Void
    ) {
        self.object { line in
            line.member("d", device.raw)
            line.member("scan", scan)
            members(&line)
        }
        self.newline()
    }

    mutating func writeReview(
        _ device: DeviceNumber, _ key: ResultKey, _ word: StateJournal.ReviewWord,
        _ members: (inout JSONWriter) -> Void
    ) {
        self.writeLine(device, key.scan.raw) { line in
            line.member("review", word.rawValue)
            line.member("ordinal", key.ordinal)
            members(&line)
        }
    }

    mutating func member(_ key: StaticString, _ record: DurableScan) {
        self.object(key) { writer in
            writer.member("scan", record.scan)
            writer.member("photo", record.photo)
            writer.member("capturedUnixMs", record.capturedUnixMs)
            writer.member("scheduledUnixNs", record.scheduledUnixNs)
            writer.member("uploadDueUnixNs", record.uploadDueUnixNs)
            writer.member("cancelDueUnixNs", record.cancelDueUnixNs)
            if let job = record.job {
                writer.object("job") { writer in
                    writer.member("jobId", job.jobId)
                    writer.member("authToken", job.authToken)
                    writer.member("sseUrl", job.sseUrl)
                    writer.member("lastEventID", job.lastEventID)
                    if job.transport != .sse { writer.member("transport", job.transport.rawValue) }
                    if job.earlierStreams > 0 { writer.member("earlierStreams", job.earlierStreams) }
                    writer.member("refreshDueUnixNs", job.refreshDueUnixNs)
                }
            }
            writer.member("cause", record.cause)
            writer.object("attempts") { writer in
                writer.member("upload", record.attempts.upload)
                writer.member("stream", record.attempts.stream)
                writer.member("results", record.attempts.results)
                writer.member("cleanup", record.attempts.cleanup)
                if record.attempts.status > 0 { writer.member("status", record.attempts.status) }
                if record.attempts.refresh > 0 { writer.member("refresh", record.attempts.refresh) }
            }
            writer.member("tokenExpiries", record.tokenExpiries)
            writer.member("retryableErrors", record.retryableErrors)
            writer.member("completed", record.completed)
            writer.member("refusal", record.refusal)
            if record.refusal != nil { writer.member("canceled", record.isCanceled) }
            if record.photos > 1 { writer.member("photos", record.photos) }
            if record.journey != .scan { writer.member("journey", record.journey.rawValue) }
            if let file = record.file { writer.member("rows", file.rows ?? -1) }
            if record.isVolatile { writer.member("volatile", true) }
        }
    }

    mutating func member(_ key: StaticString, _ book: Book) {
        self.object(key) { writer in
            writer.member("title", book.title)
            writer.member("author", book.author)
            writer.member("isbn", book.isbn)
            // JSON has no other numbers; a book that came as JSON has none either.
            if let confidence = book.confidence, confidence.isFinite {
                writer.key("confidence")
                writer.raw("\(confidence)")
            }
            writer.member("enrichmentStatus", book.enrichmentStatus?.text)
            writer.member("coverUrl", book.coverUrl)
        }
    }
}

extension StateJournal {
    struct DeviceLine {
        let version: String?
        let d: UInt32?
        let identity: String?
        let scan: UInt32?
        /// The scan has a record in `scans.journal`. Older folders do not say.
        let stored: Bool?

        init(_ line: JSONNode) throws(JSONMismatch) {
            self.version = try line.optional("version") { $0.text }
            self.d = try line.optional("d") { $0.integer(UInt32.self) }
            self.identity = try line.optional("identity") { $0.text }
            self.scan = try line.optional("scan") { $0.integer(UInt32.self) }
            self.stored = try line.optional("stored") { $0.flag }
        }
    }

    struct BookLine {
        let d: UInt32
        let scan: UInt32
        let ordinal: Int
        let book: Book

        init(_ line: JSONNode) throws(JSONMismatch) {
            self.d = try line.required("d") { $0.integer(UInt32.self) }
            self.scan = try line.required("scan") { $0.integer(UInt32.self) }
            self.ordinal = try line.required("ordinal") { $0.integer }
            self.book = try line.required("book", Book.init(stored:))
        }
    }

    struct ReviewLine {
        let d: UInt32
        /// Nil if the app was removed.
        let change: StoreChange?

        init(_ line: JSONNode) throws(JSONMismatch) {
            self.d = try line.required("d") { $0.integer(UInt32.self) }
            let word = try line.required("review") { $0.text.flatMap { ReviewWord(rawValue: $0) } }
            guard word != .wiped else {
                self.change = nil
                return
            }
            let key = ResultKey(
                scan: ScanNumber(try line.required("scan") { $0.integer(UInt32.self) }),
                ordinal: try line.required("ordinal") { $0.integer })
            switch word {
            case .pending:
                var entry = ReviewEntry(
                    key: key, book: try line.required("book", Book.init(stored:)),
                    receivedUnixNs: try line.required("receivedUnixNs") { $0.integer(Int64.self) })
                entry.title = try line.optional("title") { $0.text }
                entry.author = try line.optional("author") { $0.text }
                self.change = .pending(entry)
            case .approved:
                self.change = .reviewed(key, .approved(try line.required("book", Book.init(stored:))))
            case .merged:
                let original = ResultKey(
                    scan: ScanNumber(try line.required("intoScan") { $0.integer(UInt32.self) }),
                    ordinal: try line.required("intoOrdinal") { $0.integer })
                self.change = .reviewed(key, .merged(into: original))
            case .rejected, .wiped: self.change = .reviewed(key, .rejected)
            }
        }
    }

    struct ScanLine {
        let d: UInt32
        let put: DurableScan?
        let scan: UInt32?
        let id: String?
        let settled: String?
        /// The app was removed with all that it stored: whatever the phone had before is gone.
        let wiped: Bool?

        init(_ line: JSONNode) throws(JSONMismatch) {
            self.d = try line.required("d") { $0.integer(UInt32.self) }
            self.put = try line.optional("put") { put throws(JSONMismatch) -> DurableScan in
                try DurableScan(put)
            }
            self.scan = try line.optional("scan") { $0.integer(UInt32.self) }
            self.id = try line.optional("id") { $0.text }
            self.settled = try line.optional("settled") { $0.text }
            self.wiped = try line.optional("wiped") { $0.flag }
        }
    }
}

extension Book {
    fileprivate init(stored book: JSONNode) throws(JSONMismatch) {
        self.init(
            title: try book.required("title") { $0.text }, author: try book.required("author") { $0.text },
            isbn: try book.optional("isbn") { $0.text },
            confidence: try book.optional("confidence") { $0.decimal },
            enrichmentStatus: try book.optional("enrichmentStatus") { $0.text }
                .map { EnrichmentStatus(text: $0) },
            coverUrl: try book.optional("coverUrl") { $0.text })
    }
}

extension DurableJob {
    fileprivate init(_ job: JSONNode) throws(JSONMismatch) {
        let transport = try job.optional("transport") {
            $0.text.flatMap { StreamTransport(rawValue: $0) }
        }
        self.init(
            jobId: try job.required("jobId") { $0.text },
            authToken: try job.optional("authToken") { $0.text },
            sseUrl: try job.required("sseUrl") { $0.text },
            lastEventID: try job.required("lastEventID") { $0.text },
            transport: transport ?? .sse)
        self.earlierStreams = try job.optional("earlierStreams") { $0.integer(UInt32.self) } ?? 0
        self.refreshDueUnixNs = try job.optional("refreshDueUnixNs") { $0.integer(Int64.self) }
    }
}

extension DurableScan {
    fileprivate init(_ record: JSONNode) throws(JSONMismatch) {
        self.init(
            scan: try record.required("scan") { $0.integer(UInt32.self) },
            photo: try record.required("photo") { $0.integer },
            capturedUnixMs: try record.required("capturedUnixMs") { $0.integer(Int64.self) },
            scheduledUnixNs: try record.optional("scheduledUnixNs") { $0.integer(Int64.self) },
            uploadDueUnixNs: try record.optional("uploadDueUnixNs") { $0.integer(Int64.self) },
            job: try record.optional("job") { job throws(JSONMismatch) -> DurableJob in
                try DurableJob(job)
            },
            booksApplied: [],  // They are in the library (`StateFolder.restoreLibrary`).
            cause: try record.required("cause") { $0.text },
            attempts: try record.required("attempts") { counts throws(JSONMismatch) -> DurableAttempts in
                var attempts = DurableAttempts()
                attempts.upload = try counts.required("upload") { $0.integer(UInt32.self) }
                attempts.stream = try counts.required("stream") { $0.integer(UInt32.self) }
                attempts.results = try counts.required("results") { $0.integer(UInt32.self) }
                attempts.cleanup = try counts.required("cleanup") { $0.integer(UInt32.self) }
                attempts.status = try counts.optional("status") { $0.integer(UInt32.self) } ?? 0
                attempts.refresh = try counts.optional("refresh") { $0.integer(UInt32.self) } ?? 0
                return attempts
            },
            tokenExpiries: try record.required("tokenExpiries") { $0.integer },
            retryableErrors: try record.required("retryableErrors") { $0.integer },
            completed: try record.required("completed") { $0.flag },
            refusal: try record.optional("refusal") { $0.text })
        // Older folders have the code alone.
        self.isCanceled =
            try record.optional("canceled") { $0.flag } ?? (self.refusal == AppLimits.canceledCode)
        self.photos = try record.optional("photos") { $0.integer } ?? 1
        self.journey = try record.optional("journey") { $0.text.flatMap { Journey(rawValue: $0) } } ?? .scan
        self.file = try record.optional("rows") { $0.integer }
            .map { LibraryContent(rows: $0 < 0 ? nil : $0) }
        self.cancelDueUnixNs = try record.optional("cancelDueUnixNs") { $0.integer(Int64.self) }
        self.isVolatile = try record.optional("volatile") { $0.flag } ?? false
    }
}
