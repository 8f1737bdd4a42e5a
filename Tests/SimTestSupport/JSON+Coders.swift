import Foundation
package import JSON
package import Talaria

// The coders of the toolchain: what this program writes and reads is held to them.

extension JSON {
    /// Returns nil when the bytes are not JSON of this shape.
    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        self.decode(type, from: Array(text.utf8))
    }

    /// With sorted keys and plain slashes.
    package static func encodeByEncoder(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("not encodable: \(type(of: value))")
        }
        return Array(data)
    }
}

extension CompletedReading: Decodable {
    private enum Key: String, CodingKey { case jobId, resultsUrl, books, summary }
    private enum SummaryKey: String, CodingKey { case totalDetected }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let inline: InlineBooks
        if !container.contains(.books) {
            inline = .absent
        } else if (try? container.decodeNil(forKey: .books)) == true {
            inline = .null
        } else if let books = try? container.decode([Book].self, forKey: .books) {
            inline = books.isEmpty ? .empty : .books(books)
        } else {
            inline = .undecodable
        }
        let summary = try? container.nestedContainer(keyedBy: SummaryKey.self, forKey: .summary)
        let detected = try? summary?.decodeIfPresent(Int.self, forKey: .totalDetected)
        self.init(
            jobId: try? container.decodeIfPresent(String.self, forKey: .jobId),
            resultsUrl: try? container.decodeIfPresent(String.self, forKey: .resultsUrl), inline: inline,
            promise: BooksPromise(
                unique: nil, detected: detected.flatMap { $0 >= 0 ? $0 : nil }))
    }
}
