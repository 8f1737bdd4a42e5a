import SimBase
import Talaria

/// A request of a client, and its outcome.
struct FollowedExchange: Sendable {
    let request: ClientRequest
    let client: String
    let connection: UInt64
    let sent: Instant
    /// Nil for a request of no operation.
    var meaning: (operation: Talaria.Operation, journey: Journey, job: String?)?
    var answer: ClientAnswer?
    var photo: UInt64?
    var count = RetryCount.none
    var isStream = false
    /// The stream has brought an event that no earlier one had.
    var hasNewEvent = false
    var terminalAt: Instant?
    /// Results that nothing has said to be there.
    var isPremature = false
    /// The rules that it has broken: each counts once.
    private var broken: UInt64 = 0

    init(_ request: ClientRequest, client: String, connection: UInt64, sent: Instant) {
        self.request = request
        self.client = client
        self.connection = connection
        self.sent = sent
    }

    /// Returns whether it is the first time.
    mutating func breaks(_ rule: ClientRule) -> Bool {
        let bit: UInt64 = 1 << UInt64(rule.ordinal)
        defer { self.broken |= bit }
        return self.broken & bit == 0
    }

    /// What its repetition would be about; nil for an upload that is not a photo, or has not arrived.
    var retryKey: RetryKey? {
        guard let meaning = self.meaning else { return nil }
        guard meaning.operation == .upload else {
            return meaning.job.map { RetryKey(operation: meaning.operation.counted, subject: Digest.of($0)) }
        }
        return self.photo.map { RetryKey(operation: .upload, subject: $0) }
    }
}

extension DefaultStringInterpolation {
    mutating func appendInterpolation(milliseconds: Interval) {
        self.appendLiteral(String(milliseconds.nanoseconds / 1_000_000))
    }
}
