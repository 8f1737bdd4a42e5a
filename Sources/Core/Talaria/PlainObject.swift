/// Reads JSON objects as a backend plainly writes them: no blanks, no escapes, numbers without exponents. Anything else is
/// not refused but left to a decoder, which costs ten times as much and has the last word.
struct PlainObject {
    private let bytes: [UInt8]
    private var position = 0
    /// Something was not plain: whatever came of it, the object is the decoder's.
    private var isPlain = true

    /// Longer numbers are left to the decoder.
    private static let digitsMax = 15

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads an object: `member` is told each key and reads its value; false is something that is not plain.
    mutating func object(_ member: (inout PlainObject, PlainKey) -> Bool) {
        self.list("{", "}") { object in
            guard let key = object.readKey(), object.take(UInt8(ascii: ":")) else { return false }
            return member(&object, key)
        }
    }

    /// Reads an array, element by element.
    mutating func array(_ element: (inout PlainObject) -> Bool) { self.list("[", "]", element) }

    @inline(__always) private mutating func list(
        _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ item: (inout PlainObject) -> Bool
    ) {
        guard self.isPlain, self.take(UInt8(ascii: opening)) else { return self.fail() }
        if self.take(UInt8(ascii: closing)) { return }
        repeat {
            guard item(&self), self.isPlain else { return self.fail() }
        } while self.take(UInt8(ascii: ","))
        if !self.take(UInt8(ascii: closing)) { self.fail() }
    }

    /// Whether all was plain, and nothing is behind it.
    var isAtEnd: Bool { self.isPlain && self.position == self.bytes.count }

    private mutating func fail() { self.isPlain = false }

    mutating func text() -> String? { self.plain { $0.readText() } }

    mutating func integer() -> Int? { self.plain { $0.readInteger() } }

    mutating func decimal() -> Double? { self.plain { $0.readDecimal() } }

    private mutating func plain<Value>(_ read: (inout PlainObject) -> Value?) -> Value? {
        let value = read(&self)
        if value == nil { self.isPlain = false }
        return value
    }

    mutating func toggle() -> Bool? {
        if self.takeWord(Self.yes) { return true }
        if self.takeWord(Self.no) { return false }
        self.fail()
        return nil
    }

    private static let yes = Array("true".utf8)
    private static let no = Array("false".utf8)

    private mutating func takeWord(_ word: [UInt8]) -> Bool {
        guard self.bytes[self.position...].starts(with: word) else { return false }
        self.position += word.count
        return true
    }

    private mutating func readKey() -> PlainKey? {
        guard let key = self.unescapedText(), key.count <= PlainKey.bytesMax else { return nil }
        return PlainKey(key)
    }

    /// Whether there is a text; goes behind it.
    mutating func skipText() -> Bool {
        let start = self.position + 1
        if self.unescapedText() != nil { return true }
        return self.isAtEscape(of: start) && self.readEscaped(from: start) != nil
    }

    private mutating func readText() -> String? {
        let start = self.position + 1
        if let text = self.unescapedText() { return String(decoding: text, as: UTF8.self) }
        return self.isAtEscape(of: start) ? self.readEscaped(from: start) : nil
    }

    /// Whether an escape is in the way of the text that begins there.
    private func isAtEscape(of start: Int) -> Bool {
        self.position >= start && self.isAt(UInt8(ascii: "\\"))
    }

    /// Goes behind it; or to what is in its way, an escape, a control character or the end, and answers nil.
    private mutating func unescapedText() -> ArraySlice<UInt8>? {
        guard self.take(UInt8(ascii: "\"")) else { return nil }
        let start = self.position
        self.position = PlainText.end(in: self.bytes, from: start)
        let end = self.position
        return self.take(UInt8(ascii: "\"")) ? self.bytes[start..<end] : nil
    }

