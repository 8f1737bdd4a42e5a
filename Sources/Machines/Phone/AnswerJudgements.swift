import Observations
import SimBase
import Talaria

// What an answer means for the request it answers. Pure judgements: the phone acts on them. A request that failed below HTTP
// has no answer and does not come here: `App.requestFailed` hands it to `uploadFailed`, `streamNotOpened` and others. The
// judgement of an upload is in `UploadRetry.swift`.

/// Why a job is of no more use, so that its scan has to be uploaded again.
enum JobEnd: Hashable, Sendable {
    case tokenExpired, tokenRefused, gone

    var waitingCause: WaitingCause {
        switch self {
        case .tokenExpired: .tokenExpired
        case .tokenRefused: .tokenRefused
        case .gone: .jobGone
        }
    }

    /// Creates the meaning of an answer for the job of a stream or results request; nil if it says nothing
    /// about the job. Any 401 means that the token is not valid for the job; 404 and 410 mean that the
    /// job no longer exists. Another 4xx is about the request itself, and a new job would be requested in the
    /// same way.
    init?(_ answer: Answer, _ policy: TokenPolicy) {
        switch answer.head.status {
        case 401:
            guard policy.expiry == .uploadsAgain else { return nil }
            self = answer.tokenEnd
        case 404, 410: self = .gone
        default: return nil
        }
    }
}

/// The meaning of a response other than a stream for the requested stream.
enum StreamJudgement: Hashable, Sendable {
    case jobEnded(JobEnd)
    case lost(LossCause, after: Interval?, BadAnswer?)
    /// A 4xx that the contract does not name for a stream: tried again a named number of times.
    case refused(after: Interval?)

    static func judge(_ answer: inout Answer, _ profile: ClientProfile) -> StreamJudgement {
        switch profile.stream.statuses {
        case .byStatus: break
        case .retried: if answer.head.status != 200 { return .refused(after: nil) }
        // A body of JSON has no event, and its end is that of any stream.
        case .unchecked: return .lost(.refusedByStatus, after: nil, nil)
        }
        if let end = JobEnd(answer, profile.token) { return .jobEnded(end) }
        switch answer.head.status {
        case 200:
            if answer.head.isEncoded {
                answer.note(.wrongContentType)
            } else {
                answer.note(contentType: "text/event-stream", isDecisive: true)
            }
            return .lost(.badAnswer, after: nil, .wrongContentType)
        case 408, 429, 500...599: return .lost(.refusedByStatus, after: answer.serverWait, nil)
        case 400...499:
            answer.note(.unexpectedStatus)
            return .refused(after: answer.serverWait)
        default:
            answer.note(.unexpectedStatus)
            return .lost(.refusedByStatus, after: nil, .unexpectedStatus)
        }
    }
}

/// The meaning of the response to a results request.
enum ResultsJudgement: Hashable, Sendable {
    /// `rows`: of an import, whose results are not books of the app's library. `listed`: how many they list.
    case books([Book], rows: RowCounts?, listed: Int?)
    case jobEnded(JobEnd)
    /// The server cannot just now.
    case again(after: Interval?)
    /// A response without results: retried a limited number of times.
    case bad(BadAnswer)

    static func judge(
        _ answer: inout Answer, jobId: String, _ profile: ClientProfile
    ) -> ResultsJudgement {
        if let end = JobEnd(answer, profile.token) { return .jobEnded(end) }
        switch answer.head.status {
        case 200:
            let (journey, envelope) = (profile.journey, profile.results.envelope)
            let reading = answer.read(
                {
                    switch journey {
                    case .scan, .textEnrichment: ResultsReading.read($0, envelope, into: &$1)
                    case .bookshelfScan, .batchEnrichment, .bookEnrichment:
                        ResultsReading.readV2($0, into: &$1)
                    case .csvImport: ResultsReading.readRows($0, into: &$1)
                    }
                }, bytesMax: AppLimits.resultsBytesMax)
            guard let body = reading else { return .bad(answer.badness) }
            if let bad = answer.objection(success: body.success, jobId: body.jobId, to: jobId) {
                return .bad(bad)
            }
            guard body.books.count <= AppLimits.booksPerScanMax else {
                answer.notes.add(
                    "data.results", expected: "at most \(AppLimits.booksPerScanMax) books",
                    seen: "more of them", excerpt: "\(body.books.count)", isDecisive: true)
                return .bad(.tooLarge)
            }
            guard let books = profile.understood(body.books, into: &answer.notes) else {
                return .bad(.undecodable)
            }
            return .books(books, rows: body.rows, listed: body.listed)
        case 408, 429, 500...599: return .again(after: answer.serverWait)
        default:
            answer.note(.unexpectedStatus)
            return .bad(.unexpectedStatus)
        }
    }
}

