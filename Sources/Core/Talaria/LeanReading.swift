import JSON
import SimBase

// Answers and events as a client reads them: what it needs is required, everything else that is missing or odd is noted,
// and the answer is used (Docs/contract.md section 1.2).

/// The members of one object, and its position in its answer.
struct LeanObject {
    /// The importance of a member.
    enum Need {
        /// The response is useless without it.
        case required
        /// The contract has it; a client can do without.
        case expected
        /// It may be missing or null.
        case optional
    }

    let node: JSONNode
    /// `data.`; empty for the whole body.
    let prefix: String

    /// Nil for bytes that are not JSON object.
    init?(_ bytes: [UInt8], into notes: inout ContractNotes) {
        guard !bytes.isEmpty else {
            notes.add("body", expected: "a JSON object", seen: "empty", isDecisive: true)
            return nil
        }
        guard let node = JSONNode(bytes) else {
            notes.add(
                "body", expected: "a JSON object", seen: "not JSON",
                excerpt: Self.beginning(of: bytes), isDecisive: true)
            return nil
        }
        guard node.isA(.object) else {
            notes.add(
                "body", expected: "a JSON object", seen: node.kindName, excerpt: node.excerpt,
                isDecisive: true)
            return nil
        }
        self.init(node: node, prefix: "")
    }

    /// Nil for bytes that are not a JSON object, if a client can do without one.
    init?(optional bytes: [UInt8], _ expected: String, into notes: inout ContractNotes) {
        var body = ContractNotes()
        guard let object = LeanObject(bytes, into: &body) else {
            for note in body.notes {
                notes.add(note.path, expected: expected, seen: note.seen, excerpt: note.excerpt)
            }
            return nil
        }
        self = object
    }

    /// Enough to distinguish a page or a message from a JSON document, and too little to hold a token.
    private static func beginning(of bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix(24).prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }

    init(node: JSONNode, prefix: String) {
        self.node = node
        self.prefix = prefix
    }

    // MARK: Members

    func text(_ key: String, _ need: Need, into notes: inout ContractNotes) -> String? {
        self.read(key, need, "a string", into: &notes) { $0.text }
    }

    func flag(_ key: String, _ need: Need, into notes: inout ContractNotes) -> Bool? {
        self.read(key, need, "true or false", into: &notes) { $0.flag }
    }

    func integer(_ key: String, _ need: Need, into notes: inout ContractNotes) -> Int? {
        self.read(key, need, "a whole number", into: &notes) { $0.integer }
    }

    func decimal(_ key: String, _ need: Need, into notes: inout ContractNotes) -> Double? {
        self.read(key, need, "a number", into: &notes) { $0.decimal }
    }

    func object(_ key: String, _ need: Need, into notes: inout ContractNotes) -> LeanObject? {
        let node = self.read(key, need, "an object", into: &notes) { $0.isA(.object) ? $0 : nil }
        return node.map { LeanObject(node: $0, prefix: self.prefix + key + ".") }
    }

    /// Notes a count that is greater than the count that includes it.
    func compare(_ part: String, isAtMost whole: String, into notes: inout ContractNotes) {
        guard let count = self.node[part]?.integer, let total = self.node[whole]?.integer, total >= 0,
            count > total
        else { return }
        notes.add(
            self.path(part), expected: "at most \(whole)", seen: "a higher number",
            excerpt: "\(count) of \(total)")
    }

    /// Nil for a list of anything but books: one bad element spoils the whole array, and each is noted.
    func books(
        _ key: String, _ need: Need, of version: APIVersion = .v3, into notes: inout ContractNotes
    ) -> [Book]? {
        let array = self.read(key, need, "an array of books", into: &notes) { $0.isA(.array) ? $0 : nil }
        guard let elements = array?.elements else { return nil }
        let path = self.path(key) + "[]"
        let prefix = path + "."
        var books: [Book] = []
        books.reserveCapacity(elements.count)
        for element in elements {
            guard element.isA(.object) else {
                notes.add(
                    path, expected: "a book", seen: element.kindName, excerpt: element.excerpt,
                    isDecisive: true)
                continue
            }
            if let book = Book(LeanObject(node: element, prefix: prefix), of: version, into: &notes) {
                books.append(book)
            }
        }
        return books.count == elements.count ? books : nil
    }