    /// Goes on with a text at its first escape. Those that spell a character by its number are left to a decoder.
    private mutating func readEscaped(from start: Int) -> String? {
        var text = Array(self.bytes[start..<self.position])
        while self.position < self.bytes.count {
            let byte = self.bytes[self.position]
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard self.position < self.bytes.count, let meant = Self.meant(by: self.bytes[self.position])
                else { return nil }
                text.append(meant)
                self.position += 1
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private static func meant(by escape: UInt8) -> UInt8? {
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): escape
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    private mutating func readInteger() -> Int? {
        guard let digits = self.digits(), !self.isAt(UInt8(ascii: ".")) else { return nil }
        return digits
    }

    private mutating func readDecimal() -> Double? {
        let start = self.position
        guard let whole = self.digits() else { return nil }
        guard self.take(UInt8(ascii: ".")) else { return Double(whole) }
        let fraction = self.position
        self.skipDigits()
        guard self.position > fraction, self.position - start <= Self.digitsMax + 2 else { return nil }
        return Double(String(decoding: self.bytes[start..<self.position], as: UTF8.self))
    }

    /// Whether there is a decimal number that `decimal` would read; goes behind it.
    mutating func skipDecimal() -> Bool {
        let start = self.position
        guard self.digits() != nil else { return false }
        guard self.take(UInt8(ascii: ".")) else { return true }
        let fraction = self.position
        self.skipDigits()
        return self.position > fraction && self.position - start <= Self.digitsMax + 2
    }

    /// Digits without a leading zero, and what follows is not more of a number than a decimal point.
    private mutating func digits() -> Int? {
        let start = self.position
        self.skipDigits()
        let digits = self.bytes[start..<self.position]
        guard (1...Self.digitsMax).contains(digits.count),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private mutating func skipDigits() {
        while self.position < self.bytes.count,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self.bytes[self.position])
        {
            self.position += 1
        }
    }

    private func isAt(_ byte: UInt8) -> Bool {
        self.position < self.bytes.count && self.bytes[self.position] == byte
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.isAt(byte) else { return false }
        self.position += 1
        return true
    }
}

extension ProgressData {
    private enum Form { case text, integer, decimal }

    private static let members: [(key: PlainKey, form: Form)] = [
        (PlainKey("currentItem"), .text), (.jobId, .text), (PlainKey("message"), .text),
        (PlainKey("processedCount"), .integer), (PlainKey("progress"), .decimal), (PlainKey("status"), .text),
        (.timestamp, .text), (PlainKey("totalCount"), .integer), (.type, .text),
    ]
    /// By place in `members`: `jobId` and `type`.
    private static let required: UInt = 1 << 1 | 1 << 8

    /// Whether this is plainly a progress event, without making anything of it: most events are, and nobody looks into
    /// them. False for what is not plain, or none: then a decoder decides.
    static func isPlain(_ data: [UInt8]) -> Bool {
        var object = PlainObject(data)
        let members = Self.members
        var (next, seen): (Int, UInt) = (0, 0)
        object.object { object, key in
            // A key that comes twice is the decoder's to judge, and so is a value of another type.
            guard let place = Self.place(of: key, from: next, in: members), seen & 1 << UInt(place) == 0
            else { return false }
            next = place + 1
            seen |= 1 << UInt(place)
            switch members[place].form {
            case .text: return object.skipText()
            case .integer: return object.integer() != nil
            case .decimal: return object.skipDecimal()
            }
        }
        return object.isAtEnd && seen & Self.required == Self.required
    }

    /// Members come in the order of their keys, as a rule.
    private static func place(
        of key: PlainKey, from next: Int, in members: [(key: PlainKey, form: Form)]
    ) -> Int? {
        for place in next..<members.count where members[place].key == key { return place }
        for place in 0..<next where members[place].key == key { return place }
        return nil
    }
}

/// A key of up to 16 bytes as two words, which are compared at once.
struct PlainKey: Hashable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private let count: Int

    static let bytesMax = 16

    init(_ key: String) { self.init(key.utf8) }

    init(_ bytes: some Collection<UInt8>) {
        precondition(bytes.count <= Self.bytesMax, "a key that no words hold")
        self.count = bytes.count
        for byte in bytes {
            self.high = self.high << 8 | self.low >> 56
            self.low = self.low << 8 | UInt64(byte)
        }
    }
}

extension PlainKey {
    // Of a book.
    static let (title, author, isbn) = (PlainKey("title"), PlainKey("author"), PlainKey("isbn"))
    static let (confidence, coverUrl) = (PlainKey("confidence"), PlainKey("coverUrl"))
    static let enrichmentStatus = PlainKey("enrichmentStatus")
    // Of a `completed` event.
    static let totalDetected = PlainKey("totalDetected")
    static let (type, jobId, resultsUrl) = (PlainKey("type"), PlainKey("jobId"), PlainKey("resultsUrl"))
    static let (summary, books) = (PlainKey("summary"), PlainKey("books"))
    // Of a 202.
    static let (success, data, links) = (PlainKey("success"), PlainKey("data"), PlainKey("_links"))
    static let (metadata, timestamp) = (PlainKey("metadata"), PlainKey("timestamp"))
    static let (requestId, authToken) = (PlainKey("requestId"), PlainKey("authToken"))
    static let (sseUrl, statusUrl) = (PlainKey("sseUrl"), PlainKey("statusUrl"))
    static let (own, stream, cancel) = (PlainKey("self"), PlainKey("stream"), PlainKey("cancel"))
    static let (href, method, rel) = (PlainKey("href"), PlainKey("method"), PlainKey("rel"))
}

extension PlainObject {
    /// Each reads a value; false is one that is not plain.
    mutating func read(_ value: inout String?) -> Bool {
        value = self.text()
        return value != nil
    }

    mutating func read(_ value: inout Int?) -> Bool {
        value = self.integer()
        return value != nil
    }

    mutating func read(_ value: inout Double?) -> Bool {
        value = self.decimal()
        return value != nil
    }

    mutating func read(_ value: inout Bool?) -> Bool {
        value = self.toggle()
        return value != nil
    }
}

extension Book {
    /// Nil for what is not plain, or no book.
    init?(plain object: inout PlainObject) {
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
        var object = PlainObject(data)
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
        var object = PlainObject(bytes)
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
    fileprivate init?(plain object: inout PlainObject) {
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
    fileprivate init?(plain object: inout PlainObject) {
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
    fileprivate init?(plain object: inout PlainObject) {
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
    fileprivate init?(plain object: inout PlainObject) {
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
