/// An error body by RFC 9457, as every 4xx and 5xx of the backend carries it (Docs/contract.md section 1.7).
package struct Problem: Codable, Hashable, Sendable {
    package static let contentType = "application/problem+json"
    package static let typeBase = "https://api.oooefam.net/errors/"

    package var success: Bool
    package var type: String
    package var title: String
    package var status: Int
    package var detail: String
    package var instance: String?
    package var code: String
    package var retryable: Bool
    /// Milliseconds, where the header `Retry-After` has seconds.
    package var retryAfterMs: Int64?
    /// Seconds, in a form that only OAS has.
    package var retryAfter: Int64?
    package var metadata: Metadata?

    package init(
        _ code: ProblemCode, detail: String, instance: String?, retryAfterMs: Int64?, metadata: Metadata?
    ) {
        self.success = false
        self.type = Self.typeBase + code.kebab
        self.title = code.title
        self.status = code.status
        self.detail = detail
        self.instance = instance
        self.code = code.rawValue
        self.retryable = code.retryable
        self.retryAfterMs = retryAfterMs
        self.metadata = metadata
    }

    /// Replaces status and code, whatever the contract defines for either.
    package mutating func replace(status: Int, code: String) {
        self.type = Self.typeBase + ProblemCode.kebab(code)
        self.title = ProblemCode.title(code)
        self.status = status
        self.code = code
    }
}

/// The codes of the contract with their status and whether a repeat may help (Docs/contract.md section 1.7).
package enum ProblemCode: String, CaseIterable, Hashable, Sendable {
    case missingParameter = "MISSING_PARAMETER"
    case invalidRequest = "INVALID_REQUEST"
    case invalidFile = "INVALID_FILE"
    case emptyBatch = "EMPTY_BATCH"
    case invalidAcceptHeader = "INVALID_ACCEPT_HEADER"
    case invalidToken = "INVALID_TOKEN"
    case tokenExpired = "TOKEN_EXPIRED"
    case unauthorized = "UNAUTHORIZED"
    case forbidden = "FORBIDDEN"
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case timeout = "TIMEOUT"
    case conflict = "CONFLICT"
    case gone = "GONE"
    case fileTooLarge = "FILE_TOO_LARGE"
    case batchTooLarge = "BATCH_TOO_LARGE"
    case headerTooLarge = "HEADER_TOO_LARGE"
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
    case internalError = "INTERNAL_ERROR"
    case featureNotAvailable = "FEATURE_NOT_AVAILABLE"
    case cacheError = "CACHE_ERROR"
    case providerError = "PROVIDER_ERROR"
    case networkError = "NETWORK_ERROR"
    case circuitOpen = "CIRCUIT_OPEN"
    case providerTimeout = "PROVIDER_TIMEOUT"

    package var status: Int {
        switch self {
        case .missingParameter, .invalidRequest, .invalidFile, .emptyBatch, .invalidAcceptHeader: 400
        case .batchTooLarge: 400  // C28: the handler's 400 wins over the status map's 413.
        case .invalidToken, .tokenExpired, .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .timeout: 408
        case .conflict: 409
        case .gone: 410
        case .fileTooLarge: 413
        case .headerTooLarge: 431
        case .rateLimitExceeded: 429
        case .internalError, .cacheError: 500
        case .featureNotAvailable: 501
        case .providerError, .networkError: 502
        case .circuitOpen: 503
        case .providerTimeout: 504
        }
    }

    package var retryable: Bool {
        switch self {
        case .rateLimitExceeded, .circuitOpen, .providerError, .providerTimeout, .timeout, .cacheError,
            .networkError:
            true
        case .missingParameter, .invalidRequest, .invalidFile, .emptyBatch, .invalidAcceptHeader,
            .invalidToken,
            .tokenExpired, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .conflict, .gone,
            .fileTooLarge,
            .batchTooLarge, .headerTooLarge, .internalError, .featureNotAvailable:
            false
        }
    }

    /// Creates the contract's problem for a status; for an unknown status, that of 400 or 500.
    package init(status: Int) {
        self =
            switch status {
            case 401: .unauthorized
            case 403: .forbidden
            case 404: .notFound
            case 405: .methodNotAllowed
            case 408: .timeout
            case 409: .conflict
            case 410: .gone
            case 413: .fileTooLarge
            case 429: .rateLimitExceeded
            case 431: .headerTooLarge
            case 501: .featureNotAvailable
            case 502: .providerError
            case 503: .circuitOpen
            case 504: .providerTimeout
            case 500...: .internalError
            default: .invalidRequest
            }
    }

    package var kebab: String { Self.kebab(self.rawValue) }
    package var title: String { Self.title(self.rawValue) }

    /// `RATE_LIMIT_EXCEEDED` as `rate-limit-exceeded`.
    static func kebab(_ code: String) -> String {
        String(code.lowercased().map { $0 == "_" ? "-" : $0 })
    }

    /// `RATE_LIMIT_EXCEEDED` as `Rate Limit Exceeded`.
    static func title(_ code: String) -> String {
        code.split(separator: "_").map { $0.prefix(1) + $0.dropFirst().lowercased() }.joined(separator: " ")
    }
}
