import SimBase

/// What a trial of clients knows of the server that they use.
package struct ClientTrialSettings: Hashable, Sendable {
    /// The name of the part that is a photo, where the version leaves it to the server.
    package var photoPart = "photos[]"
    /// Whether other parts are allowed in addition to the photos.
    package var allowsOtherParts = false
    /// How many phones use the server; nil if that is not known.
    package var phones: Int?
    /// Whether a token may be in the query, as pages in a browser need it.
    package var allowsTokenInQuery = false
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64 = 0

    package init() {}
}
