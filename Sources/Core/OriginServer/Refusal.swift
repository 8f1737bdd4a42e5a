package import Faults
import JSON
package import Observations
package import SimBase
package import Talaria
package import Wire

/// The reason why a request is not served.
package struct Refusal: Error, Hashable {
    /// The values of a fault, which replace those that the contract has for the code.
    package struct Override: Hashable, Sendable {
        package var status: Int
        package var code: String
        package var retryable: Bool
        package var retryAfterLocation: RetryAfterLocation
    }

    package var code: ProblemCode
    package var detail: String
    package var retryAfter: Interval?
    package var headers: [HeaderField] = []
    package var override: Override?

    package init(_ code: ProblemCode, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var status: Int { self.override?.status ?? self.code.status }
    /// The locations where the answer states `retryAfter`.
    package var retryAfterLocation: RetryAfterLocation { self.override?.retryAfterLocation ?? .both }
}

extension Refusal {
    /// The values of the scenario, and those of the contract for the rest.
    package init(_ error: HTTPFault) {
        let code = error.code.map { ProblemCode(rawValue: $0) } ?? ProblemCode(status: error.status)
        self.init(
            code ?? ProblemCode(status: error.status),
            error.status < 500 ? "The request was refused." : "The service has failed.")
        self.retryAfter = error.retryAfter.map { min(max(.zero, $0), OriginLimits.intervalMax) }
        self.override = Override(
            status: error.status, code: error.code ?? self.code.rawValue,
            // Nothing says that a retry may help after a code that the contract does not know.
            retryable: error.retryable ?? code?.retryable ?? false,
            retryAfterLocation: error.retryAfterLocation)
    }
}

extension Refusal {
    /// Why an opening handshake of WebSocket is not answered with 101 (RFC 6455 section 4.4, Docs/contract.md section 3.4).
    package init(_ error: WebSocketRequestError) {
        self.init(.invalidRequest, "The request is no opening handshake of WebSocket.")
        if error.status != 400 {
            self.override = Override(
                status: error.status, code: "UPGRADE_REQUIRED", retryable: false, retryAfterLocation: .neither
            )
        }
        self.headers = error.fields.fields
    }
}

extension Refusal {
    package static let tokenExpired = Refusal(.tokenExpired, "The token has expired.")
    package static let gone = Refusal(.gone, "The job was cleaned up or has expired.")
    package static let unknownJob = Refusal(.notFound, "There is no such job.")
    package static let noResults = Refusal(.notFound, "The job has no results, not yet or not any more.")

    /// The refusal of a request for a job that was removed with this status.
    package static func removed(_ status: Int) -> Refusal { status == 404 ? .unknownJob : .gone }

    package static func limited(
        _ quota: Quota, per scope: RateLimitRule.Scope, until free: Instant, retryAfter: Interval,
        wallClockAtZero: Int64
    ) -> Refusal {
        let detail =
            switch scope {
            case .device: "Too many requests from device"
            case .address: "Too many requests from address"
            case .all: "Too many requests"
            }
        var refusal = Refusal(.rateLimitExceeded, detail)
        refusal.retryAfter = min(retryAfter, OriginLimits.intervalMax)
        refusal.headers = RateLimiter.headers(
            quota, remaining: 0, reset: free, wallClockAtZero: wallClockAtZero)
        return refusal
    }
}

extension Refusal {
    /// The observation of the problem document.
    package func payload(_ context: RequestContext) -> BackendObservation {
        .problem(
            context.operation, attempt: context.caller.attempt, status: self.status,
            job: JourneyPath(path: context.path)?.endpoint.jobID,
            retryable: self.override?.retryable ?? self.code.retryable,
            retryAfter: self.retryAfterLocation == .neither ? nil : self.retryAfter)
    }

    /// This refusal with the code that a version has for it. A code that a scenario sets for a fault stays.
    package func coded(in version: APIVersion) -> Refusal {
        guard self.override == nil else { return self }
        var refusal = self
        refusal.code = version.code(self.code)
        return refusal
    }

    /// The answer in the form of a version (Docs/contract.md sections 1.7 and 3.1).
    package func reply(metadata: Metadata, instance: String?, _ version: APIVersion) -> OriginReply {
        self.coded(in: version).reply(
            metadata: metadata, instance: instance, contentType: version.problemType
        ) { problem in
            switch version {
            case .v2: problem.v2Body
            case .v3: JSON.encode(problem)
            }
        }
    }

    /// The answer with the problem document in another form.
    package func reply(
        metadata: Metadata, instance: String?, contentType: String, body: (Problem) -> [UInt8]
    ) -> OriginReply {
        let location = self.retryAfterLocation
        let inBody = location == .body || location == .both ? self.retryAfter : nil
        let inHeader = location == .header || location == .both ? self.retryAfter : nil
        var problem = Problem(
            self.code, detail: self.detail, instance: instance,
            retryAfterMs: inBody.map { $0.rounded(upTo: .milliseconds(1)) }, metadata: metadata)
        if let override = self.override {
            problem.replace(status: override.status, code: override.code)
            problem.retryable = override.retryable
        }
        var headers = [
            HeaderField(HeaderName.requestID, metadata.requestId),
            HeaderField("Content-Type", contentType),
        ]
        if problem.status == 401 {
            // RFC 9110 section 15.5.2: a 401 names a scheme.
            headers.append(HeaderField("WWW-Authenticate", "Bearer"))
        }
        if let inHeader {
            headers.append(HeaderField(HeaderName.retryAfter, String(inHeader.rounded(upTo: .seconds(1)))))
        }
        return OriginReply(
            status: problem.status, headers: headers + self.headers, body: body(problem))
    }
}

extension Interval {
    /// Returns the number of whole units that cover it; zero if it is negative.
    fileprivate func rounded(upTo unit: Interval) -> Int64 {
        max(0, (self.nanoseconds + unit.nanoseconds - 1) / unit.nanoseconds)
    }
}
