package import SimBase

/// What a target may do by the contract, but what its engineers probably did not mean: each is a finding, and no violation
/// (Docs/design.md section 11.12). The raw values are parts of the paths of findings.
package enum TargetNote: String, CaseIterable, Hashable, Sendable {
    case openAfterEnd = "open-after-end"
    case cutAfterEnd = "cut-after-end"
    case repeatedTerminal = "repeated-terminal"
    case noProgress = "no-progress"
    case fallingProgress = "falling-progress"
    case noMessage = "no-message"
    case silence
    case plainData = "plain-data"
    case emptyBooks = "empty-books"
    case repeatedBook = "repeated-book"
    case wrongISBN = "wrong-isbn"
    case resetTime = "reset-time"
    case otherHost = "other-host"
    case unknownLink = "unknown-link"
    case slowAnswer = "slow-answer"
    case excessBytes = "excess-bytes"
    case otherBooks = "other-books"
    case sameBooks = "same-books"

    /// What is expected in its place.
    package var statement: String {
        switch self {
        case .openAfterEnd: "a stream that ends with its job"
        case .cutAfterEnd: "the last chunk of a stream whose job has ended"
        case .repeatedTerminal: "one terminal event"
        case .noProgress: "an event before the terminal one of a job that lasts a second or longer"
        case .fallingProgress: "progress that does not fall"
        case .noMessage: "a message with the progress"
        case .silence: "a ping or a heartbeat every 30 s"
        case .plainData: "heartbeats that are pings or comments"
        case .emptyBooks: "the books of the job, or no list of books"
        case .repeatedBook: "each book that the summary counts, once"
        case .wrongISBN: "an ISBN with its check digit (ISO 2108)"
        case .resetTime: "X-RateLimit-Reset in seconds"
        case .otherHost: "links to the host that was asked"
        case .unknownLink: "links to paths of the contract"
        case .slowAnswer: "the head of an answer within \(Self.answerTimeMax.wholeMilliseconds / 1_000) s"
        case .excessBytes: "nothing behind the end of an answer"
        case .otherBooks: "the books that the same photo had before"
        case .sameBooks: "other books than those of another photo of the device"
        }
    }

    /// The maximum time from a request to the head of its answer.
    package static let answerTimeMax = Interval.seconds(5)

    /// What the paths of these findings begin with.
    package static let prefix = "note."

    package var path: String { Self.prefix + self.rawValue }
}
