package import SimBase

/// Writes JSON as the encoder of `JSON` would, byte for byte, at a tenth of its cost: for the bodies of which there are
/// thousands a second. Members come in the order of their keys, as the caller writes them.
package struct PlainWriter: ~Copyable {
    private var draft: ByteDraft
    private var isFirst = true

    private init(_ draft: consuming ByteDraft) { self.draft = draft }

    /// What `write` writes, in one allocation if it is no more than most bodies are.
    static func bytes(_ write: (inout PlainWriter) -> Void) -> [UInt8] {
        ByteDraft.bytes { draft in
            var writer = PlainWriter(draft)
            write(&writer)
            draft = writer.draft
        }
    }

    // MARK: Values

    package mutating func object(_ members: (inout PlainWriter) -> Void) {
        self.draft.append(UInt8(ascii: "{"))
        self.isFirst = true
        members(&self)
        self.draft.append(UInt8(ascii: "}"))
        self.isFirst = false
    }

    mutating func array<Element>(_ elements: [Element], _ write: (inout PlainWriter, Element) -> Void) {
        self.draft.append(UInt8(ascii: "["))
        for (place, element) in elements.enumerated() {
            if place > 0 { self.draft.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        self.draft.append(UInt8(ascii: "]"))
    }

    mutating func text(_ text: String) {
        self.draft.append(UInt8(ascii: "\""))
        let start = self.draft.count
        self.draft.append(text: text)
        self.endText(from: start)
    }

    /// Hardly any text needs an escape: looked for where it lies by now.
    private mutating func endText(from start: Int) {
        if PlainText.end(in: self.draft, from: start) != nil {
            let text = self.draft.bytes[start...]
            self.draft.shorten(to: start)
            for byte in text { self.escaped(byte) }
        }
        self.draft.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            self.draft.append(UInt8(ascii: "\\"))
            self.draft.append(byte)
        case 0x08: self.draft.append(literal: "\\b")
        case 0x09: self.draft.append(literal: "\\t")
        case 0x0A: self.draft.append(literal: "\\n")
        case 0x0C: self.draft.append(literal: "\\f")
        case 0x0D: self.draft.append(literal: "\\r")
        case 0..<0x20:
            self.draft.append(literal: "\\u00")
            self.draft.append(Hexadecimal.digit(byte >> 4))
            self.draft.append(Hexadecimal.digit(byte & 15))
        default: self.draft.append(byte)
        }
    }

    mutating func integer(_ value: Int) {
        Decimal.append(Int64(value), to: &self.draft)
    }

    /// A whole number has no point.
    mutating func decimal(_ value: Double) {
        let text = value.description
        self.draft.append(text: text)
        if text.hasSuffix(".0") { self.draft.shorten(to: self.draft.count - 2) }
    }

    mutating func toggle(_ value: Bool) {
        if value { self.draft.append(literal: "true") } else { self.draft.append(literal: "false") }
    }

    // MARK: Members

    mutating func key(_ key: StaticString) {
        if !self.isFirst { self.draft.append(UInt8(ascii: ",")) }
        self.isFirst = false
        self.draft.append(UInt8(ascii: "\""))
        self.draft.append(literal: key)
        self.draft.append(UInt8(ascii: "\""))
        self.draft.append(UInt8(ascii: ":"))
    }

    /// A text that is written where it is to stand.
    package mutating func member(_ key: StaticString, writing write: (inout ByteDraft) -> Void) {
        self.key(key)
        self.draft.append(UInt8(ascii: "\""))
        let start = self.draft.count
        write(&self.draft)
        self.endText(from: start)
    }

    /// A share of 0 to 1, as the decimal number that it is.
    package mutating func member(_ key: StaticString, thousandths: Int) {
        self.key(key)
        Decimal.append(Int64(thousandths / 1_000), to: &self.draft)
        var (rest, digits) = (thousandths % 1_000, 3)
        guard rest > 0 else { return }
        while rest % 10 == 0 { (rest, digits) = (rest / 10, digits - 1) }
        self.draft.append(UInt8(ascii: "."))
        Decimal.append(UInt64(rest), digits: digits, to: &self.draft)
    }

    /// Milliseconds since 1970.
    package mutating func member(_ key: StaticString, timestamp: Int64) {
        self.member(key) { Timestamp.append(unixMilliseconds: timestamp, to: &$0) }
    }

    package mutating func member(_ key: StaticString, _ text: String) {
        self.key(key)
        self.text(text)
    }

    /// Nil is left out.
    package mutating func member(_ key: StaticString, _ text: String?) {
        if let text { self.member(key, text) }
    }

    package mutating func member(_ key: StaticString, _ value: Int?) {
        guard let value else { return }
        self.key(key)
        self.integer(value)
    }

    package mutating func member(_ key: StaticString, _ value: Double?) {
        guard let value else { return }
        self.key(key)
        self.decimal(value)
    }

    package mutating func member(_ key: StaticString, _ value: Bool?) {
        guard let value else { return }
        self.key(key)
        self.toggle(value)
    }
}

/// The part of a JSON text that stands for itself.
enum PlainText {
    /// Where the first byte is that is, or needs, an escape, or that ends a text.
    static func end(in draft: borrowing ByteDraft, from start: Int) -> Int? {
        draft.place(from: start) {
            $0.less(0x20) | $0.equal(UInt8(ascii: "\"")) | $0.equal(UInt8(ascii: "\\"))
        }
    }

    /// The same; the count when there is none.
    static func end(in bytes: [UInt8], from start: Int) -> Int {
        bytes.place(from: start) {
            $0.less(0x20) | $0.equal(UInt8(ascii: "\"")) | $0.equal(UInt8(ascii: "\\"))
        }
    }
}

/// What can be written without an encoder: members in the order of their keys.
package protocol PlainEncodable: Encodable {
    func write(to writer: inout PlainWriter)
}

extension Book: PlainEncodable {
    package func write(to writer: inout PlainWriter) {
        writer.object { writer in
            writer.member("author", self.author)
            writer.member("confidence", self.confidence)
            writer.member("coverUrl", self.coverUrl)
            writer.member("enrichmentStatus", self.enrichmentStatus?.text)
            writer.member("isbn", self.isbn)
            writer.member("title", self.title)
        }
    }
}

extension CompletedSummary: PlainEncodable {
    package func write(to writer: inout PlainWriter) {
        writer.object { writer in
            writer.member("approved", self.approved)
            writer.member("needsReview", self.needsReview)
            writer.member("totalDetected", self.totalDetected)
        }
    }
}

extension CompletedData: PlainEncodable {
    package func write(to writer: inout PlainWriter) {
        writer.object { writer in
            if let books = self.books {
                writer.key("books")
                writer.array(books) { $1.write(to: &$0) }
            }
            writer.member("jobId", self.jobId)
            writer.member("resultsUrl", self.resultsUrl)
            if let summary = self.summary {
                writer.key("summary")
                summary.write(to: &writer)
            }
            writer.member("type", self.type)
        }
    }
}

extension ResultsBody: PlainEncodable {
    package func write(to writer: inout PlainWriter) {
        writer.object { writer in
            writer.key("data")
            writer.object { writer in
                writer.member("jobId", self.data.jobId)
                writer.key("results")
                writer.array(self.data.results) { $1.write(to: &$0) }
                writer.member("status", self.data.status)
            }
            writer.member("success", self.success)
        }
    }
}

extension UploadAccepted: PlainEncodable {
    package func write(to writer: inout PlainWriter) {
        writer.object { writer in
            if let links = self._links {
                writer.key("_links")
                writer.object { writer in
                    writer.member("cancel", links.cancel)
                    writer.member("self", links.`self`)
                    writer.member("stream", links.stream)
                }
            }
            writer.key("data")
            writer.object { writer in
                writer.member("authToken", self.data.authToken)
                writer.member("jobId", self.data.jobId)
                writer.member("sseUrl", self.data.sseUrl)
                writer.member("statusUrl", self.data.statusUrl)
            }
            if let metadata = self.metadata {
                writer.key("metadata")
                writer.object { writer in
                    writer.member("requestId", metadata.requestId)
                    writer.member("timestamp", metadata.timestamp)
                }
            }
            writer.member("success", self.success)
        }
    }
}

extension PlainWriter {
    fileprivate mutating func member(_ key: StaticString, _ link: UploadAccepted.Link) {
        self.key(key)
        self.object { writer in
            writer.member("href", link.href)
            writer.member("method", link.method)
            writer.member("rel", link.rel)
        }
    }
}
