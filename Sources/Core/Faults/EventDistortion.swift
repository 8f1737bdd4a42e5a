import JSON
package import Talaria

/// Changes that the server's faults make to an event or a body: of the simulated backend or of a foreign one
/// behind the gateway.
package enum EventDistortion {
    // MARK: Events

    /// The target of `bad-json` that means events of this kind.
    package static func badJSONTarget(of kind: EventKind) -> BadJSONTarget? {
        switch kind {
        case .progress: .progress
        case .completed: .completed
        case .error, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result: nil
        }
    }

    /// JSON that breaks off.
    package static func badJSON(_ kind: EventKind, job: String) -> [UInt8] {
        Array("{\"jobId\":\"\(job)\",\"type\":\"\(kind.rawValue)\",".utf8)
    }

    /// Returns the data of a `completed` event without its books; nil if it has none. If the books are
    /// renamed, they are under the key of the results endpoint.
    package static func stripped(_ data: [UInt8], as form: StrippedForm) -> [UInt8]? {
        guard var object = JSONObjectText(data), object.contains(Self.booksKey) else { return nil }
        switch form {
        case .absent: object.remove(Self.booksKey)
        case .null: object.set(Self.booksKey, to: Array("null".utf8))
        case .empty: object.set(Self.booksKey, to: Array("[]".utf8))
        case .renamed: object.rename(Self.booksKey, to: Self.renamedBooksKey)
        }
        return object.bytes
    }

    package static let booksKey = "books"
    static let renamedBooksKey = "results"

    /// The data of a `progress` event without its text; nil if it has none.
    package static func withoutMessage(_ data: [UInt8]) -> [UInt8]? {
        guard var object = JSONObjectText(data), object.contains("message") else { return nil }
        object.remove("message")
        return object.bytes
    }

    /// The data with a line break where JSON allows one: behind the first comma, or the first brace.
    package static func split(_ data: [UInt8]) -> [UInt8] {
        var isText = false
        var isEscaped = false
        var first: Int?
        for (place, byte) in data.enumerated() {
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            if byte == UInt8(ascii: "\"") { isText = true }
            if byte == UInt8(ascii: "{") { first = first ?? place }
            if byte == UInt8(ascii: ",") {
                first = place
                break
            }
        }
        guard let first else { return data }
        return data[...first] + [UInt8(ascii: "\n")] + data[(first + 1)...]
    }

    /// The name of an event that the contract does not have; nil: one that no version has.
    package static func unknownName(_ event: UnknownEvent?) -> String {
        event?.rawValue ?? "telemetry"
    }

    package static func unknownData(_ name: String, job: String, timestamp: String) -> [UInt8] {
        JSON.object { writer in
            writer.member("jobId", job)
            writer.member("timestamp", timestamp)
            writer.member("type", name)
        }
    }

    // MARK: Books that could not be looked up

    /// `enrichment_degraded` for one book.
    package static func degradedData(
        job: String, isbn: String?, title: String, timestamp: String
    ) -> [UInt8] {
        JSON.encode(
            DegradedData(
                jobId: job, isbn: isbn, title: title, reason: "isbndb_circuit_open", timestamp: timestamp))
    }

    // MARK: Bodies

    /// The books of an answer in another order: none keeps its position. Is nil for a single book.
    package static func reordered<Book>(_ books: [Book], _ draw: UInt64) -> [Book]? {
        guard books.count > 1 else { return nil }
        let first = 1 + Int(draw.multipliedFullWidth(by: UInt64(books.count - 1)).high)
        return Array(books[first...] + books[..<first])
    }

    /// Returns the length to which a body is truncated: at least one byte is left and at least one is
    /// missing, so that it is not JSON.
    package static func truncatedCount(of count: Int, _ draw: UInt64) -> Int {
        guard count > 1 else { return count }
        return 1 + Int(draw.multipliedFullWidth(by: UInt64(count - 1)).high)
    }
}
