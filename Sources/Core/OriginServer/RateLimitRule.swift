package import SimBase
package import Talaria

/// A limit of the server: a quota, whose requests it is for, and who shares it (Docs/contract.md section 1.8).
package struct RateLimitRule: Hashable, Sendable {
    /// The requests that share a quota.
    package enum Scope: String, CaseIterable, Hashable, Sendable {
        /// Those with one device id.
        case device
        /// Those that come from one address.
        case address
        /// Those of everybody.
        case all
    }

    /// The requests that are counted.
    package enum Requests: Hashable, Sendable {
        case uploads
        case status
        /// The uploads of one journey.
        case journey(Journey)
    }

    package var quota: Quota
    package var scope: Scope
    package var requests: Requests

    package init(quota: Quota, scope: Scope, requests: Requests) {
        self.quota = quota
        self.scope = scope
        self.requests = requests
    }

    package func counts(_ operation: Talaria.Operation, of journey: Journey) -> Bool {
        switch self.requests {
        case .uploads: operation == .upload
        case .status: operation == .status
        case .journey(journey): operation == .upload
        case .journey: false
        }
    }
}

/// Whose requests a limiter counts together.
package enum LimitedCaller: Hashable, Sendable {
    case device(DeviceKey)
    /// Simulated phones of one address, by its number.
    case phones(UInt32)
    /// Foreign clients of one address.
    case address(String)
    case everybody
}
