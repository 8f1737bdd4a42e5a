package import Observations
import RunArchive
import SimBase

extension Cause {
    /// `injected by http-error-1`, `by the target`.
    var words: String {
        switch self {
        case .injected(let fault): "injected by \(Printable.line(fault))"
        case .target: "by the target"
        case .phone: "by the phone"
        case .path: "by the network"
        case .harness: "by this program"
        }
    }

    var json: JSONValue { .object(self.members) }

    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["by": .string(self.by)]
        if let fault = self.fault { members["fault"] = .bounded(fault) }
        return members
    }
}

extension CauseCounts {
    /// Causes that are named; the others are counted.
    private static let namesMax = 3

    /// `17 injected by http-error-1, 17 by the target`; of one cause, the cause alone.
    var words: String {
        self.entries.count > 1 ? self.countedWords : self.entries.first?.cause.words ?? ""
    }

    /// The same, with its number for a single cause as well.
    var countedWords: String {
        let entries = self.byCount
        let named = entries.count <= Self.namesMax + 1 ? entries[...] : entries.prefix(Self.namesMax)
        var words = named.map { "\(Figures.count($0.count)) \($0.cause.words)" }
        let others = entries.dropFirst(named.count)
        if !others.isEmpty {
            let sum = others.reduce(0) { $0 + $1.count }
            words.append("\(Figures.count(sum)) by \(Figures.count(others.count)) other causes")
        }
        return words.joined(separator: ", ")
    }

    var json: JSONValue {
        .array(
            self.entries.map { entry in
                var members = entry.cause.members
                members["count"] = .integer(entry.count)
                return .object(members)
            })
    }
}

extension WaitingCause {
    private var texts: (words: String, reason: String) {
        switch self {
        case .captured: ("not uploaded yet", "it was just captured")
        case .offline: ("offline", "the phone is offline")
        case .rateLimited: ("rate limited (429)", "the server told it to wait (429)")
        case .serverError: ("stopped by a server error", "the server answered with an error")
        case .transport: ("stopped by connection errors", "the connection failed")
        case .retryableError:
            ("waiting to retry a failed job", "its job ended with an error that allows a retry")
        case .tokenExpired: ("with an expired token", "its token has expired")
        case .tokenRefused:
            ("with a token that the server does not accept", "the server does not accept its token")
        case .jobGone: ("whose job no longer exists", "its job no longer exists")
        case .resultsUnavailable: ("whose results are unavailable", "its results could not be had")
        case .resultsExpired:
            (
                "whose results have expired",
                "its results have expired by the clock of the phone, and were not requested"
            )
        case .suspended: ("still running at the end", "the app is in the background")
        case .interrupted:
            ("interrupted when the app stopped", "it was interrupted, until the app is opened again")
        case .unreadableAnswer: ("with an unreadable response", "an answer could not be read")
        case .answerTooLarge: ("with an oversized response", "an answer was too large")
        case .noAnswer: ("without a response", "no answer came in time")
        case .unexpectedStatus:
            ("with an unexpected status", "an answer had a status that the contract does not have")
        case .unauthorized: ("rejected as unauthorized", "its upload was not authorized")
        case .foreignURL: ("redirected to another server", "the server sent it to another server")
        case .statusBudget:
            (
                "whose job had not ended at the last request for its status",
                "its job had not ended at the last request for its status"
            )
        }
    }

    /// The cause in a phrase, after a number of scans that wait at the end of a run.
    package var words: String { self.texts.words }
    /// The cause as a sentence about a scan that waits: `the phone is offline`.
    var reason: String { self.texts.reason }
}
