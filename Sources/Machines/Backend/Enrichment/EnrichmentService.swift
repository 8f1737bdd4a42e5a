internal import CSV
internal import OriginServer
internal import SimBase
internal import Talaria

/// The enrichment of single books of v2: a barcode becomes a book, at once (Docs/contract.md section 3.2).
///
/// A request with an idempotency key that was answered before gets the same answer, and no provider is asked again: what costs
/// money happens once for a key. It observes nothing, since the ledger knows scans only.
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

    let rules: EnrichmentRules
    private(set) var random: KeyedRandom
    let shelf: Shelf
    private let wallClockAtZero: Int64
    var now = Instant.zero
    var pending = SlotMap<ExchangeID, Caller>()
    private var answered = SlotMap<Key, Answered>()
    /// The keys in the order of their first use.
    private var order: [Key] = []
    private var windows = SlotMap<DeviceNumber, RequestWindow>()
    /// Look-ups at a provider, which cost money.
    private(set) var lookups = 0

    init(rules: EnrichmentRules, shelf: Shelf, random: KeyedRandom, wallClockAtZero: Int64) {
        self.rules = rules
        self.shelf = shelf
        self.random = random
        self.wallClockAtZero = wallClockAtZero
    }

    mutating func redraw(_ random: KeyedRandom) { self.random = random }

    var wall: Int64 { self.wallClockAtZero + (self.now - Instant.zero).wholeMilliseconds }

    func eachBound(_ look: (Bound) -> Void) {
        look(Bound("EnrichmentRules.pendingMax", self.pending.count, max: self.rules.pendingMax))
        look(Bound("EnrichmentRules.keysMax", self.answered.count, max: self.rules.keysMax))
        look(Bound("EnrichmentRules.devicesMax", self.windows.count, max: self.rules.devicesMax))
    }

    /// Nil if the request is admitted, else the time until the next one is.
    mutating func wait(of device: DeviceNumber) -> Interval? {
        if self.windows.count >= self.rules.devicesMax {
            for (device, window) in self.windows.entries
            where window.isIdle(self.rules.requests, at: self.now) {
                self.windows[device] = nil
            }
        }
        var window = self.windows[device] ?? RequestWindow()
        let wait = window.wait(self.rules.requests, at: self.now)
        if self.windows[device] != nil || self.windows.count < self.rules.devicesMax {
            self.windows[device] = window
        }
        return wait
    }

    enum Outcome: Hashable {
        /// `isRepeated`: the key was answered before.
        case book(Book, isRepeated: Bool)
        case unknown
        /// The key was used for another book.
        case keyMismatch
    }

    /// The book of a request. Only a first request for a key asks a provider.
    mutating func outcome(of isbn: ISBN, key text: String?, device: DeviceNumber) -> Outcome {
        let key = text.map { Key(device: device, text: $0) }
        if let key, let known = self.answered[key], known.until > self.now {
            guard known.isbn == isbn else { return .keyMismatch }
            return known.book.map { .book($0, isRepeated: true) } ?? .unknown
        }
        let book = self.lookUp(isbn)
        if let key {
            self.remember(Answered(isbn: isbn, book: book, until: self.now + self.rules.keyLifetime), key)
        }
        return book.map { .book($0, isRepeated: false) } ?? .unknown
    }

    /// The book of a barcode in a batch; nil if it is not an ISBN, or if no provider has it.
    mutating func book(barcode: String) -> Book? { ISBN(barcode).flatMap { self.lookUp($0) } }

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
        if self.answered[key] == nil { self.order.append(key) }
        self.answered[key] = answered
        guard self.answered.count > self.rules.keysMax else { return }
        self.answered[self.order.removeFirst()] = nil
    }
}
