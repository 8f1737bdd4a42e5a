package import Faults
package import SimBase
package import Talaria

/// A request of a known endpoint that is not answered yet.
package struct RequestContext: Sendable {
    package let exchange: ExchangeID
    package let operation: Operation
    package let journey: Journey
    package let caller: Caller
    /// The path of a known endpoint: short, and without control characters.
    package let path: String
    package let faults: [ArmedFault]

    package init(
        exchange: ExchangeID, operation: Operation, journey: Journey = .scan, caller: Caller, path: String,
        faults: [ArmedFault]
    ) {
        self.exchange = exchange
        self.operation = operation
        self.journey = journey
        self.caller = caller
        self.path = path
        self.faults = faults
    }

    /// The first fault of a kind that waits for nothing.
    package func fault(where applies: (FaultKind) -> Bool) -> ArmedFault? {
        self.faults.first { $0.trigger == .atOnce && applies($0.kind) }
    }
}

extension KeyedRandom {
    /// The id of a request; unique within the run, because no job draws with this count.
    package func requestID(of exchange: ExchangeID) -> String {
        "req-" + Hexadecimal.text(self.draw(.jobIdentity, exchange.raw, .max), digits: 16)
    }
}

extension Endpoint {
    /// The methods of the contract, as `Allow` lists them.
    package var methods: String {
        switch self {
        case .upload, .refresh: "POST"
        case .stream, .results: "GET"
        case .cleanup: "DELETE"
        case .job: "GET, DELETE"
        }
    }

    /// The job that the path names.
    package var jobID: String? {
        switch self {
        case .upload, .refresh: nil
        case .stream(let id), .results(let id), .cleanup(let id), .job(let id): id
        }
    }

    /// The operation of a method on this path; nil if the path does not take the method.
    package func operation(method: String) -> Operation? {
        switch (self, method) {
        case (.upload, "POST"): .upload
        case (.stream, "GET"): .stream
        case (.results, "GET"): .results
        case (.cleanup, "DELETE"): .cleanup
        case (.job, "GET"): .status
        case (.job, "DELETE"): .cancel
        case (.refresh, "POST"): .refresh
        case (.upload, _), (.stream, _), (.results, _), (.cleanup, _), (.job, _), (.refresh, _): nil
        }
    }
}

extension JourneyPath {
    /// The methods of the contract, as `Allow` lists them.
    package var methods: String {
        if self.isCancelByPost { return "POST" }
        guard !self.journey.version.hasOwnCancel, case .job = self.endpoint else {
            return self.endpoint.methods
        }
        return "GET"
    }

    /// The operation of a method on this path; nil if the path does not take the method. In v2, a job is canceled where it is
    /// cleaned up.
    package func operation(method: String) -> Operation? {
        if let operation = self.foreignOperation { return operation }
        if self.isCancelByPost { return method == "POST" ? .cleanup : nil }
        let operation = self.endpoint.operation(method: method)
        return operation == .cancel && !self.journey.version.hasOwnCancel ? nil : operation
    }
}
