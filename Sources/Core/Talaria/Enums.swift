/// The status of a job (Docs/contract.md section 1.6).
package enum JobStatus: String, CaseIterable, Codable, Hashable, Sendable {
    /// `queued` is B3's name of `initialized`.
    case initialized, queued, processing, completed, failed, canceled

    /// Whether the job has ended.
    package var isTerminal: Bool {
        switch self {
        case .initialized, .queued, .processing: false
        case .completed, .failed, .canceled: true
        }
    }
}

/// The stage of the backend's work on a photo (Docs/contract.md section 1.6).
package enum ScanStage: String, Codable, CaseIterable, Hashable, Sendable {
    case analyzingImage = "analyzing_image"
    case identifyingBooks = "identifying_books"
    case enrichingMetadata = "enriching_metadata"
    case complete
}

/// The enrichment of a book (Docs/contract.md section 1.6). An unknown value is kept, not refused.
package enum EnrichmentStatus: Hashable, Sendable {
    case pending, success, notFound, error, circuitOpen, reviewNeeded
    case unknown(String)

    package var text: String {
        switch self {
        case .pending: "pending"
        case .success: "success"
        case .notFound: "not_found"
        case .error: "error"
        case .circuitOpen: "circuit_open"
        case .reviewNeeded: "review_needed"
        case .unknown(let text): text
        }
    }

    /// Whether a look-up has found the book, and with it what no photo shows.
    var isOfFoundBook: Bool {
        switch self {
        case .success, .reviewNeeded, .unknown: true
        case .pending, .notFound, .error, .circuitOpen: false
        }
    }

    package init(text: String) {
        switch text {
        case "pending": self = .pending
        case "success": self = .success
        case "not_found": self = .notFound
        case "error": self = .error
        case "circuit_open": self = .circuitOpen
        case "review_needed": self = .reviewNeeded
        default: self = .unknown(text)
        }
    }
}

extension EnrichmentStatus: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(text: try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.text)
    }
}

/// The events of the contract (Docs/contract.md section 2.1): the five that it promises, the two of
/// progressive results that a backend may add, and the one that brings a book. `canceled` is an `error` by another name.
package enum EventKind: String, CaseIterable, Hashable, Sendable {
    case progress, completed, error, ping
    case enrichmentDegraded = "enrichment_degraded"
    case segmented
    case bookProgress = "book_progress"
    case result

    /// The name of an event by which a job ends that was canceled.
    package static let canceledName = "canceled"

    /// Nil for a name that the contract does not have. `complete` is the accepted alias of `completed` (C3).
    package init?(eventName: String) {
        // The most frequent come first.
        if eventName == EventKind.progress.rawValue {
            self = .progress
        } else if eventName == EventKind.ping.rawValue {
            self = .ping
        } else if eventName == "complete" {
            self = .completed
        } else if eventName == Self.canceledName {
            self = .error
        } else {
            self.init(rawValue: eventName)
        }
    }

    /// Whether the job says nothing more after it.
    package var isTerminal: Bool {
        switch self {
        case .completed, .error: true
        case .progress, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result: false
        }
    }
}

/// The events that other versions of the backend have, and the contract does not (Docs/contract.md section 2.1).
package enum UnknownEvent: String, CaseIterable, Hashable, Sendable {
    case failed, timeout, initialized, processing
    /// An event without a name, whose type by the standard is `message` (HTML Standard section 9.2.6).
    case message

    /// Whether another version of the backend has it.
    package var isOfOtherVersion: Bool { self != .message }
}
