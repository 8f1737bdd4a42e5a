/// Failures of jobs that are those of a provider (Docs/contract.md sections 1.7 and 3.1).
package enum ProviderFailure {
    /// The codes of v3 and v2 for them.
    package static let codes: Set<String> = [
        ProblemCode.providerError.rawValue, ProblemCode.providerTimeout.rawValue,
        V2ErrorCode.apiError.rawValue, V2ErrorCode.networkError.rawValue,
    ]
}
