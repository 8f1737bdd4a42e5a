package import SimBase
internal import Talaria

/// How the backend serves v2 where the documents disagree (Docs/contract.md sections 3 and 7), and its circuit breaker. The
/// defaults are the winners of section 7.
package struct V2Rules: Hashable, Sendable {
    /// Where a stream has its token (C13).
    package enum StreamToken: String, CaseIterable, Hashable, Sendable {
        /// In the header `Authorization` alone.
        case bearer
        /// In the query alone: `?token=`.
        case query
        /// In the header or, without one, in the query.
        case either
    }

    /// The names and the data of events (Docs/contract.md section 3.3).
    package enum EventNames: String, CaseIterable, Hashable, Sendable {
        /// `processing`, `completed`, `failed`.
        case plain
        /// `photoscan.progress`, `enrichment.completed` and so on. Imports have no such names.
        case dotted
    }

    /// How a stream learns of a change of its job (Docs/contract.md section 2.5).
    package enum Progress: String, CaseIterable, Hashable, Sendable {
        /// At once, of each.
        case push
        /// When it looks next, of the last one.
        case poll
    }

    /// The envelope of answers (Docs/contract.md section 3.1).
    package enum Envelope: String, CaseIterable, Hashable, Sendable {
        /// With `success`.
        case discriminated
        /// Without it, as before the contract was fixed.
        case plain
    }

    /// The names of the token in the answer to an upload (Docs/contract.md section 3.1).
    package enum TokenNames: String, CaseIterable, Hashable, Sendable {
        case both
        /// `authToken`, as from 2026-03-01 on.
        case authToken = "auth-token"
        /// `token`, as before `authToken`.
        case token
    }

    /// The member of results that has the books (C44).
    package enum BooksKey: String, CaseIterable, Hashable, Sendable {
        case books
        case enrichedBooks = "enriched-books"

        package var name: StaticString { self == .books ? "books" : "enrichedBooks" }
    }

    /// The members of a book that name its authors (C45).
    package enum Authors: String, CaseIterable, Hashable, Sendable {
        /// `author`, one string.
        case author
        /// `authors`, their names.
        case names
        /// `authors`, objects with a name and a key, and with them `work` and `edition`.
        case nested
    }

    /// Whether the answer to an upload names the WebSocket of the job (Docs/contract.md section 3.1).
    package enum WebSocketURL: String, CaseIterable, Hashable, Sendable {
        /// Clients know its address.
        case absent
        case beside
        /// And no event stream, as for older jobs.
        case alone
    }

    /// The time from the `completed` event of a job until its results are gone (C21); nil for that of v3.
    package var resultsLifetime: Interval?
    package var streamToken = StreamToken.either
    package var eventNames = EventNames.plain
    package var progress = Progress.push
    package var envelope = Envelope.discriminated
    package var tokens = TokenNames.both
    package var booksKey = BooksKey.books
    package var authors = Authors.author
    package var webSocketURL = WebSocketURL.absent
    /// Nil without one.
    package var breaker: CircuitBreakerRules?

    package init() {}

    var bookForm: V2BookForm { V2BookForm(booksKey: self.booksKey, authors: self.authors) }

    /// The names of its events that the client of the contract does not know.
    package var otherEvents: Set<String> {
        switch self.eventNames {
        case .plain: []
        case .dotted:
            Set(DottedEventName.Subject.allCases.flatMap { [$0.progress, $0.completed, $0.failed] })
        }
    }
}

/// The wait of a stream that polls, from one look to the next (Docs/contract.md section 2.5).
struct StreamPolling: Hashable, Sendable {
    static let first = Interval.milliseconds(500)
    static let most = Interval.seconds(3)

    private(set) var wait = Self.first
    /// The time of the next look.
    private(set) var next: Instant

    init(opened: Instant) { self.next = opened + Self.first }

    /// The stream has looked: the next wait is half as long again.
    mutating func looked(at now: Instant) {
        self.wait = min(self.wait / 2 * 3, Self.most)
        self.next = now + self.wait
    }
}
