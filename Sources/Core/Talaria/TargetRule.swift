/// What a run against a foreign backend holds it to (Docs/contract.md). The raw values are parts of the ids of invariants.
package enum TargetRule: String, CaseIterable, Hashable, Sendable {
    case jobUnique = "job-unique"
    case jobAddressed = "job-addressed"
    case resume
    case ids
    case terminal
    case resultsAgree = "results-agree"
    case auth
    case wait
    case limit
    case errorForm = "error-form"
    case cleanup
    case statusAgrees = "status-agrees"
    case streamsAgree = "streams-agree"
    case jobKept = "job-kept"
    case times
    case text
    case socket

    /// What their ids begin with.
    package static let prefix = "target."
    /// Its invariant, and the path of its findings where a scenario does not insist on it.
    package var id: String { Self.prefix + self.rawValue }

    /// The index, from 0, in the order of `allCases`.
    package var ordinal: Int {
        switch self {
        case .jobUnique: 0
        case .jobAddressed: 1
        case .resume: 2
        case .ids: 3
        case .terminal: 4
        case .resultsAgree: 5
        case .auth: 6
        case .wait: 7
        case .limit: 8
        case .errorForm: 9
        case .cleanup: 10
        case .statusAgrees: 11
        case .streamsAgree: 12
        case .jobKept: 13
        case .times: 14
        case .text: 15
        case .socket: 16
        }
    }

    package var statement: String {
        switch self {
        case .jobUnique:
            "the target gives no job id to two devices or to two photos"
        case .jobAddressed:
            "every event, status, result and WebSocket of the target names the job that was asked for, or none"
        case .resume:
            "a stream that is resumed in time repeats no event up to the Last-Event-ID, and skips none after it"
        case .ids:
            "ids of events have the contract's form, belong to one event each, and do not go back within a stream"
        case .terminal:
            "a job of the target has one terminal event, and no event comes after it; it ends in time, if a time is stated"
        case .resultsAgree:
            "the results of a completed job are there, and every answer has the same books"
        case .auth:
            "the target refuses no token of a job before the token's lifetime is over, and answers no request without the job's token or without a device id"
        case .wait:
            "a 429 of the target says how long to wait; header and body agree, and no wait is longer than a day"
        case .limit:
            "the target answers 429 to uploads beyond the stated limit, and only to those, and asks for no wait beyond the next one that is allowed"
        case .errorForm:
            "errors of the target have the contract's form"
        case .cleanup:
            "after a DELETE of a job that the target has acknowledged, nothing of the job can be read"
        case .statusAgrees:
            "what the target's status of a job says agrees with its stream and its results"
        case .streamsAgree:
            "two streams of a job that are open at the same time show the same events"
        case .jobKept:
            "a job can be read until it is deleted or canceled, or its lifetime is over"
        case .times:
            "timestamps of the target are dates with a zone (RFC 3339); they and the times of event ids agree with the clock of this machine within ten minutes"
        case .text:
            "titles and authors are Unicode text, without signs of a wrong encoding, and no ISBN or cover is a word such as “null”"
        case .socket:
            "messages of a WebSocket are objects with the contract's envelope and types; `ready_ack` comes first; a client that reconnects then gets `reconnected`, which does not lose the progress of the job; a return within 60 s is not refused, the close after `job_complete` comes and is no error, and a request without an upgrade gets 426"
        }
    }
}
