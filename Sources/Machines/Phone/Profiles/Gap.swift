import Talaria

/// The gaps between the app before its compliance plan and the contract (Docs/apps.md section 5). The raw values are the
/// numbers of the plan.
package enum Gap: Int, ProfileDeviation {
    case problemDetails = 1
    case resultsEnvelope
    case inlineBooks
    case errorFields
    case lastEventID
    case enrichmentDegraded
    case ping
    case resultsFormat
    case statuses
    case deviceID
    case tokenLifetime
    case resultsDeviceID
    case document
    case enrichmentStatus

    package var title: String {
        switch self {
        case .problemDetails: "the body of an HTTP error is not read"
        case .resultsEnvelope: "results are expected at the top level of the body"
        case .inlineBooks: "the books in a completed event are ignored, and the results are always fetched"
        case .errorFields: "of an error event only the message is read"
        case .lastEventID: "a lost stream is opened without Last-Event-ID"
        case .enrichmentDegraded: "an enrichment_degraded event is taken for a failure of the job"
        case .ping: "a ping is taken for a failure of the job"
        case .resultsFormat: "results are requested without `format=lite`"
        case .statuses: "the values of a status are not known"
        case .deviceID: "each scan has device ids of its own"
        case .tokenLifetime: "a token is not known to expire"
        case .resultsDeviceID: "results are requested without X-Device-ID"
        case .document: "the client was written from the OpenAPI document 3.0.0"
        case .enrichmentStatus: "the enrichment status of a book is dropped"
        }
    }

    package var source: String { "Docs/apps.md section 5, GAP-\(self.rawValue)" }

    package func apply(to profile: inout ClientProfile) {
        switch self {
        case .problemDetails: profile.upload.problems = .ignored
        case .resultsEnvelope: profile.results.envelope = .topLevel
        case .inlineBooks: profile.results.usesInlineBooks = false
        case .errorFields: profile.events.error = .messageOnly
        case .lastEventID: profile.stream.resumes = false
        case .enrichmentDegraded: profile.events.enrichmentDegraded = .fails
        case .ping: profile.events.ping = .fails
        case .resultsFormat: profile.results.format = nil
        case .statuses: profile.events.statuses = .opaque
        case .deviceID:
            profile.identity.upload = .perScan
            profile.identity.stream = .perScan
            profile.identity.results = .perService
            profile.identity.cleanup = .perService
        case .tokenLifetime: profile.token.expiry = .unknown
        case .resultsDeviceID: profile.identity.results = .absent
        case .document: profile.events.document = .v300
        case .enrichmentStatus: profile.results.keepsEnrichmentStatus = false
        }
    }
}
