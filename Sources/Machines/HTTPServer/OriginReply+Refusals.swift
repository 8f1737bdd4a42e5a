import Backend
import JSON
import OriginServer
import SimBase
import Talaria
import Wire

// What a request that is not HTTP, or comes too slowly, is answered.

extension OriginReply {
    static func refusal(of error: RequestError) -> OriginReply {
        let code: ProblemCode =
            switch error.status {
            case 413: .fileTooLarge
            case 414, 431: .headerTooLarge
            case 501, 505: .featureNotAvailable
            default: .invalidRequest
            }
        var reply = self.refusal(code, "the request is not valid HTTP: \(error)")
        reply.status = error.status
        return reply
    }

    static func refusal(of refusal: CrossSiteGuard.Refusal) -> OriginReply {
        switch refusal {
        case .foreignHost:
            Self.refusal(
                .forbidden,
                "This server accepts only addresses and private names as its host. Use --allow-host to accept another name."
            )
        case .crossSite:
            Self.refusal(.forbidden, "This server does not accept requests from pages of other sites.")
        }
    }

    static func refusal(_ code: ProblemCode, _ detail: String) -> OriginReply {
        self.refusal(code, detail, retryAfterMs: nil)
    }

    static func refusal(_ code: ProblemCode, _ detail: String, retryAfterMs: Int64?) -> OriginReply {
        let problem = Problem(
            code, detail: detail, instance: nil, retryAfterMs: retryAfterMs, metadata: nil)
        return OriginReply(
            status: code.status, headers: [HeaderField("Content-Type", Problem.contentType)],
            body: JSON.encode(problem))
    }
}
