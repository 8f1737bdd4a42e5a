package import JSON

/// The codes of errors of v2 with their statuses (Docs/contract.md section 3.1).
package enum V2ErrorCode: String, CaseIterable, Hashable, Sendable {
    case notFound = "NOT_FOUND"
    case invalidRequest = "INVALID_REQUEST"
    case unauthorized = "UNAUTHORIZED"
    case fileTooLarge = "FILE_TOO_LARGE"
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
    case circuitOpen = "CIRCUIT_OPEN"
    case apiError = "API_ERROR"
    case networkError = "NETWORK_ERROR"
    case timeout = "TIMEOUT"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case internalError = "INTERNAL_ERROR"

    package var status: Int {
        switch self {
        case .notFound: 404
        case .invalidRequest: 400
        case .unauthorized: 401
        case .fileTooLarge: 413
        case .rateLimitExceeded: 429
        case .circuitOpen: 503
        case .apiError: 502
        case .networkError: 504
        case .timeout: 408
        case .methodNotAllowed: 405
        case .internalError: 500
        }
    }

    /// Whether the same request may succeed later.
    package var isRetryable: Bool {
        switch self {
        case .rateLimitExceeded, .circuitOpen, .apiError, .networkError, .timeout, .internalError: true
        case .notFound, .invalidRequest, .unauthorized, .fileTooLarge, .methodNotAllowed: false
        }
    }
}

extension ProblemCode {
    /// The code by which v2 says the same. It has one for each status (Docs/contract.md section 3.1), and GONE for jobs that were
    /// canceled.
    package var ofV2: ProblemCode {
        switch self {
        case .missingParameter, .invalidFile, .emptyBatch, .invalidAcceptHeader, .batchTooLarge:
            .invalidRequest
        case .invalidToken, .tokenExpired: .unauthorized
        case .invalidRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .timeout, .conflict,
            .gone, .fileTooLarge, .headerTooLarge, .rateLimitExceeded, .internalError, .featureNotAvailable,
            .cacheError, .providerError, .networkError, .circuitOpen, .providerTimeout:
            self
        }
    }
}

/// The bodies of v2: `{success: true, data, metadata}` and `{success: false, error}` (Docs/contract.md section 3.1).
package enum V2Envelope {
    /// - Parameter timestamp: Milliseconds since 1970.
    /// - Parameter cached: Whether the answer is that of an earlier request.
    /// - Parameter source: The provider of the data.
    package static func success(
        timestamp: Int64, cached: Bool? = nil, source: String? = nil, _ data: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        JSON.object { writer in
            writer.object("data", data)
            writer.object("metadata") { writer in
                writer.member("cached", cached)
                writer.member("source", source)
                writer.member("timestamp", timestamp: timestamp)
            }
            writer.member("success", true)
        }
    }

    /// - Parameter retryAfterSeconds: `retryAfter` of a 429, next to the error.
    /// - Parameter retryAfterMilliseconds: `details.retryAfterMs`.
    package static func failure(
        _ code: V2ErrorCode, _ message: String, retryAfterSeconds: Int64? = nil,
        retryAfterMilliseconds: Int64? = nil
    ) -> [UInt8] {
        self.failure(
            code: code.rawValue, message, isRetryable: code.isRetryable, retryAfterSeconds: retryAfterSeconds,
            retryAfterMilliseconds: retryAfterMilliseconds)
    }

    /// The body of an error whose code need not be one of `V2ErrorCode`.
    package static func failure(
        code: String, _ message: String, isRetryable: Bool, retryAfterSeconds: Int64?,
        retryAfterMilliseconds: Int64?
    ) -> [UInt8] {
        JSON.object { writer in
            writer.object("error") { writer in
                writer.member("code", code)
                if let retryAfterMilliseconds {
                    writer.object("details") { $0.member("retryAfterMs", retryAfterMilliseconds) }
                }
                writer.member("message", message)
                writer.member("retryable", isRetryable)
            }
            writer.member("retryAfter", retryAfterSeconds)
            writer.member("success", false)
        }
    }
}
