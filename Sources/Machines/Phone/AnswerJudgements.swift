import Observations
import SimBase
import Talaria

// What an answer means for the request it answers. Pure judgements: the phone acts on them. A request that failed below HTTP
// has no answer and does not come here: `App.requestFailed` hands it to `uploadFailed`, `streamNotOpened` and others.

/// The meaning of the response to an upload for its scan.
enum UploadJudgement: Hashable, Sendable {
    case accepted(DurableJob)
    /// 429: every upload of this phone waits; nil when the server named no time.
    case limited(Interval?)
    /// The scan is not at fault: back to the queue, then backoff, at least as long as the server requested.
    case again(WaitingCause, after: Interval?, BadAnswer?)
    /// The server will not have this photo, however often it is sent.
    case refused(code: String)

    /// A 401, 403, 404 or 410 judges the caller or the address, not the scan: an upload carries no token and
    /// names no job. It is tried again, as 408 is. So is a 4xx that calls itself retryable, and a success that cannot
    /// be read.
    static func judge(_ answer: inout Answer) -> UploadJudgement {
        switch answer.head.status {
        case 200, 202:
            guard let body = answer.read(UploadAccepted.read, bytesMax: AppLimits.answerBytesMax) else {
                return .again(answer.badness.waitingCause, after: nil, answer.badness)
            }
            return Self.judge(body, &answer.notes)
        case 429:
            return .limited(answer.serverWait)
        case 401, 403:
            return .again(.unauthorized, after: answer.serverWait, nil)
        case 404, 410:
            answer.note(.unexpectedStatus)
            return .again(.unexpectedStatus, after: answer.serverWait, nil)
        case 408, 500...599:
            return .again(.serverError, after: answer.serverWait, nil)
        case 400...499:
            let problem = answer.problem
            if problem.retryable == true { return .again(.serverError, after: answer.serverWait, nil) }
            return .refused(code: ServerText.code(problem.code, fallback: "HTTP_\(answer.head.status)"))
        default:
            answer.note(.unexpectedStatus)
            return .again(.unexpectedStatus, after: nil, .unexpectedStatus)
        }
    }

    /// Whether what a client needs of the answer can be used.
    private static func judge(_ body: UploadAccepted, _ notes: inout ContractNotes) -> UploadJudgement {
        guard body.success else {
            notes.add("success", expected: "true", seen: "false", isDecisive: true)
            return .again(.unreadableAnswer, after: nil, .notSuccess)
        }
        let job = body.data
        if !Endpoint.isJobID(job.jobId) {
            notes.add(
                "data.jobId", expected: "an id that can stand in a path", seen: "another string",
                excerpt: job.jobId, isDecisive: true)
        } else if !ServerText.isTarget(job.sseUrl) {
            notes.add(
                "data.sseUrl", expected: "a path or an HTTP URL", seen: "another string",
                excerpt: ServerText.shown(address: job.sseUrl), isDecisive: true)
        } else if let token = job.authToken, !ServerText.isToken(token) {
            notes.add(
                "data.authToken", expected: "a token that can stand in a header", seen: "another string",
                isDecisive: true)
        } else {
            return .accepted(
                DurableJob(
                    jobId: job.jobId, authToken: job.authToken, sseUrl: job.sseUrl, lastEventID: ""))
        }
        return .again(.unreadableAnswer, after: nil, .undecodable)
    }
}

/// Why a job is of no more use, so that its scan has to be uploaded again.
enum JobEnd: Hashable, Sendable {
    case tokenExpired, gone

    var waitingCause: WaitingCause {
        switch self {
        case .tokenExpired: .tokenExpired
        case .gone: .jobGone
        }
    }

    /// Creates the meaning of a status for the job of a stream or results request; nil if it says nothing
    /// about the job. Any 401 means that the token is no longer valid for the job; 404 and 410 mean that the
    /// job no longer exists. Another 4xx is about the request itself, and a new job would be requested in the
    /// same way.
    init?(status: Int) {
        switch status {
        case 401: self = .tokenExpired
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
    case refused

    static func judge(_ answer: inout Answer) -> StreamJudgement {
        if let end = JobEnd(status: answer.head.status) { return .jobEnded(end) }
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
            return .refused
        default:
            answer.note(.unexpectedStatus)
            return .lost(.refusedByStatus, after: nil, .unexpectedStatus)
        }
    }
}

/// The meaning of the response to a results request.
enum ResultsJudgement: Hashable, Sendable {
    case books([Book])
    case jobEnded(JobEnd)
    /// The server cannot just now.
    case again(after: Interval?)
    /// A response without results: retried a limited number of times.
    case bad(BadAnswer)

    static func judge(_ answer: inout Answer, jobId: String) -> ResultsJudgement {
        if let end = JobEnd(status: answer.head.status) { return .jobEnded(end) }
        switch answer.head.status {
        case 200:
            guard let body = answer.read(ResultsReading.read, bytesMax: AppLimits.resultsBytesMax) else {
                return .bad(answer.badness)
            }
            guard body.success != false else {
                answer.notes.add("success", expected: "true", seen: "false", isDecisive: true)
                return .bad(.notSuccess)
            }
            // The books of another job are not this scan's.
            guard body.jobId.map({ $0 == jobId }) ?? true else {
                answer.notes.add(
                    "data.jobId", expected: "the requested job", seen: "another job",
                    excerpt: body.jobId, isDecisive: true)
                return .bad(.undecodable)
            }
            guard body.books.count <= AppLimits.booksPerScanMax else {
                answer.notes.add(
                    "data.results", expected: "at most \(AppLimits.booksPerScanMax) books",
                    seen: "more of them", excerpt: "\(body.books.count)", isDecisive: true)
                return .bad(.tooLarge)
            }
            return .books(body.books)
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
        case .undecodable, .wrongContentType, .notSuccess, .overlongStream: .unreadableAnswer
        }
    }
}

/// The meaning of the response to a DELETE.
enum CleanupJudgement: Hashable, Sendable {
    /// The job is gone from the server, by this request or before it.
    case done
    case again(after: Interval?)
    /// The phone can never delete it.
    case abandoned(cause: String)

    static func judge(_ answer: inout Answer) -> CleanupJudgement {
        switch answer.head.status {
        case 200...299, 404, 410: return .done
        case 408, 429, 500...599: return .again(after: answer.serverWait)
        case 401: return .abandoned(cause: WaitingCause.tokenExpired.rawValue)
        default:
            answer.note(.unexpectedStatus)
            return .abandoned(cause: "status-\(answer.head.status)")
        }
    }
}
