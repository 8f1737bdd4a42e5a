package import Faults
import SimBase

/// The faults that a server switches on and off by `POST /_sim/faults`, for those who test an app with it.
package enum FaultsOnDemand {
    private static let prefix = "demand."
    private static let delay = Interval.seconds(1)

    /// What buttons call each of them, by its id.
    static let titles: [(id: String, title: String)] = [
        ("strip-books", "Strip books"), ("degraded", "Degraded"), ("unknown-event", "Unknown event"),
        ("retryable-error", "Retryable error"), ("cut-after-event", "Cut after 1 event"),
        ("delay", "Delay 1 s"),
    ].map { (Self.prefix + $0.0, $0.1) }

    package static let specs: [FaultSpec] = [
        Self.spec("strip-books", .stripBooks(.absent), on: .stream),
        Self.spec("degraded", .degraded(books: .always), on: .stream),
        Self.spec("unknown-event", .unknownEvent(nil), on: .stream, after: .afterEvents(1...1)),
        Self.spec(
            "retryable-error", .retryableError(code: "PROVIDER_TIMEOUT"), on: .stream,
            after: .afterEvents(1...1)),
        Self.spec(
            "cut-after-event", .reset(.betweenEvents, .reply), on: .stream, after: .afterEvents(1...1)),
        Self.spec("delay", .delay(by: Self.delay...Self.delay), on: .link),
    ]

    private static func spec(
        _ name: String, _ kind: FaultKind, on target: FaultTarget, after trigger: FaultTrigger = .atOnce
    ) -> FaultSpec {
        FaultSpec(
            id: Self.prefix + name, kind: kind, target: target, chance: .always, window: .always,
            trigger: trigger, count: .eachAttempt, scope: .everyone)
    }
}
