internal import SimBase

/// The secret of a job: 256 bits, 64 lower-case hexadecimal digits on the wire (CONTRACT.md section 1.2).
struct TokenSecret: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// `draw` is asked for the words 0 to 3.
    init(draw: (UInt64) -> UInt64) { self.words = (draw(0), draw(1), draw(2), draw(3)) }

    init?(text: Substring) {
        let bytes = Array(text.utf8)
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var digits = 0
        for byte in bytes {
            // Upper case is somebody else's.
            guard digits < 64, byte >= UInt8(ascii: "a") || byte <= UInt8(ascii: "9"),
                let nibble = Hexadecimal.nibble(byte).map(UInt64.init)
            else { return nil }
            switch digits / 16 {
            case 0: words.0 = words.0 << 4 | nibble
            case 1: words.1 = words.1 << 4 | nibble
            case 2: words.2 = words.2 << 4 | nibble
            default: words.3 = words.3 << 4 | nibble
            }
            digits += 1
        }
        guard digits == 64 else { return nil }
        self.words = words
    }

    var text: String {
        ByteDraft.text { text in
            Hexadecimal.append(self.words.0, digits: 16, to: &text)
            Hexadecimal.append(self.words.1, digits: 16, to: &text)
            Hexadecimal.append(self.words.2, digits: 16, to: &text)
            Hexadecimal.append(self.words.3, digits: 16, to: &text)
        }
    }

    /// Whether this is what the header shows, as phones write it; in less time than it takes to read what it shows.
    func isShown(by authorization: String) -> Bool {
        var shown = authorization.utf8.makeIterator()
        for byte in "Bearer ".utf8 {
            guard shown.next() == byte else { return false }
        }
        for place in 0..<64 {
            let word =
                switch place / 16 {
                case 0: self.words.0
                case 1: self.words.1
                case 2: self.words.2
                default: self.words.3
                }
            let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (place % 16)) & 15)
            guard shown.next() == Hexadecimal.digit(nibble) else { return false }
        }
        return shown.next() == nil
    }

    static func == (left: TokenSecret, right: TokenSecret) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(self.words.0)
        hasher.combine(self.words.1)
    }
}

/// What an `Authorization` header presents.
enum Bearer: Hashable, Sendable {
    /// No header, another scheme, or no token behind the scheme.
    case missing
    /// A token that cannot be one of ours.
    case foreign
    case secret(TokenSecret)

    /// RFC 6750; the case of a scheme does not count (RFC 9110 section 11.1).
    init(authorization: String?) {
        guard let authorization, let space = authorization.utf8.firstIndex(of: UInt8(ascii: " ")),
            authorization.utf8[..<space].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 })
        else {
            self = .missing
            return
        }
        let token = Substring(authorization.utf8[space...].drop { $0 == UInt8(ascii: " ") })
        if token.isEmpty {
            self = .missing
        } else {
            self = TokenSecret(text: token).map(Bearer.secret) ?? .foreign
        }
    }
}

/// The token of one job: reusable until it ends.
struct Token: Hashable, Sendable {
    enum Verdict: Hashable, Sendable { case valid, expired, wrong }

    let secret: TokenSecret
    /// From here on it is expired.
    let expires: Instant
    private(set) var isRevoked = false

    init(secret: TokenSecret, expires: Instant) {
        self.secret = secret
        self.expires = expires
    }

    func verdict(on presented: Bearer, at now: Instant) -> Verdict {
        guard presented == .secret(self.secret) else { return .wrong }
        return self.isRevoked || now >= self.expires ? .expired : .valid
    }

    /// - Returns: Whether this is news.
    mutating func revoke() -> Bool {
        defer { self.isRevoked = true }
        return !self.isRevoked
    }
}
