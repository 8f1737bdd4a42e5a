/// A version of the API. It decides the form of refusals and of streams; its operations are rows of `ContractOperation`.
package enum APIVersion: Hashable, Sendable {
    case v2
    case v3

    /// The content type of a refusal.
    package var problemType: String {
        switch self {
        case .v2: Contract.jsonType
        case .v3: Problem.contentType
        }
    }
}
