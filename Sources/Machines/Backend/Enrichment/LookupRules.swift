package import SimBase
internal import Talaria

/// The numbers of the enrichment of single books (Docs/contract.md section 3.2).
package struct LookupRules: Hashable, Sendable {
    /// Books that no provider has, of barcodes that no simulated phone scanned: for those `Shelf` says it.
    package var unknown = Odds.percent(5)
    /// The time for which a key gives the same answer.
    package var keyLifetime = EnrichmentRequest.keyLifetime
    package var keysMax = 100_000

    package init() {}
}
