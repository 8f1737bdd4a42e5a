import SimBase
package import Talaria

/// A client that a scenario may name: values of its own, and the toggles that it has by itself.
package struct NamedProfile: Sendable {
    /// Its values without any toggle.
    package let base: ClientProfile
    /// The family of its deviations; nil for a client without any.
    var deviations: ProfileToggle.Family?
    /// Toggles that it may have, which no source proves. They are off.
    package var unproven: [ProfileToggle] = []
    /// Whether it is an app that people use. Some of these are known to break invariants.
    package var isShipping = true
    /// One sentence for lists.
    package let summary: String
    /// The sections of Docs/contract.md that describe it.
    package let source: String
    /// What the client can have a backend do.
    package var journeys = Journey.allCases

    package var name: String { self.base.name }

    /// Those that are on by themselves.
    package var toggles: [ProfileToggle] {
        ProfileToggle.all.filter { $0.family == self.deviations && !self.unproven.contains($0) }
    }

    /// Its deviations that have no toggle.
    package var hidden: [ProfileToggle] {
        ProfileToggle.hidden.filter { $0.family == self.deviations }
    }

    package static let contract = NamedProfile(
        base: .contract, isShipping: false,
        summary: "the client of the design documents: what the app should do",
        source: "Docs/contract.md sections 1 and 2, Docs/apps.md section 5")

    package static let swiftwingLegacy = NamedProfile(
        base: Self.base("swiftwing-legacy"), deviations: .gap,
        summary: "the SwiftWing app before its compliance plan", source: "Docs/apps.md section 5")

    package static let swiftwingHead = NamedProfile(
        base: Self.head, deviations: .quirk, unproven: [.lineReader],
        summary: "the SwiftWing app at HEAD (commit 039ea0a): what the app does",
        source: "Docs/apps.md section 4")

    package static let wingtip = NamedProfile(
        base: Self.flutter,
        summary: "the wingtip app", source: "Docs/apps.md section 6.1")

    package static let swiftwingPolling = NamedProfile(
        base: Self.poller,
        summary: "the SwiftWing app 3.9.0, which polls the status", source: "Docs/apps.md section 4.13")

    package static let books = NamedProfile(
        base: Self.booksHead, deviations: .booksQuirk,
        summary: "the books-v3 app at HEAD (commit 1f3ef38), which uses v2",
        source: "Docs/apps.md section 6.2",
        journeys: Journey.all(.v2))

    package static let booksOld = NamedProfile(
        base: Self.booksBefore,
        summary: "the books-v3 app with its older stream client (commit 2b3f2c1)",
        source: "Docs/apps.md section 6.2",
        journeys: Journey.all(.v2))

    package static let booksMigrating = NamedProfile(
        base: Self.booksMigration,
        summary: "the books-v3 app of the plan to move from WebSocket to SSE",
        source: "Docs/apps.md section 6.2", journeys: [.bookshelfScan, .batchEnrichment, .csvImport])

    package static let booksHandler = NamedProfile(
        base: Self.booksResponses,
        summary: "the books-v3 app with its SSEResponseHandler, wired as it was meant to be",
        source: "Docs/apps.md section 6.2", journeys: Journey.all(.v2))

    /// Docs/apps.md section 6.2, rows "EnrichmentAPIClient" and "Timeouts". A value that the section does not name is the
    /// contract's.
    private static func booksRequests(_ name: String) -> ClientProfile {
        var profile = Self.base(name)
        profile.journey = .bookshelfScan
        profile.upload.retriesMax = 2
        profile.upload.obeysRetryable = true
        profile.upload.fallsBack = true
        profile.waits.prefersHeader = true
        profile.waits.rateLimitDefault = .seconds(5)
        profile.waits.circuitDefault = .seconds(60)
        profile.backoff = BackoffPolicy(base: .seconds(1), cap: .seconds(60))
        profile.backoff.spread = .fifth
        profile.requestBackoff = profile.backoff
        profile.results.failuresMax = 2
        profile.cleanup.requestsMax = 3
        profile.timeouts.photos = .seconds(70)
        profile.timeouts.document = .seconds(120)
        profile.timeouts.file = .seconds(120)
        profile.timeouts.results = .seconds(30)
        profile.timeouts.status = .seconds(10)
        profile.timeouts.cleanup = .seconds(15)
        profile.stream.connectTimeout = .seconds(70)
        return profile
    }

    /// Row "SSEClient HEAD", with its defects as toggles.
    private static var booksHead: ClientProfile {
        var profile = Self.booksRequests("books-v3")
        profile.stream.idleTimeout = .hours(24)
        profile.stream.obeysRetryField = false
        return profile
    }

    /// Row "BV-old SSEClient".
    private static var booksBefore: ClientProfile {
        var profile = Self.booksRequests("books-v3-old")
        profile.backoff = BackoffPolicy(base: .seconds(5), cap: .seconds(5))
        profile.backoff.hasJitter = false
        profile.stream.attemptsMax = 3
        profile.stream.afterEnd = .finishes
        profile.stream.obeysRetryField = false
        return profile
    }

    /// Row "Migration plan": the stream client before it, results that are requested once, and `expiresAt`.
    private static var booksMigration: ClientProfile {
        var profile = Self.booksBefore
        profile.name = "books-v3-migrating"
        profile.results.isRepeated = false
        profile.results.checksExpiry = true
        return profile
    }

    /// Row "SSEResponseHandler", without the defect that makes it useless.
    private static var booksResponses: ClientProfile {
        var profile = Self.booksRequests("books-v3-handler")
        profile.backoff.hasJitter = false
        profile.stream.attemptsMax = 6
        profile.stream.forgivesLosses = true
        profile.stream.obeysRetryField = false
        return profile
    }

    /// Docs/apps.md section 4.13, last row. A value that it does not name is the contract's.
    private static var poller: ClientProfile {
        var profile = Self.base("swiftwing-polling")
        profile.status.polling = .always
        profile.status.requestsMax = 75
        profile.status.failuresMax = 4
        profile.results.failuresMax = 4
        profile.cleanup.isMade = false
        profile.review.duplicateWindow = .seconds(60)
        return profile
    }

    /// Docs/apps.md section 6.1. A value that it does not name is the contract's.
    private static var flutter: ClientProfile {
        var profile = Self.base("wingtip")
        profile.identity.stream = .absent
        profile.upload.part = "image"
        profile.upload.answer = .flat
        profile.upload.retriesMax = 3
        profile.upload.repeatsLimited = false
        profile.waits.prefersHeader = true
        profile.backoff = BackoffPolicy(base: .milliseconds(500), cap: .seconds(2))
        profile.backoff.hasJitter = false
        profile.stream.attemptsMax = 4
        profile.stream.resetsBackoff = false
        profile.stream.resumes = false
        profile.stream.afterEnd = .finishes
        profile.stream.statuses = .retried
        profile.stream.connectTimeout = .minutes(5)
        profile.stream.idleTimeout = .hours(24)
        profile.events.data = .enveloped
        profile.events.result = .collected
        profile.events.errorRetriesMax = 0
        profile.results.usesInlineBooks = false
        profile.results.isFallback = false
        profile.cleanup.isMadeAfterFailure = false
        profile.cleanup.requestsMax = 1
        profile.requestTimeout = .seconds(10)
        return profile
    }

    /// The numbers of Docs/apps.md sections 4.2 to 4.6 that are not defects.
    private static var head: ClientProfile {
        var profile = Self.base("swiftwing-head")
        profile.upload.isRepeated = false
        profile.stream.connectTimeout = .seconds(300)
        profile.stream.idleTimeout = .seconds(300)
        profile.backoff = BackoffPolicy(base: .seconds(2), cap: .seconds(4))
        profile.events.result = .understood
        profile.events.failure = .continues
        profile.results.needsAddress = true
        profile.results.rejectsUnknownStatus = true
        profile.waits.isSetAnew = true
        // Docs/apps.md section 4.10.
        profile.review.storage = .memory
        profile.review.approvalOfAll = .unchecked
        return profile
    }

    private static func base(_ name: String) -> ClientProfile {
        var profile = ClientProfile.contract
        profile.name = name
        // No client that ships does it.
        if name != ClientProfile.contract.name { profile.token.refreshAfter = nil }
        return profile
    }
}
