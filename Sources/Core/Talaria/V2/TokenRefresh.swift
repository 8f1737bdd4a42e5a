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

/// The answer to such a request.
package struct NewToken: Hashable, Sendable {
    package let token: String
    /// From its answer on; nil if it does not say.
    package let life: Interval?

    /// Nil, with the reason noted, if it has no token.
    package init?(_ bytes: [UInt8], into notes: inout ContractNotes) {
        guard let body = LeanObject(optional: bytes, "the new token", into: &notes) else { return nil }
        if body.flag("success", .expected, into: &notes) == false {
            notes.add("success", expected: "true", seen: "false")
        }
        guard let data = body.object("data", .required, into: &notes),
            let token = data.text("token", .required, into: &notes), !token.isEmpty
        else { return nil }
        self.token = token
        self.life = data.integer("expiresIn", .expected, into: &notes).map {
            .seconds(Int64(min(max(0, $0), 86_400)))
        }
        body.compare(with: Contract.v2NewToken, into: &notes)
    }
}

/// The job that a token belongs to, for a request for one job.
package enum TokenOwner: Hashable, Sendable {
    /// The job that is requested, or one that is gone, of which it is not known.
    case thisJob
    /// It was exchanged for another one.
    case thisJobBefore
    case otherJob
}
