package import Talaria

/// The results of a job (Docs/contract.md section 1.3).
package struct ResultsPolicy: Hashable, Sendable {
    /// Whether the books in a `completed` event are used.
    package var usesInlineBooks = true
    /// Whether the results are requested where a `completed` event has no books that can be used. Off: there are no books.
    package var isFallback = true
    /// Whether a failed request for results is made again. Off: the scan has failed, and its job is deleted.
    package var isRepeated = true
    /// The failures of these requests for one job that are tolerated; after the next one the scan has failed. Nil for no
    /// limit.
    package var failuresMax: Int?
    /// Whether results that have expired by the phone's clock and `expiresAt` of the event are not requested: the scan has
    /// failed.
    package var checksExpiry = false
    /// Whether the results are requested only where the event names their address and the job has a token. Off: the address
    /// of the contract is known.
    package var needsAddress = false
    /// Whether one book with an unknown `enrichmentStatus` spoils the whole list.
    package var rejectsUnknownStatus = false
    /// The value of `format=` in the request; nil to use the address as it comes.
    package var format: String? = "lite"
    package var envelope = ResultsEnvelope.data
    /// Whether `enrichmentStatus` of a book is kept.
    package var keepsEnrichmentStatus = true
}