    func contains(_ key: String) -> Bool { self.node[key] != nil }
    func isNull(_ key: String) -> Bool { self.node[key]?.isNull ?? false }
    func path(_ key: String) -> String { self.prefix + key }

    private func read<Value>(
        _ key: String, _ need: Need, _ expected: String, into notes: inout ContractNotes,
        _ value: (JSONNode) -> Value?
    ) -> Value? {
        guard let node = self.node[key] else {
            if need != .optional {
                notes.add(
                    self.path(key), expected: expected, seen: "missing", isDecisive: need == .required)
            }
            return nil
        }
        if let value = value(node) { return value }
        if need == .optional, node.isNull { return nil }
        notes.add(
            self.path(key), expected: expected, seen: node.kindName,
            excerpt: Self.secrets.contains(key) ? nil : node.excerpt, isDecisive: need == .required)
        return nil
    }

    /// The members that no report may show.
    static let secrets = ["authToken", "token"]
}

extension UploadAccepted {
    /// Reads the members of an upload's response that a client needs; nil if they are missing.
    package static func read(_ bytes: [UInt8], into notes: inout ContractNotes) -> UploadAccepted? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.flag("success", .required, into: &notes)
        let accepted = self.read(body, tokenKeys: ["authToken"], success, into: &notes)
        body.compare(with: Contract.uploadAccepted, into: &notes)
        return accepted
    }

    /// Reads the job under `data`, with its token under the first of these keys that it has.
    ///
    /// - Parameter success: What the body says of it; nil if that cannot be read.
    static func read(
        _ body: LeanObject, tokenKeys: [String], _ success: Bool?, into notes: inout ContractNotes
    ) -> UploadAccepted? {
        let data = body.object("data", .required, into: &notes)
        let jobId = data?.text("jobId", .required, into: &notes)
        let websocketUrl = data?.text("websocketUrl", .optional, into: &notes)
        let sseUrl = data?.text("sseUrl", websocketUrl == nil ? .required : .optional, into: &notes)
        var token: String?
        for key in tokenKeys where token == nil { token = data?.text(key, .optional, into: &notes) }
        let statusUrl = data?.text("statusUrl", .optional, into: &notes)
        guard let success, let jobId, sseUrl != nil || websocketUrl != nil else { return nil }
        var job = Job(jobId: jobId, authToken: token, sseUrl: sseUrl, statusUrl: statusUrl)
        job.websocketUrl = websocketUrl
        var accepted = UploadAccepted(job: job, links: nil, metadata: nil)
        accepted.success = success
        return accepted
    }
}

extension UploadAccepted {
    /// Reads the members of the flat form, which has no token (Docs/apps.md section 6.1); nil if they are missing.
    package static func readFlat(_ bytes: [UInt8], into notes: inout ContractNotes) -> UploadAccepted? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let jobId = body.text("jobId", .required, into: &notes)
        let streamUrl = body.text("streamUrl", .required, into: &notes)
        guard let jobId, let streamUrl else { return nil }
        return UploadAccepted(
            job: Job(jobId: jobId, authToken: nil, sseUrl: streamUrl, statusUrl: nil), links: nil,
            metadata: nil)
    }
}

/// Where a client looks for the books in the body of the results (Docs/apps.md section 5, GAP-2).
package enum ResultsEnvelope: String, CaseIterable, Hashable, Sendable {
    /// `data.results`.
    case data
    /// `results` at the top level.
    case topLevel = "top-level"
}

