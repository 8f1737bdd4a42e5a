import Observations
import SimBase
import Talaria
import Wire

/// Why and when a phone uploads a scan again after an attempt ended (Docs/design.md section 6 "Upload"). The answer and the
/// failure are judged here, the `error` event in `UploadRetry+ErrorEvent.swift`. `App.uploadAgain` (`App+Upload.swift`) applies
/// the result with the wait of `Backoff`, and `ScanQueue` selects the scan whose turn it is. What happens to the app decides by
/// itself: suspension (`App+Background.swift`) and a path that returns (`App+Scans.swift`).
struct UploadRetry: Hashable, Sendable {
    let cause: WaitingCause
    let wait: Wait
    /// The least wait, which nothing shortens: what the server requested, or the delay before the automatic retry.
    let atLeast: Interval

    enum Wait: Hashable, Sendable {
        case none
        /// Exponential, for failed uploads of the scan in a row. A path that returns ends it.
        case backoff
        /// Until the path returns, or the app is opened.
        case nextPath
        /// Until the app is opened.
        case nextLaunch
    }

    /// The upload gave no job, by no fault of the scan.
    static func backoff(_ cause: WaitingCause, atLeast: Interval? = nil) -> Self {
        Self(cause: cause, wait: .backoff, atLeast: atLeast ?? .zero)
    }

    /// The request failed below HTTP.
    static func failed(_ failure: TransportFailure) -> Self {
        switch failure {
        case .noPath: .backoff(.offline)
        case .timedOut: .backoff(.noAnswer)
        case .foreignURL: .backoff(.foreignURL)
        case .nameNotResolved, .connectRefused, .connectFailed, .connectTimedOut, .tls, .reset,
            .closedBeforeReply, .closedEarly, .descriptorsExhausted, .malformed, .other:
            .backoff(.transport)
        }
    }

    /// 429: the wait is that of the gate of all uploads (`RateGate`). A server that says "now" must not be asked again
    /// and again without a pause.
    static func limited(for wait: Interval) -> Self {
        Self(cause: .rateLimited, wait: wait == .zero ? .backoff : .none, atLeast: .zero)
    }

    /// The path was lost during the upload, or another replaced it.
    static func pathLost(hasAnother: Bool) -> Self {
        Self(cause: hasAnother ? .transport : .offline, wait: .none, atLeast: .zero)
    }

    /// The token does not open the job any more, or the job is gone: a new upload at once, as often as the profile
    /// allows.
    static func jobEnded(_ end: JobEnd, before: Int, max: Int) -> Self {
        Self(cause: end.waitingCause, wait: before < max ? .none : .nextLaunch, atLeast: .zero)
    }

    /// Whether the phone uploads by itself, without an event from outside.
    var isAutomatic: Bool {
        switch self.wait {
        case .none, .backoff: true
        case .nextPath, .nextLaunch: false
        }
    }
}

/// The meaning of the response to an upload for its scan.
enum UploadJudgement: Hashable, Sendable {
    case accepted(DurableJob)
    /// 429: every upload of this phone waits; nil when the server named no time.
    case limited(Interval?)
    /// The scan is not at fault: it is uploaded again.
    case again(UploadRetry, BadAnswer?)
    /// The server will not have this photo, however often it is sent.
    case refused(code: String)

