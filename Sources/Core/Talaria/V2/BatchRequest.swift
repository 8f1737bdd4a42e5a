internal import JSON
package import SimBase

/// The body of a batch enrichment (Docs/contract.md section 3.2): `{barcodes, vectorize}` or `{books: [{title, author, isbn}]}`.
package struct BatchRequest: Hashable, Sendable {
    /// The books of one batch.
    package static let booksMax = 100
    package static let titleCharactersMax = 500
    package static let authorCharactersMax = 300
    package static let isbnCharactersMax = 17
    package static let bodyBytesMax = 1 << 20

    /// What is known of a book that is asked for.
    package enum Item: Hashable, Sendable {
        case barcode(String)
        case book(title: String, author: String, isbn: String?)
    }

    /// Why a body is not a batch.
    package enum Flaw: Error, Hashable, Sendable {
        case notJSON, noBooks, both, empty, tooMany, badMember(String)
        /// From 0, with the name of the member.
        case badItem(Int, String)

        /// The reason in one sentence.
        package var text: String {
            switch self {
            case .notJSON: "The body is not a JSON object."
            case .noBooks: "barcodes or books is required, as an array."
            case .both: "Either barcodes or books may come, and not both."
            case .empty: "The batch has no books."
            case .tooMany: "At most \(BatchRequest.booksMax) books may come at once."
            case .badMember(let name): "\(name) has the wrong type."
            case .badItem(let index, let name):
                "\(name) of book \(index + 1) is missing, has the wrong type, or is too long."
            }
        }
    }

    package let items: [Item]

    package init(_ bytes: [UInt8]) throws(Flaw) {
        guard let body = JSONNode(bytes), body.kind == .object else { throw .notJSON }
        if let flag = body["vectorize"], !flag.isNull, flag.flag == nil { throw .badMember("vectorize") }
        if let id = body["jobId"], !id.isNull, id.text == nil { throw .badMember("jobId") }
        func isThere(_ key: String) -> Bool { body[key].map { !$0.isNull } ?? false }
        let isBarcodes = isThere("barcodes")
        guard !isBarcodes || !isThere("books") else { throw .both }
        guard let list = body[isBarcodes ? "barcodes" : "books"], list.kind == .array else { throw .noBooks }
        let elements = list.elements
        guard !elements.isEmpty else { throw .empty }
        guard elements.count <= Self.booksMax else { throw .tooMany }
        var items: [Item] = []
        items.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            items.append(
                isBarcodes ? try Self.barcode(element, at: index) : try Self.book(element, at: index))
        }
        self.items = items
    }

    private static func barcode(_ node: JSONNode, at index: Int) throws(Flaw) -> Item {
        guard let text = node.text, (1...Self.isbnCharactersMax).contains(text.unicodeScalars.count) else {
            throw .badItem(index, "barcode")
        }
        return .barcode(text)
    }

    private static func book(_ node: JSONNode, at index: Int) throws(Flaw) -> Item {
        func text(_ key: String, _ counts: ClosedRange<Int>) throws(Flaw) -> String? {
            guard node.kind == .object, let member = node[key], !member.isNull else { return nil }
            guard let text = member.text, counts.contains(text.unicodeScalars.count) else {
                throw .badItem(index, key)
            }
            return text
        }
        guard let title = try text("title", 1...Self.titleCharactersMax) else {
            throw .badItem(index, "title")
        }
        let author = try text("author", 0...Self.authorCharactersMax) ?? ""
        let isbn = try text("isbn", 0...Self.isbnCharactersMax)
        return .book(title: title, author: author, isbn: isbn.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// The body of a batch of books with known barcodes.
    package static func body(ofBarcodes barcodes: [String]) -> [UInt8] {
        JSON.object { writer in
            writer.array("barcodes", barcodes) { $0.text($1) }
            writer.member("vectorize", false)
        }
    }

    /// The body of a batch of books with known title, author and ISBN.
    package static func body(of books: [Book]) -> [UInt8] {
        JSON.object { writer in
            writer.array("books", books) { writer, book in
                writer.object { writer in
                    writer.member("author", book.author)
                    writer.member("isbn", book.isbn)
                    writer.member("title", book.title)
                }
            }
        }
    }
}

extension Shelf {
    /// What a phone sends to have the books of a shelf enriched.
    package func batchBody(device: DeviceNumber, scan: ScanNumber) -> [UInt8] {
        let books = self.books(device: device, scan: scan)
        return self.stock(of: device) == .barcodes
            ? BatchRequest.body(ofBarcodes: books.compactMap(\.isbn)) : BatchRequest.body(of: books)
    }
}