/// A client's reading of the results of a job.
package struct ResultsReading: Hashable, Sendable {
    /// Nil if the answer does not say.
    package var success: Bool?
    package var jobId: String?
    package var books: [Book]
    /// The outcomes of the rows of a file; nil for results that are books.
    package var rows: RowCounts?
    /// The books of these rows that the answer lists; nil for one without a list.
    package var listed: Int?

    /// Nil for an answer without books that could be used.
    package static func read(
        _ bytes: [UInt8], _ envelope: ResultsEnvelope, into notes: inout ContractNotes
    ) -> ResultsReading? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        switch envelope {
        case .data: return self.read(body, into: &notes)
        case .topLevel:
            return body.books("results", .required, into: &notes).map {
                ResultsReading(success: nil, jobId: nil, books: $0)
            }
        }
    }

    private static func read(_ body: LeanObject, into notes: inout ContractNotes) -> ResultsReading? {
        let success = body.flag("success", .expected, into: &notes)
        let data = body.object("data", .required, into: &notes)
        let jobId = data?.text("jobId", .expected, into: &notes)
        if let data, let status = data.text("status", .expected, into: &notes),
            status != JobStatus.completed.rawValue
        {
            notes.add(
                data.path("status"), expected: "completed", seen: "another status", excerpt: status)
        }
        let books = data?.books("results", .required, into: &notes)
        if let metadata = body.object("metadata", .optional, into: &notes),
            metadata.flag("truncated", .optional, into: &notes) == true
        {
            notes.add(metadata.path("truncated"), expected: "all the books", seen: "truncated results")
        }
        body.compare(with: Contract.results, into: &notes)
        guard let books else { return nil }
        return ResultsReading(success: success, jobId: jobId, books: books)
    }
}

/// A client's reading of the state of a job (Docs/contract.md section 1.4).
package struct JobStatusReading: Hashable, Sendable {
    /// Nil if the answer does not say.
    package var success: Bool?
    package var jobId: String?
    package var status: JobStatus

    /// Nil for an answer without a status of the contract.
    package static func read(
        _ bytes: [UInt8], _ version: APIVersion, into notes: inout ContractNotes
    ) -> JobStatusReading? {
        guard let body = LeanObject(bytes, into: &notes) else { return nil }
        let success = body.flag("success", .expected, into: &notes)
        let data = body.object("data", .required, into: &notes)
        let jobId = data?.text("jobId", .expected, into: &notes)
        let text = data?.text("status", .required, into: &notes)
        body.compare(with: version.statusBody, into: &notes)
        guard let data, let text else { return nil }
        guard let status = JobStatus(rawValue: text) else {
            notes.add(
                data.path("status"), expected: "a job status", seen: "another status", excerpt: text,
                isDecisive: true)
            return nil
        }
        return JobStatusReading(success: success, jobId: jobId, status: status)
    }
}

extension Book {
    init?(_ object: LeanObject, of version: APIVersion = .v3, into notes: inout ContractNotes) {
        let title = object.text("title", .required, into: &notes)
        let author =
            (version.mayListAuthors ? object.authors : nil) ?? object.text("author", .required, into: &notes)
        let isbn = object.text("isbn", .optional, into: &notes)
        let confidence = object.decimal("confidence", .optional, into: &notes)
        let status = object.text("enrichmentStatus", .optional, into: &notes)
            .map { EnrichmentStatus(text: $0) }
        let cover = object.text("coverUrl", .optional, into: &notes)
        guard let title, let author else { return nil }
        self.init(
            title: title, author: author, isbn: isbn, confidence: confidence, enrichmentStatus: status,
            coverUrl: cover)
    }
}

extension JobEvent {
    /// Reads the data of a `result` event, in either form (Docs/contract.md section 2.1).
    package init(resultBytes bytes: [UInt8], into notes: inout ContractNotes) {
        self = .malformed(.result)
        guard let data = LeanObject(bytes, into: &notes) else { return }
        let nested = data.object("book", .optional, into: &notes)
        guard let book = Book(nested ?? data, into: &notes) else { return }
        if nested == nil { data.compare(with: Contract.book, into: &notes) }
        self = .result(book, isNested: nested != nil)
    }
}

