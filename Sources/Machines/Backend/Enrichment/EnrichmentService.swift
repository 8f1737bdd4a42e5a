internal import CSV
internal import OriginServer
internal import SimBase
internal import Talaria

/// The providers of book data, as v2 asks them: a barcode becomes a book, at once (Docs/contract.md section 3.2).
///
/// A request with an idempotency key that was answered before gets the same answer, and no provider is asked again: what costs
/// money happens once for a key.
struct EnrichmentService: Sendable {
    struct Key: Hashable, Sendable {
        let device: DeviceNumber
        let text: String
    }

    /// What a key was answered with.
    struct Answered: Hashable, Sendable {
        let isbn: ISBN
        /// Nil: no provider has the book.
        let book: Book?
        let until: Instant
    }

    let rules: LookupRules
    private var random: KeyedRandom
    let shelf: Shelf
    private var answered = SlotMap<Key, Answered>()
    /// The keys in the order of their first use, in a ring: the index of the oldest once there are `keysMax`.
    private var order: [Key] = []
    private var oldest = 0
    /// Look-ups at a provider, which cost money.
    private(set) var lookups = 0

    init(rules: LookupRules, shelf: Shelf, random: KeyedRandom) {
        precondition(rules.keysMax > 0, "no key could be remembered")
        self.rules = rules
        self.shelf = shelf
        self.random = random
    }

    mutating func redraw(_ random: KeyedRandom) { self.random = random }

    func eachBound(_ look: (Bound) -> Void) {
        look(Bound("LookupRules.keysMax", self.answered.count, max: self.rules.keysMax))
    }

    enum Outcome: Hashable {
        /// `book`: nil if no provider has it. `isRepeated`: the key was answered before.
        case answered(Book?, isRepeated: Bool)
        /// The key was used for another book.
        case keyMismatch
    }

    /// The book of a request. Only a first request for a key asks a provider.
    mutating func outcome(of isbn: ISBN, key text: String?, for owner: Caller, at now: Instant) -> Outcome {
        let key = text.map { Key(device: owner.device, text: $0) }
        if let key, let known = self.answered[key], known.until > now {
            return known.isbn == isbn ? .answered(known.book, isRepeated: true) : .keyMismatch
        }
        let book = self.lookUp(isbn, for: owner)
        if let key {
            self.remember(Answered(isbn: isbn, book: book, until: now + self.rules.keyLifetime), key)
        }
        return .answered(book, isRepeated: false)
    }

    /// The book of a barcode in a batch; nil if it is not an ISBN, or if no provider has it.
    mutating func book(barcode: String) -> Book? { ISBN(barcode).flatMap { self.lookUp($0) } }

    /// The book of the barcode that a simulated phone scanned is that of its shelf.
    private mutating func lookUp(_ isbn: ISBN, for owner: Caller) -> Book? {
        guard self.shelf.barcode(device: owner.device, scan: owner.scan) == isbn.digits else {
            return self.lookUp(isbn)
        }
        self.lookups += 1
        guard self.shelf.count(device: owner.device, scan: owner.scan) > 0 else { return nil }
        return self.shelf.book(device: owner.device, scan: owner.scan, ordinal: 0)
    }

    /// A function of the number: a book is the same for everybody, and so is one that no provider has.
    private mutating func lookUp(_ isbn: ISBN) -> Book? {
        self.lookups += 1
        let digest = Digest.of(isbn.digits)
        guard !self.rules.unknown.happens(self.random.draw(.enrichment, digest)) else { return nil }
        var book = self.shelf.book(
            device: DeviceNumber(UInt32(truncatingIfNeeded: digest)),
            scan: ScanNumber(UInt32(truncatingIfNeeded: digest >> 32)), ordinal: 0)
        book.isbn = isbn.digits
        book.coverUrl = "https://covers.example/\(isbn.digits).jpg"
        return book
    }

    private mutating func remember(_ answered: Answered, _ key: Key) {
        let isKnown = self.answered[key] != nil
        self.answered[key] = answered
        guard !isKnown else { return }
        guard self.order.count == self.rules.keysMax else {
            self.order.append(key)
            return
        }
        self.answered[self.order[self.oldest]] = nil
        self.order[self.oldest] = key
        self.oldest = (self.oldest + 1) % self.rules.keysMax
    }
}
