internal import JSON
package import SimBase

/// A request for a new token (Docs/contract.md section 2.5).
package struct TokenRefresh: Hashable, Sendable {
    package static let path = "/api/token/refresh"
    /// The last part of the life of a token, in which it may be exchanged.
    package static let window = Interval.minutes(30)
    /// The time for which a token that was exchanged stays good.
    package static let grace = Interval.minutes(5)

    package var jobId: String
    package var oldToken: String

    package init(jobId: String, oldToken: String) {
        self.jobId = jobId
        self.oldToken = oldToken
    }

    /// Nil for bytes that are not an object with both.
    package init?(_ bytes: [UInt8]) {
        guard let object = JSONObjectText(bytes), let job = object.text("jobId"),
            let token = object.text("oldToken")
        else { return nil }
        self.init(jobId: job, oldToken: token)
    }

    /// The body of the request.
    package var body: [UInt8] {
        JSON.object { writer in
            writer.member("jobId", self.jobId)
            writer.member("oldToken", self.oldToken)
        }
    }
}
