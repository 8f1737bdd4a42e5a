/// Why a selector or a condition could not be read.
package struct SLOError: Error, Hashable, Sendable {
    /// Where, in Unicode scalars from the start of the text that was parsed: what libyaml counts as characters.
    package let offset: Int
    /// One sentence without a full stop.
    package let message: String
    /// The suggested replacement for the text at `offset`.
    package let suggestion: String?
    /// What it can be, where no single replacement suggests itself.
    package var choices: String?
}

extension SLOError: CustomStringConvertible {
    package var description: String {
        self.suggestion.map { "\(self.message); did you mean `\($0)`?" }
            ?? self.choices.map { "\(self.message); \($0)" } ?? self.message
    }
}

/// Reads a short text from left to right, knowing where it is.
struct SLOScanner {
    /// A longer text is not an objective that a person wrote.
    static let scalarsMax = 512
    /// The maximum length of quoted text in an error message.
    private static let quotedMax = 40

    private let scalars: [Unicode.Scalar]
    private(set) var offset = 0

    init(_ text: String) throws(SLOError) {
        self.scalars = Array(text.unicodeScalars.prefix(Self.scalarsMax + 1))
        guard self.scalars.count <= Self.scalarsMax else {
            throw SLOError(
                offset: Self.scalarsMax, message: "longer than \(Self.scalarsMax) characters", suggestion: nil
            )
        }
    }

    var next: Unicode.Scalar? { self.offset < self.scalars.count ? self.scalars[self.offset] : nil }

    mutating func skipSpaces() {
        _ = self.take { $0 == " " || $0 == "\t" }
    }

    /// Takes scalars as long as they fit; possibly none.
    mutating func take(while fits: (Unicode.Scalar) -> Bool) -> String {
        let start = self.offset
        while let scalar = self.next, fits(scalar) { self.offset += 1 }
        return String(String.UnicodeScalarView(self.scalars[start..<self.offset]))
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard self.next == scalar else { return false }
        self.offset += 1
        return true
    }

    /// An error at the given position, or here.
    func error(_ message: String, at offset: Int? = nil, suggestion: String? = nil) -> SLOError {
        SLOError(offset: offset ?? self.offset, message: message, suggestion: suggestion)
    }

    /// Requires that only spaces follow a complete expression.
    mutating func expectEnd(after what: String) throws(SLOError) {
        self.skipSpaces()
        guard self.next != nil else { return }
        throw self.error(
            "unexpected `\(Self.quoted(String(String.UnicodeScalarView(self.scalars[self.offset...]))))` after \(what)"
        )
    }

    /// A text as an error message may show it, whoever wrote it.
    static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(Self.quotedMax)
        let safe = shown.map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
        return shown.count < text.unicodeScalars.count ? safe + "..." : safe
    }
}