    /// A 401, 403, 404 or 410 judges the caller or the address, not the scan: an upload carries no token and
    /// names no job. It is tried again, as 408 is. So is a 4xx that calls itself retryable, and a success that cannot
    /// be read.
    ///
    /// - Parameters:
    ///   - obeysRetryable: Whether an answer that calls itself final is, whatever its status.
    ///   - transport: By what the client wants to follow a job.
    static func judge(
        _ answer: inout Answer, _ form: UploadAnswerForm, obeysRetryable: Bool,
        transport: StreamTransport = .sse, hasTokenInQuery: Bool = false
    ) -> UploadJudgement {
        switch answer.head.status {
        case 500...599 where obeysRetryable && answer.problem.retryable == false:
            return .refused(code: Self.code(of: answer))
        case 200 where form == .flat:
            return .again(.backoff(.unexpectedStatus), .unexpectedStatus)
        case 200, 202:
            let read =
                switch form {
                case .contract: UploadAccepted.read
                case .flat: UploadAccepted.readFlat
                case .v2: UploadAccepted.readV2
                }
            guard let body = answer.read(read, bytesMax: AppLimits.answerBytesMax) else {
                return .again(.backoff(answer.badness.waitingCause), answer.badness)
            }
            return Self.judge(body, transport, hasTokenInQuery: hasTokenInQuery, &answer.notes)
        case 429:
            return .limited(answer.serverWait)
        case 401, 403:
            return .again(.backoff(.unauthorized, atLeast: answer.serverWait), nil)
        case 404, 410:
            answer.note(.unexpectedStatus)
            return .again(.backoff(.unexpectedStatus, atLeast: answer.serverWait), nil)
        case 408, 500...599:
            return .again(.backoff(.serverError, atLeast: answer.serverWait), nil)
        case 400...499:
            let problem = answer.problem
            if problem.retryable == true {
                return .again(.backoff(.serverError, atLeast: answer.serverWait), nil)
            }
            return .refused(code: Self.code(of: answer))
        default:
            answer.note(.unexpectedStatus)
            return .again(.backoff(.unexpectedStatus), .unexpectedStatus)
        }
    }

    private static func code(of answer: Answer) -> String {
        ServerText.code(answer.problem.code, fallback: "HTTP_\(answer.head.status)")
    }

    /// Whether what a client needs of the answer can be used.
    private static func judge(
        _ body: UploadAccepted, _ wanted: StreamTransport, hasTokenInQuery: Bool,
        _ notes: inout ContractNotes
    ) -> UploadJudgement {
        guard body.success else {
            notes.add("success", expected: "true", seen: "false", isDecisive: true)
            return .again(.backoff(.unreadableAnswer), .notSuccess)
        }
        let job = body.data
        let (address, transport) = job.address(for: wanted)
        let key = transport == .sse || job.websocketUrl == nil ? "sseUrl" : "websocketUrl"
        if !Endpoint.isJobID(job.jobId) {
            notes.add(
                "data.jobId", expected: "an id that can stand in a path", seen: "another string",
                excerpt: job.jobId, isDecisive: true)
        } else if !ServerText.isTarget(address) {
            notes.add(
                "data.\(key)", expected: "a path or an HTTP URL", seen: "another string",
                excerpt: ServerText.shown(address: address), isDecisive: true)
        } else if let token = job.authToken, !ServerText.isToken(token) {
            notes.add(
                "data.authToken", expected: "a token that can stand in a header", seen: "another string",
                isDecisive: true)
        } else if transport == .websocket, !hasTokenInQuery, let token = job.authToken,
            !WebSocketRequest.isSubprotocol(token)
        {
            notes.add(
                "data.authToken", expected: "a token that can stand in the name of a subprotocol",
                seen: "another string", isDecisive: true)
        } else {
            return .accepted(
                DurableJob(
                    jobId: job.jobId, authToken: job.authToken, sseUrl: address, lastEventID: "",
                    transport: transport))
        }
        return .again(.backoff(.unreadableAnswer), .undecodable)
    }
}

extension UploadAccepted.Job {
    /// Where and by what the job is followed. That of an older answer, which names no event stream, by WebSocket.
    fileprivate func address(for wanted: StreamTransport) -> (String, StreamTransport) {
        if wanted == .sse, let sseUrl { return (sseUrl, .sse) }
        // A socket is requested by HTTP (RFC 6455 section 3).
        let address = self.websocketUrl ?? ProgressSocket.target(self.jobId)
        return (address.hasPrefix("ws") ? "http" + address.dropFirst(2) : address, .websocket)
    }
}
