internal import OriginServer
internal import SimBase
internal import Talaria

/// The secret of a job: 256 bits, 64 lower-case hexadecimal digits on the wire
/// (Docs/contract.md section 1.2).
struct TokenSecret: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// `draw` is asked for the words 0 to 3.
    init(draw: (UInt64) -> UInt64) { self.words = (draw(0), draw(1), draw(2), draw(3)) }

    /// Creates a token from its digits.
    init?(text: ArraySlice<UInt8>) {
        guard text.count == 64 else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var (index, isOurs) = (0, true)
        _ = text.eachWord { digits in
            // A letter in upper case, without the bit that a figure has, too, is somebody else's.
            guard digits & 0x2020_2020_2020_2020 == 0x2020_2020_2020_2020,
                let half = Hexadecimal.value(digits: digits).map(UInt64.init)
            else {
                isOurs = false
                return
            }
            switch index {
            case 0, 1: words.0 = words.0 << 32 | half
            case 2, 3: words.1 = words.1 << 32 | half
            case 4, 5: words.2 = words.2 << 32 | half
            default: words.3 = words.3 << 32 | half
            }
            index += 1
        }
        guard isOurs else { return nil }
        self.words = words
    }

    var text: String {
        ByteBuilder.text { text in
            Hexadecimal.append(self.words.0, digits: 16, to: &text)
            Hexadecimal.append(self.words.1, digits: 16, to: &text)
            Hexadecimal.append(self.words.2, digits: 16, to: &text)
            Hexadecimal.append(self.words.3, digits: 16, to: &text)
        }
    }

    static func == (left: TokenSecret, right: TokenSecret) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(self.words.0)
        hasher.combine(self.words.1)
    }
}

/// The content of an `Authorization` header.
enum Bearer: Hashable, Sendable {
    /// No header, another scheme, or no token behind the scheme.
    case missing
    /// A token that cannot be one of ours.
    case foreign
    case secret(TokenSecret)

    /// - Parameter acceptsQuery: Whether a request without a header may have its token in `?token=` (Docs/contract.md section 7,
    ///   C13).
    init(_ request: OriginRequest, acceptsQuery: Bool) {
        self.init(authorization: request.authorization)
        guard acceptsQuery, self == .missing,
            let field = request.query?.split(separator: "&").first(where: { $0.hasPrefix("token=") })
        else { return }
        let token = field.dropFirst("token=".count)
        if !token.isEmpty { self = TokenSecret(text: Array(token.utf8)[...]).map(Bearer.secret) ?? .foreign }
    }

    /// RFC 6750; the case of a scheme does not count (RFC 9110 section 11.1).
    init(authorization: String?) {
        guard let authorization else {
            self = .missing
            return
        }
        let space = UInt8(ascii: " ")
        let bytes = Array(authorization.utf8)
        guard let end = bytes.firstIndex(of: space),
            bytes[..<end].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 })
        else {
            self = .missing
            return
        }
        let token = bytes[end...].drop { $0 == space }
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

    private static let olderMax = 16

    let secret: TokenSecret
    /// The time of expiry.
    let expires: Instant
    private(set) var isRevoked = false
    /// The token before it, which it was exchanged for (Docs/contract.md section 2.5).
    private var former: Former?
    /// Those before that one.
    private var older: [TokenSecret] = []

    private struct Former: Hashable, Sendable {
        let secret: TokenSecret
        let until: Instant
    }

    init(secret: TokenSecret, expires: Instant) {
        self.secret = secret
        self.expires = expires
    }

    func verdict(on presented: Bearer, at now: Instant) -> Verdict {
        if let former, presented == .secret(former.secret) {
            return self.isRevoked || now >= former.until ? .expired : .valid
        }
        guard presented == .secret(self.secret) else { return .wrong }
        return self.isRevoked || now >= self.expires ? .expired : .valid
    }

    /// A token in its place; this one is good for a while.
    func replaced(by secret: TokenSecret, until end: Instant, at now: Instant) -> Token {
        var token = Token(secret: secret, expires: end)
        token.older = self.older + (self.former.map { [$0.secret] } ?? [])
        if token.older.count > Self.olderMax { token.older.removeFirst() }
        token.former = Former(secret: self.secret, until: min(self.expires, now + TokenRefresh.grace))
        return token
    }

    /// Whether it was the job's token and is not any more.
    func wasOnce(_ presented: Bearer) -> Bool {
        guard case .secret(let secret) = presented else { return false }
        return secret == self.former?.secret || self.older.contains(secret)
    }

    /// - Returns: Whether this is news.
    mutating func revoke() -> Bool {
        defer { self.isRevoked = true }
        return !self.isRevoked
    }
}
