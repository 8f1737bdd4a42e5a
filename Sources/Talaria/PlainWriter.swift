import SimBase

/// Writes JSON as the encoder of `JSON` would, byte for byte, at a tenth of its cost: for the bodies of which there are
/// thousands a second. Members come in the order of their keys, as the caller writes them.
package struct PlainWriter: Sendable {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    init(reserving count: Int) { self.bytes.reserveCapacity(count) }

    // MARK: Values

    mutating func object(_ members: (inout PlainWriter) -> Void) {
        self.bytes.append(UInt8(ascii: "{"))
        self.isFirst = true
        members(&self)
        self.bytes.append(UInt8(ascii: "}"))
        self.isFirst = false
    }

    mutating func array<Element>(_ elements: [Element], _ write: (inout PlainWriter, Element) -> Void) {
        self.bytes.append(UInt8(ascii: "["))
        for (place, element) in elements.enumerated() {
            if place > 0 { self.bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        self.bytes.append(UInt8(ascii: "]"))
    }

    mutating func text(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        let start = self.bytes.count
        self.bytes.append(text: text)
        // Hardly any text needs an escape: looked for where it lies by now.
        if PlainText.end(in: self.bytes, from: start) < self.bytes.count {
            self.bytes.removeLast(self.bytes.count - start)
            for byte in text.utf8 { self.escaped(byte) }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            self.bytes.append(UInt8(ascii: "\\"))
            self.bytes.append(byte)
        case 0x08: self.raw("\\b")
        case 0x09: self.raw("\\t")
        case 0x0A: self.raw("\\n")
        case 0x0C: self.raw("\\f")
        case 0x0D: self.raw("\\r")
        case 0..<0x20:
            self.raw("\\u00")
            self.bytes.append(byte >> 4 + UInt8(ascii: "0"))
            self.bytes.append(Self.digits[Int(byte & 15)])
        default: self.bytes.append(byte)
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    mutating func integer(_ value: Int) {
        // Small numbers are most of them.
        if (0...9).contains(value) {
            self.bytes.append(UInt8(ascii: "0") + UInt8(value))
        } else {
            Decimal.append(Int64(value), to: &self.bytes)
        }
    }

    /// A whole number has no point.
    mutating func decimal(_ value: Double) {
        let text = value.description
        self.bytes.append(contentsOf: text.hasSuffix(".0") ? text.dropLast(2).utf8 : text[...].utf8)
    }

    mutating func toggle(_ value: Bool) { self.raw(value ? "true" : "false") }

    mutating func null() { self.raw("null") }

    // MARK: Members

    mutating func key(_ key: String) {
        if !self.isFirst { self.bytes.append(UInt8(ascii: ",")) }
        self.isFirst = false
        self.bytes.append(UInt8(ascii: "\""))
        self.raw(key)
        self.bytes.append(UInt8(ascii: "\""))
        self.bytes.append(UInt8(ascii: ":"))
    }

    mutating func member(_ key: String, _ text: String) {
        self.key(key)
        self.text(text)
    }

    /// Nil is left out.
    mutating func member(_ key: String, _ text: String?) {
        if let text { self.member(key, text) }
    }

    mutating func member(_ key: String, _ value: Int?) {
        guard let value else { return }
        self.key(key)
        self.integer(value)
    }

    mutating func member(_ key: String, _ value: Double?) {
        guard let value else { return }
        self.key(key)
        self.decimal(value)
    }

    mutating func member(_ key: String, _ value: Bool?) {
        guard let value else { return }
        self.key(key)
        self.toggle(value)
    }

    private mutating func raw(_ text: String) { self.bytes.append(text: text) }
}

/// The part of a JSON text that stands for itself.
enum PlainText {
    /// Where the first byte is that is, or needs, an escape, or that ends a text.
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

extension ProgressData: PlainEncodable {
    package func write(to writer: inout PlainWriter) {
        writer.object { writer in
            writer.member("currentItem", self.currentItem)
            writer.member("jobId", self.jobId)
            writer.member("message", self.message)
            writer.member("processedCount", self.processedCount)
            writer.member("progress", self.progress)
            writer.member("status", self.status)
            writer.member("timestamp", self.timestamp)
            writer.member("totalCount", self.totalCount)
            writer.member("type", self.type)
        }
    }
}

extension PingData: PlainEncodable {
    package func write(to writer: inout PlainWriter) {
        writer.object { writer in
            writer.member("timestamp", self.timestamp)
            writer.member("type", self.type)
        }
    }
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
    fileprivate mutating func member(_ key: String, _ link: UploadAccepted.Link) {
        self.key(key)
        self.object { writer in
            writer.member("href", link.href)
            writer.member("method", link.method)
            writer.member("rel", link.rel)
        }
    }
}
