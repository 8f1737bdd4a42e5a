internal import JSON
package import SimBase

/// The body of `POST /api/v2/books/enrich` (Docs/contract.md section 3.2): `{barcode, vectorize}`, with `isbn` for `barcode`,
/// and what the client adds, `idempotencyKey` and `preferProvider`.
package struct EnrichmentRequest: Hashable, Sendable {
    package static let path = "/api/v2/books/enrich"
    /// Characters of a barcode and of a key.
    package static let barcodeCharactersMax = 17
    package static let keyCharactersMax = 200
    package static let bodyBytesMax = 65_536
    /// The time for which a key gives the same answer (Docs/as-built.md section 3.5).
    package static let keyLifetime = Interval.hours(24)

    /// Why a body is not a request.
    package enum Flaw: Error, Hashable, Sendable {
        case notJSON, noBarcode, badMember(String)

        /// The reason in one sentence.
        package var text: String {
            switch self {
            case .notJSON: "The body is not a JSON object."
            case .noBarcode: "barcode or isbn is required."
            case .badMember(let name): "\(name) has the wrong type, or is too long."
            }
        }
    }

    /// As it came.
    package let barcode: String
    package let wantsVector: Bool
    package let idempotencyKey: String?
    package let preferredProvider: String?

    /// What a client sends that looks a barcode up: the key makes a repeated request the same one.
    package init(barcode: String, key: String) {
        self.barcode = barcode
        self.wantsVector = false
        self.idempotencyKey = key
        self.preferredProvider = Self.anyProvider
    }

    private static let anyProvider = "auto"

    /// The key of the client for a barcode (Docs/contract.md section 3.2).
    package static func key(barcode: String) -> String { Self.keyPrefix + barcode }

    /// The barcode in a key of the client; nil for another key.
    package static func barcode(ofKey key: String) -> String? {
        key.hasPrefix(Self.keyPrefix) ? String(key.dropFirst(Self.keyPrefix.utf8.count)) : nil
    }

    private static let keyPrefix = "scan_"

    package var body: [UInt8] {
        JSON.object { writer in
            writer.member("barcode", self.barcode)
            writer.member("idempotencyKey", self.idempotencyKey)
            writer.member("preferProvider", self.preferredProvider)
            writer.member("vectorize", self.wantsVector)
        }
    }

    package init(_ bytes: [UInt8]) throws(Flaw) {
        guard let body = JSONNode(bytes), body.kind == .object else { throw .notJSON }
        func text(_ key: String, max: Int) throws(Flaw) -> String? {
            guard let node = body[key], !node.isNull else { return nil }
            guard let text = node.text, text.unicodeScalars.count <= max else { throw .badMember(key) }
            return text
        }
        let first = try text("barcode", max: Self.barcodeCharactersMax)
        let second = try text("isbn", max: Self.barcodeCharactersMax)
        guard let barcode = first ?? second, !barcode.isEmpty else { throw .noBarcode }
        var wantsVector = false
        if let node = body["vectorize"], !node.isNull {
            guard let flag = node.flag else { throw .badMember("vectorize") }
            wantsVector = flag
        }
        self.barcode = barcode
        self.wantsVector = wantsVector
        self.idempotencyKey = try text("idempotencyKey", max: Self.keyCharactersMax)
        self.preferredProvider = try text("preferProvider", max: Self.keyCharactersMax)
    }
}
