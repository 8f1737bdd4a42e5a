package import SimBase

/// A version of the API. Here are the facts in which versions differ, each with a value for every version. Where
/// a whole form differs, as that of a refusal, its reader and its writer have a `switch`. The operations are rows
/// of `ContractOperation`.
package enum APIVersion: Hashable, Sendable {
    case v2
    case v3

    /// The version of what is at a path, or is not there.
    package init(path: String) {
        self =
            path.hasPrefix("/api/") || path.hasPrefix("/v1/")
                || path == ProgressSocket.path ? .v2 : .v3
    }

    /// The version of the job with an id.
    package init(jobID: String) {
        self = V2Paths.all.contains { $0.jobPrefix.map { jobID.hasPrefix($0) } ?? false } ? .v2 : .v3
    }

    private func pick<Value>(v2: Value, v3: Value) -> Value {
        switch self {
        case .v2: v2
        case .v3: v3
        }
    }
}

// Requests and answers.

extension APIVersion {
    /// Whether a request has a device id (Docs/contract.md section 1.1; section 3.2 asks for none).
    package var needsDeviceID: Bool { self.pick(v2: false, v3: true) }

    /// Another header for the token, which older clients use (Docs/contract.md section 3.2).
    package var otherTokenHeader: String? { self.pick(v2: HeaderName.otherToken, v3: nil) }

    /// Whether its documents do not decide where a stream has its token. The server may then be set to look
    /// elsewhere than in the header (Docs/contract.md sections 3.2 and 7, C13).
    package var leavesStreamTokenOpen: Bool { self.pick(v2: true, v3: false) }

    /// The name of a part that is a photo; nil where the dialects of the server have different ones
    /// (Docs/contract.md sections 3.2 and 7, C27).
    package var photoPart: String? { self.pick(v2: "photos", v3: nil) }

    /// Whether every answer has a body in one envelope (Docs/contract.md section 3.1). Otherwise each has a form
    /// of its own (sections 1.2 to 1.7), and the one to a DELETE has no body.
    package var envelopesBodies: Bool { self.pick(v2: true, v3: false) }

    /// The content type of a refusal (Docs/contract.md sections 1.7 and 3.1).
    package var problemType: String { self.pick(v2: Contract.jsonType, v3: Problem.contentType) }

    /// The code by which it says the same (Docs/contract.md sections 1.7 and 3.1).
    package func code(_ code: ProblemCode) -> ProblemCode { self.pick(v2: code.ofV2, v3: code) }

    /// Whether uploads are refused while the circuit of the providers is open (Docs/contract.md section 3.1).
    /// Otherwise a book is not looked up (sections 1.6 and 2.1).
    package var hasCircuit: Bool { self.pick(v2: true, v3: false) }
}

// Jobs.

extension APIVersion {
    /// Whether a job whose results are read is kept until it expires, and not deleted (Docs/contract.md
    /// section 3.2).
    package var isJobKept: Bool { self.pick(v2: true, v3: false) }

    /// Whether a job is canceled by a DELETE of its own (Docs/contract.md section 1.1), and not by the DELETE of
    /// the cleanup (section 3.2).
    package var hasOwnCancel: Bool { self.pick(v2: false, v3: true) }

    /// Whether streams can have previews, single books and `canceled` (Docs/contract.md section 2.1).
    package var hasProgressiveEvents: Bool { self.pick(v2: false, v3: true) }

    /// Whether a book may have `authors` in place of `author` (Docs/contract.md section 7, C45).
    package var mayListAuthors: Bool { self.pick(v2: true, v3: false) }

    /// Whether results have the formats `lite` and `full` (Docs/contract.md section 1.3).
    package var hasResultsFormats: Bool { self.pick(v2: false, v3: true) }

    /// Whether results that have expired are not found, and not gone (Docs/contract.md section 3.2).
    package var hidesExpiredResults: Bool { self.pick(v2: true, v3: false) }

    /// The body of an answer with the status (Docs/contract.md sections 1.4 and 3.3).
    var statusBody: ContractObject { self.pick(v2: Contract.v2Status, v3: Contract.status) }

    /// Whether its documents say enough of ids, tokens and ends of jobs for these to be judged (Docs/contract.md
    /// sections 1.1 and 2.2); section 3 leaves much of it open.
    package var isJudgedInDetail: Bool { self.pick(v2: false, v3: true) }
}

// Streams (Docs/contract.md sections 2.1 and 3.3).

extension APIVersion {
    /// The `retry:` of a stream.
    package var retryField: Interval? { self.pick(v2: .seconds(5), v3: nil) }

    /// The time after which a stream ends with the event `timeoutName`, while its job goes on.
    package var streamLifetime: Interval? { self.pick(v2: .minutes(5), v3: nil) }
    package var timeoutName: String? { self.pick(v2: V2EventName.timeout, v3: nil) }

    /// The comment that comes instead of a ping.
    package var heartbeat: String? { self.pick(v2: V2EventName.heartbeat, v3: nil) }

    package var progressName: String {
        self.pick(v2: V2EventName.processing, v3: EventKind.progress.rawValue)
    }

    /// The last part of the id of the event at the end of a job.
    package func idSuffix(of terminal: EventKind) -> String {
        self.pick(v2: V2EventName.terminalSuffix, v3: terminal.rawValue)
    }

    /// Whether a stream may poll its job, and then leave out what a later event says, too.
    package var mayPassChangesOver: Bool { self.pick(v2: true, v3: false) }

    package var progressHasMessage: Bool { self.pick(v2: false, v3: true) }

    /// Whether the event of a failed job says how far the job had come.
    package var failureHasProgress: Bool { self.pick(v2: true, v3: false) }

    /// Whether the `completed` event has the books or their address, and not only a summary.
    package var completedHasBooks: Bool { self.pick(v2: false, v3: true) }

    /// Whether an event says that a book could not be looked up.
    package var hasDegradedEvent: Bool { self.pick(v2: false, v3: true) }

    /// Whether a client knows an event of this name.
    package func knows(event name: String) -> Bool {
        self.pick(v2: V2EventName.isKnown(name), v3: EventKind(eventName: name) != nil)
    }
}
