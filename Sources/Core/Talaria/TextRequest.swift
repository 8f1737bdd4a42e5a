internal import JSON

/// The body of `POST /v3/jobs/enrich` (Docs/contract.md section 1.5): `{text, isbn?, title?, author?}`.
package struct TextRequest: Hashable, Sendable {
    package static let path = "/v3/jobs/enrich"
    /// The statuses of a backend without it: the client uploads the photo instead.
    package static let statusesWithoutIt = [404, 405, 501]
    package static let bodyBytesMax = 65_536
    /// Characters of `text`, and of each other member.
    package static let textCharactersMax = 10_000
    package static let memberCharactersMax = 1_000

    /// Why a body is not a request.
    package enum Flaw: Error, Hashable, Sendable {
        case notJSON, noText, badMember(String)

        /// The reason in one sentence.
        package var text: String {
            switch self {
            case .notJSON: "The body is not a JSON object."
            case .noText: "text is required."
            case .badMember(let name): "\(name) has the wrong type, or is too long."
            }
        }
    }

    /// Everything that was read from the spine.
    package let text: String
    package let isbn: String?
    package let title: String?
    package let author: String?

    package init(_ reading: BookReading) {
        self.text = reading.text
        self.isbn = reading.isbn
        self.title = reading.title
        self.author = reading.author
    }

    package var body: [UInt8] {
        JSON.object { writer in
            writer.member("author", self.author)
            writer.member("isbn", self.isbn)
            writer.member("text", self.text)
            writer.member("title", self.title)
        }
    }

    package init(_ bytes: [UInt8]) throws(Flaw) {
        guard let body = JSONNode(bytes), body.kind == .object else { throw .notJSON }
        func member(_ key: String, max: Int) throws(Flaw) -> String? {
            guard let node = body[key], !node.isNull else { return nil }
            guard let text = node.text, text.unicodeScalars.count <= max else { throw .badMember(key) }
            return text
        }
        guard let text = try member("text", max: Self.textCharactersMax), !text.isEmpty else { throw .noText }
        self.text = text
        self.isbn = try member("isbn", max: Self.memberCharactersMax)
        self.title = try member("title", max: Self.memberCharactersMax)
        self.author = try member("author", max: Self.memberCharactersMax)
    }
}