extension CompletedReading {
    package static func read(_ bytes: [UInt8], into notes: inout ContractNotes) -> CompletedReading? {
        guard let data = LeanObject(bytes, into: &notes) else { return nil }
        let jobId = data.text("jobId", .expected, into: &notes)
        let resultsUrl = data.text("resultsUrl", .optional, into: &notes)
        let summary = data.object("summary", .optional, into: &notes)
        var reading = CompletedReading(
            jobId: jobId, resultsUrl: resultsUrl, inline: .absent,
            promise: BooksPromise(summary, into: &notes))
        if data.isNull("books") {
            reading.inline = .null
        } else if data.contains("books") {
            let books = data.books("books", .optional, into: &notes)
            reading.inline = books.map { $0.isEmpty ? .empty : .books($0) } ?? .undecodable
        }
        data.compare(with: Contract.completed, into: &notes)
        return reading
    }
}

extension ProgressData {
    /// Whether it is any object: what it says is for a screen.
    static func isReadable(_ bytes: [UInt8], into notes: inout ContractNotes) -> Bool {
        guard let data = LeanObject(bytes, into: &notes) else { return false }
        data.compare(with: Contract.progress, into: &notes)
        data.compare("processedCount", isAtMost: "totalCount", into: &notes)
        return true
    }
}

extension ErrorData {
    static func read(_ bytes: [UInt8], into notes: inout ContractNotes) -> ErrorData? {
        guard let data = LeanObject(bytes, into: &notes) else { return nil }
        var error = ErrorData(jobId: "", code: "", message: "", retryable: false)
        error.type = data.text("type", .expected, into: &notes)
        error.jobId = data.text("jobId", .expected, into: &notes)
        error.code = data.text("code", .expected, into: &notes)
        error.message = data.text("message", .optional, into: &notes)
        error.retryable = data.flag("retryable", .expected, into: &notes)
        // Missing, it means final; but nothing is refused because of a value that cannot be read.
        if error.retryable == nil, data.contains("retryable"), !data.isNull("retryable") {
            error.retryable = true
        }
        data.compare(with: Contract.error, into: &notes)
        return error
    }
}

extension ErrorData {
    /// Reads a `canceled` event. Its name says it all, whatever its data are.
    static func readCanceled(_ bytes: [UInt8], into notes: inout ContractNotes) -> ErrorData {
        var error = ErrorData(jobId: "", code: Self.canceledCode, message: "", retryable: false)
        let data = LeanObject(optional: bytes, "the data of `canceled`", into: &notes)
        (error.jobId, error.message) = (data?.text("jobId", .optional, into: &notes), nil)
        data?.compare(with: Contract.canceledEvent, into: &notes)
        return error
    }
}

extension DegradedData {
    static func read(_ bytes: [UInt8], into notes: inout ContractNotes) -> DegradedData? {
        guard let data = LeanObject(bytes, into: &notes) else { return nil }
        let jobId = data.text("jobId", .expected, into: &notes)
        let title = data.text("title", .optional, into: &notes)
        let reason = data.text("reason", .optional, into: &notes)
        let timestamp = data.text("timestamp", .optional, into: &notes)
        var degraded = DegradedData(
            jobId: jobId ?? "", isbn: data.text("isbn", .optional, into: &notes), title: title ?? "",
            reason: reason ?? "", timestamp: timestamp ?? "")
        (degraded.title, degraded.reason, degraded.timestamp) = (title, reason, timestamp)
        degraded.type = data.text("type", .expected, into: &notes) ?? degraded.type
        degraded.fallbackSource = data.text("fallbackSource", .optional, into: &notes)
        data.compare(with: Contract.degraded, into: &notes)
        return degraded
    }
}

