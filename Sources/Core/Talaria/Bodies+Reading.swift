import JSON

extension ShortKey {
    // Of a book.
    static let (title, author, isbn) = (ShortKey("title"), ShortKey("author"), ShortKey("isbn"))
    static let (confidence, coverUrl) = (ShortKey("confidence"), ShortKey("coverUrl"))
    static let enrichmentStatus = ShortKey("enrichmentStatus")
    // Of a `completed` event.
    static let totalDetected = ShortKey("totalDetected")
    static let (type, jobId, resultsUrl) = (ShortKey("type"), ShortKey("jobId"), ShortKey("resultsUrl"))
    static let (summary, books) = (ShortKey("summary"), ShortKey("books"))
    // Of a 202.
    static let (success, data, links) = (ShortKey("success"), ShortKey("data"), ShortKey("_links"))
    static let (metadata, timestamp) = (ShortKey("metadata"), ShortKey("timestamp"))
    static let (requestId, authToken) = (ShortKey("requestId"), ShortKey("authToken"))
    static let (sseUrl, statusUrl) = (ShortKey("sseUrl"), ShortKey("statusUrl"))
    static let (own, stream, cancel) = (ShortKey("self"), ShortKey("stream"), ShortKey("cancel"))
    static let (href, method, rel) = (ShortKey("href"), ShortKey("method"), ShortKey("rel"))
}

extension ProgressData {
    private enum Form { case text, integer, decimal }

    private static let members: [(key: ShortKey, form: Form)] = [
        (ShortKey("currentItem"), .text), (.jobId, .text), (ShortKey("message"), .text),
        (ShortKey("processedCount"), .integer), (ShortKey("progress"), .decimal), (ShortKey("status"), .text),
        (.timestamp, .text), (ShortKey("totalCount"), .integer), (.type, .text),
    ]
    /// By offset in `members`: `jobId` and `type`.
    private static let required: UInt = 1 << 1 | 1 << 8

    /// Whether this is plainly a progress event, without making anything of it: most events are, and nobody looks into
    /// them. False for what is not plain, or none: then a decoder decides.
    static func isPlain(_ data: [UInt8]) -> Bool {
        var object = FastJSONReader(data)
        let members = Self.members
        var (next, seen): (Int, UInt) = (0, 0)
        object.object { object, key in
            // A key that comes twice is the decoder's to judge, and so is a value of another type.
            guard let offset = Self.offset(of: key, from: next, in: members), seen & 1 << UInt(offset) == 0
            else { return false }
            next = offset + 1
            seen |= 1 << UInt(offset)
            switch members[offset].form {
            case .text: return object.skipText()
            case .integer: return object.integer() != nil
            case .decimal: return object.skipDecimal()
            }
        }
        return object.isAtEnd && seen & Self.required == Self.required
    }

    /// Members come in the order of their keys, as a rule.
    private static func offset(
        of key: ShortKey, from next: Int, in members: [(key: ShortKey, form: Form)]
    ) -> Int? {
        for offset in next..<members.count where members[offset].key == key { return offset }
        for offset in 0..<next where members[offset].key == key { return offset }
        return nil
    }
}

extension Book {
    /// Nil for what is not plain, or no book.
    init?(plain object: inout FastJSONReader) {
        var (title, author, isbn, status, cover): (String?, String?, String?, String?, String?)
        var confidence: Double?
        object.object { object, key in
            switch key {
            case .title where title == nil: object.read(&title)
            case .author where author == nil: object.read(&author)
            case .isbn where isbn == nil: object.read(&isbn)
            case .confidence where confidence == nil: object.read(&confidence)
            case .enrichmentStatus where status == nil: object.read(&status)
            case .coverUrl where cover == nil: object.read(&cover)
            default: false
            }
        }
        guard let title, let author, confidence.map({ (0...1).contains($0) }) ?? true else { return nil }
        let enrichment = status.map { EnrichmentStatus(text: $0) }
        if case .unknown = enrichment { return nil }
        self.init(
            title: title, author: author, isbn: isbn, confidence: confidence,
            enrichmentStatus: enrichment, coverUrl: cover)
    }
}