/// The meaning of the response to a request for the status of a job.
enum StatusJudgement: Hashable, Sendable {
    case status(JobStatus)
    case jobEnded(JobEnd)
    /// Too many requests: not a failure.
    case limited(for: Interval?)
    /// The server cannot just now.
    case again(after: Interval?)
    case bad(BadAnswer)

    static func judge(_ answer: inout Answer, jobId: String, _ profile: ClientProfile) -> StatusJudgement {
        if let end = JobEnd(answer, profile.token) { return .jobEnded(end) }
        switch answer.head.status {
        case 200:
            let version = profile.journey.version
            let reading = answer.read(
                { JobStatusReading.read($0, version, into: &$1) }, bytesMax: AppLimits.answerBytesMax)
            guard let body = reading else { return .bad(answer.badness) }
            if let bad = answer.objection(success: body.success, jobId: body.jobId, to: jobId) {
                return .bad(bad)
            }
            return .status(body.status)
        case 429: return .limited(for: answer.serverWait)
        case 408, 500...599: return .again(after: answer.serverWait)
        default:
            answer.note(.unexpectedStatus)
            return .bad(.unexpectedStatus)
        }
    }
}

/// The meaning of the response to a request for a new token.
enum RefreshJudgement: Hashable, Sendable {
    case token(NewToken)
    /// The server cannot just now.
    case again(after: Interval?)
    /// There is none. `BadAnswer`: if the contract has no such answer.
    case bad(BadAnswer?)

    static func judge(_ answer: inout Answer) -> RefreshJudgement {
        switch answer.head.status {
        case 200:
            let reading = answer.read({ NewToken($0, into: &$1) }, bytesMax: AppLimits.answerBytesMax)
            guard let new = reading else { return .bad(answer.badness) }
            guard ServerText.isToken(new.token) else {
                answer.notes.add(
                    "data.token", expected: "a token that can stand in a header", seen: "another string",
                    isDecisive: true)
                return .bad(.undecodable)
            }
            return .token(new)
        case 400, 401, 404: return .bad(nil)
        case 408, 429, 500...599: return .again(after: answer.serverWait)
        default:
            answer.note(.unexpectedStatus)
            return .bad(.unexpectedStatus)
        }
    }
}

extension BadAnswer {
    /// Why a scan waits that could not continue for such an answer.
    var waitingCause: WaitingCause {
        switch self {
        case .tooLarge: .answerTooLarge
        case .unexpectedStatus: .unexpectedStatus
        case .undecodable, .wrongContentType, .notSuccess, .overlongStream, .badHandshake, .badFrame:
            .unreadableAnswer
        }
    }
}

/// The meaning of the response to a DELETE.
enum CleanupJudgement: Hashable, Sendable {
    /// The job is gone from the server, by this request or before it.
    case done
    /// The job had ended before it could be canceled, and is still to be cleaned up.
    case jobHadEnded
    case again(after: Interval?)
    /// The phone can never delete it.
    case abandoned(AbandonCause)

    /// - Parameter job: The job of the DELETE. An answer about another one says nothing of it.
    static func judge(
        _ answer: inout Answer, _ purpose: Exchange.Purpose, job: String?
    ) -> CleanupJudgement {
        switch answer.head.status {
        case 409 where purpose == .cancel: return .jobHadEnded
        case 200 where CanceledReading.isFailure(answer.body):
            return .again(after: answer.serverWait)
        case 200:
            guard let job, let named = CanceledReading.jobID(answer.body),
                answer.objection(success: nil, jobId: named, to: job) != nil
            else { return .done }
            return .abandoned(.waiting(.unreadableAnswer))
        case 201...299, 404, 410: return .done
        case 408, 429, 500...599: return .again(after: answer.serverWait)
        case 401: return .abandoned(.waiting(answer.tokenEnd.waitingCause))
        default:
            answer.note(.unexpectedStatus)
            return .abandoned(.status(answer.head.status))
        }
    }
}