extension PingData {
    /// Reads what no client uses, only for its deviations: whatever a ping carries, the stream is alive.
    static func note(_ bytes: [UInt8], into notes: inout ContractNotes) {
        guard let data = LeanObject(optional: bytes, "the data of a ping", into: &notes) else { return }
        data.compare(with: Contract.ping, into: &notes)
    }
}

extension SegmentedReading {
    static func read(_ bytes: [UInt8], into notes: inout ContractNotes) -> SegmentedReading? {
        guard let data = LeanObject(bytes, into: &notes) else { return nil }
        let reading = Self.read(data, into: &notes)
        data.compare(with: Contract.segmented, into: &notes)
        return reading
    }

    private static func read(_ data: LeanObject, into notes: inout ContractNotes) -> SegmentedReading? {
        let image = data.text("image", .required, into: &notes)
        let books = data.integer("totalBooks", .required, into: &notes)
        guard let image, let books else { return nil }
        let bytes = Base64.decodedCount(image)
        guard let bytes, (1...Self.imageBytesMax).contains(bytes) else {
            notes.add(
                "image", expected: "an image of at most \(Self.imageBytesMax) bytes in base64",
                seen: bytes == nil ? "another string" : "another size", excerpt: image, isDecisive: true)
            return nil
        }
        guard (0...Self.booksMax).contains(books) else {
            notes.add(
                "totalBooks", expected: "0 to \(Self.booksMax)", seen: "another number", excerpt: "\(books)",
                isDecisive: true)
            return nil
        }
        if !image.hasPrefix(Self.jpegPrefix) {
            notes.add("image", expected: "a JPEG in base64", seen: "another image")
        }
        return SegmentedReading(imageBytes: bytes, totalBooks: books)
    }
}

extension BookProgressData {
    static func read(_ bytes: [UInt8], into notes: inout ContractNotes) -> BookProgressData? {
        guard let data = LeanObject(bytes, into: &notes) else { return nil }
        let current = data.integer("current", .required, into: &notes)
        let total = data.integer("total", .required, into: &notes)
        let stage = data.text("stage", .optional, into: &notes)
        data.compare(with: Contract.bookProgress, into: &notes)
        data.compare("current", isAtMost: "total", into: &notes)
        guard let current, let total else { return nil }
        return BookProgressData(current: current, total: total, stage: stage)
    }
}

/// A problem body as far as a phone acts on it. Error bodies are the least reliable part of any backend
/// (Docs/contract.md section 1.7): a missing `success` must not cost us the `retryAfterMs`.
package struct ProblemReading: Hashable, Sendable {
    package var code: String?
    package var retryable: Bool?
    package var retryAfterMs: Int64?

    package init() {}

    /// `status`: that of the answer.
    package static func read(
        _ bytes: [UInt8], status: Int, into notes: inout ContractNotes
    ) -> ProblemReading {
        var reading = ProblemReading()
        // A client can do without the whole body: nothing about it decides.
        guard let problem = LeanObject(optional: bytes, "a problem body", into: &notes) else {
            return reading
        }
        reading.code = problem.text("code", .expected, into: &notes)
        reading.retryable = problem.flag("retryable", .expected, into: &notes)
        reading.retryAfterMs = problem.integer("retryAfterMs", .optional, into: &notes).map { Int64($0) }
        if problem.flag("success", .expected, into: &notes) == true {
            notes.add("success", expected: "false", seen: "true")
        }
        if let said = problem.integer("status", .expected, into: &notes), said != status {
            notes.add(
                "status", expected: "the status of the answer", seen: "another status", excerpt: "\(said)")
        }
        problem.compare(with: Contract.problem, into: &notes)
        // The nested form of one dialect (Docs/contract.md section 2.6).
        var nestedNotes = ContractNotes()
        if let nested = problem.object("error", .optional, into: &nestedNotes) {
            if reading.code == nil { reading.code = nested.text("code", .optional, into: &nestedNotes) }
            if reading.retryable == nil {
                reading.retryable = nested.flag("retryable", .optional, into: &nestedNotes)
            }
        }
        return reading
    }
}
