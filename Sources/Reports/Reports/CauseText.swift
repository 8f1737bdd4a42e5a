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
    /// The cause in a phrase, after a number of scans that wait at the end of a run.
    package var words: String {
        switch self {
        case .captured: "not uploaded yet"
        case .offline: "offline"
        case .rateLimited: "rate limited (429)"
        case .serverError: "stopped by a server error"
        case .transport: "stopped by connection errors"
        case .retryableError: "waiting to retry a failed job"
        case .tokenExpired: "with an expired token"
        case .tokenRefused: "with a token that the server does not accept"
        case .jobGone: "whose job no longer exists"
        case .resultsUnavailable: "whose results are unavailable"
        case .resultsExpired: "whose results have expired"
        case .suspended: "still running at the end"
        case .interrupted: "interrupted when the app stopped"
        case .unreadableAnswer: "with an unreadable response"
        case .answerTooLarge: "with an oversized response"
        case .noAnswer: "without a response"
        case .unexpectedStatus: "with an unexpected status"
        case .unauthorized: "rejected as unauthorized"
        case .foreignURL: "redirected to another server"
        case .statusBudget: "whose job had not ended at the last request for its status"
        }
    }

    /// The cause as a sentence about a scan that waits: `the phone is offline`.
    var reason: String {
        switch self {
        case .captured: "it was just captured"
        case .offline: "the phone is offline"
        case .rateLimited: "the server told it to wait (429)"
        case .serverError: "the server answered with an error"
        case .transport: "the connection failed"
        case .retryableError: "its job ended with an error that allows a retry"
        case .tokenExpired: "its token has expired"
        case .tokenRefused: "the server does not accept its token"
        case .jobGone: "its job no longer exists"
        case .resultsUnavailable: "its results could not be had"
        case .resultsExpired: "its results have expired by the clock of the phone, and were not requested"
        case .suspended: "the app is in the background"
        case .interrupted: "it was interrupted, until the app is opened again"
        case .unreadableAnswer: "an answer could not be read"
        case .answerTooLarge: "an answer was too large"
        case .noAnswer: "no answer came in time"
        case .unexpectedStatus: "an answer had a status that the contract does not have"
        case .unauthorized: "its upload was not authorized"
        case .foreignURL: "the server sent it to another server"
        case .statusBudget: "its job had not ended at the last request for its status"
        }
    }
}