extension CompletedReading {
    /// Nil for what is not plain: then a decoder decides.
    init?(plain data: [UInt8]) {
        var object = FastJSONReader(data)
        var (type, jobId, resultsUrl): (String?, String?, String?)
        var books: [Book]?
        var hasSummary = false
        var detected: Int?
        object.object { object, key in
            switch key {
            case .type where type == nil: return object.read(&type)
            case .jobId where jobId == nil: return object.read(&jobId)
            case .resultsUrl where resultsUrl == nil: return object.read(&resultsUrl)
            case .summary where !hasSummary:
                hasSummary = true
                object.object { object, key in
                    guard let number = object.integer() else { return false }
                    guard key == .totalDetected else { return true }
                    defer { detected = number }
                    return detected == nil
                }
                return true
            case .books where books == nil:
                var read: [Book] = []
                object.array { object in
                    guard let book = Book(plain: &object) else { return false }
                    read.append(book)
                    return true
                }
                books = read
                return true
            default: return false
            }
        }
        guard object.isAtEnd else { return nil }
        self.init(jobId: jobId, resultsUrl: resultsUrl, books: books, totalDetected: detected)
    }
}

extension UploadAccepted {
    /// Nil for what is not plain: then a decoder decides.
    package init?(plain bytes: [UInt8]) {
        var object = FastJSONReader(bytes)
        var success: Bool?
        var job: Job?
        var links: Links?
        var metadata: Metadata?
        object.object { object, key in
            switch key {
            case .success where success == nil: return object.read(&success)
            case .data where job == nil:
                job = Job(plain: &object)
                return job != nil
            case .links where links == nil:
                links = Links(plain: &object)
                return links != nil
            case .metadata where metadata == nil:
                metadata = Metadata(plain: &object)
                return metadata != nil
            default: return false
            }
        }
        guard object.isAtEnd, let success, let job else { return nil }
        self.init(job: job, links: links, metadata: metadata)
        self.success = success
    }
}

extension UploadAccepted.Job {
    fileprivate init?(plain object: inout FastJSONReader) {
        var (jobId, token, stream, status): (String?, String?, String?, String?)
        object.object { object, key in
            switch key {
            case .jobId where jobId == nil: object.read(&jobId)
            case .authToken where token == nil: object.read(&token)
            case .sseUrl where stream == nil: object.read(&stream)
            case .statusUrl where status == nil: object.read(&status)
            default: false
            }
        }
        guard let jobId, let stream else { return nil }
        self.init(jobId: jobId, authToken: token, sseUrl: stream, statusUrl: status)
    }
}

extension UploadAccepted.Links {
    fileprivate init?(plain object: inout FastJSONReader) {
        var (own, stream, cancel): (UploadAccepted.Link?, UploadAccepted.Link?, UploadAccepted.Link?)
        object.object { object, key in
            let link = UploadAccepted.Link(plain: &object)
            switch key {
            case .own where own == nil: own = link
            case .stream where stream == nil: stream = link
            case .cancel where cancel == nil: cancel = link
            default: return false
            }
            return link != nil
        }
        guard let own, let stream, let cancel else { return nil }
        self.init(own: own, stream: stream, cancel: cancel)
    }
}

extension UploadAccepted.Link {
    fileprivate init?(plain object: inout FastJSONReader) {
        var (href, method, rel): (String?, String?, String?)
        object.object { object, key in
            switch key {
            case .href where href == nil: object.read(&href)
            case .method where method == nil: object.read(&method)
            case .rel where rel == nil: object.read(&rel)
            default: false
            }
        }
        guard let href else { return nil }
        self.init(href: href, rel: rel, method: method)
    }
}

extension Metadata {
    fileprivate init?(plain object: inout FastJSONReader) {
        var (timestamp, requestId): (String?, String?)
        object.object { object, key in
            switch key {
            case .timestamp where timestamp == nil: object.read(&timestamp)
            case .requestId where requestId == nil: object.read(&requestId)
            default: false
            }
        }
        guard let timestamp, let requestId else { return nil }
        self.init(timestamp: timestamp, requestId: requestId)
    }
}
