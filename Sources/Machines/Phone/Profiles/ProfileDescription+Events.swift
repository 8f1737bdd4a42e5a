import SimBase

// The values of the events on a stream.

extension ProfileDescription {
    static let events: [ProfileDescription] = [
        ProfileDescription(
            "events.ping", .contract("section 2.1", apps: "section 5, GAP-7"), { $0.events.ping.rawValue }
        ) {
            switch $0.events.ping {
            case .understood: "A `ping` shows that the stream lives (stream.idle-timeout), and nothing else."
            case .fails: "A `ping` is taken for a failure of the job (events.failure)."
            }
        },
        ProfileDescription(
            "events.enrichment-degraded", .contract("section 2.1", apps: "section 5, GAP-6"),
            { $0.events.enrichmentDegraded.rawValue }
        ) {
            switch $0.events.enrichmentDegraded {
            case .understood: "`enrichment_degraded` is shown as a warning. The job goes on."
            case .fails: "`enrichment_degraded` is taken for a failure of the job (events.failure)."
            }
        },
        ProfileDescription(
            "events.unknown", .contract(apps: "sections 4.5 and 5"), { $0.events.unknown.rawValue }
        ) {
            switch $0.events.unknown {
            case .ignored:
                """
                An event is ignored if its data cannot be parsed, or if its name is not `progress`, `completed`, \
                `complete`, `error`, `canceled`, `ping`, `enrichment_degraded`, `segmented` or `book_progress` (for \
                `result` see events.result). The stream and the job go on, and a later Last-Event-ID is that of the event. \
                `canceled` is an `error` event of code `CANCELED` that allows no retry, whatever its data are. Data cannot be parsed if they are no JSON object, or lack what the event is about: `image` and `totalBooks` of \
                `segmented`, `current` and `total` of `book_progress`. Any other member that is missing or of another type is \
                taken for absent, but a `retryable` of another type for true. Two events are not ignored when their data cannot be parsed. After such a \
                `completed`, the results are requested. After such an `error`, the photo is uploaded once more, which \
                counts towards events.error-retries-max.
                """
            case .otherVersionsFail:
                """
                `failed`, `timeout`, `initialized` and `processing` are taken for a failure of the job (events.failure). Other \
                unknown events are ignored.
                """
            case .fails:
                """
                An event is taken for a failure of the job (events.failure) if its data cannot be parsed (they are no JSON \
                object, or lack what the event is about), or if its name is not `progress`, `completed`, `complete`, `error`, `canceled`, `ping`, `enrichment_degraded`, `segmented` \
                or `book_progress` (for `result` see events.result).
                """
            }
        },
        ProfileDescription(
            "events.result", .contract("section 2.1", apps: "section 4.5"), { $0.events.result.rawValue }
        ) {
            switch $0.events.result {
            case .unknown:
                "A `result` event is ignored. The books are those of `completed`, or of the results."
            case .flat:
                """
                The book of a `result` event is shown at once if its fields are at the top level. The books that are kept are \
                those of `completed`, or of the results. A `result` event in any other form, such as one with a nested \
                `book`, is ignored (events.unknown).
                """
            case .understood:
                """
                The book of a `result` event, at the top level or nested under `book`, is shown until the job completes. The \
                books that are kept are those of `completed`, or of the results.
                """
            case .topLevel:
                """
                The book of a `result` event is shown if its fields are at the top level. If it is nested under `book`, as the \
                live backend sends it, the event is taken for a failure of the job (events.failure).
                """
            case .collected:
                """
                Each `result` event is a book of the scan. When the job completes, those of its last stream are all there are; \
                without any, the scan has failed (failed-scans).
                """
            }
        },
        ProfileDescription(
            "events.progress-without-message", .contract(apps: "section 4.5"),
            { $0.events.progressWithoutMessage.rawValue }
        ) {
            switch $0.events.progressWithoutMessage {
            case .understood: "A `progress` event without `message` counts; the text that is shown stays."
            case .fails:
                "A `progress` event without `message` is taken for a failure of the job (events.failure)."
            }
        },
        ProfileDescription("events.failure", .contract(apps: "section 4.5"), { $0.events.failure.rawValue }) {
            guard $0.events.canFail else {
                return """
                    No event but `error` is taken for a failure of the job. An `error` event with `retryable: true` \
                    leads to another upload (events.error-retries-max). Any other `error` event ends the scan: the \
                    user sees its `code`, the scan and its photo leave the durable queue, and the job is deleted. There is \
                    nothing left to retry by hand.
                    """
            }
            return switch $0.events.failure {
            case .final:
                """
                An event that is taken for a failure of the job ends the scan: the user sees an error, and the job is deleted.
                """
            case .continues:
                """
                An event that is taken for a failure of the job is shown as an error, the job is deleted while it runs, and its \
                token is forgotten. The stream stays open: a later `completed` counts only with its books in it, because the \
                results are gone. At HEAD such a scan stays on the screen until the user uploads it again by hand (section \
                4.5). Nobody does so in the simulation, which removes it.
                """
            }
        },
        ProfileDescription(
            "events.overlay", .contract(apps: "section 4.5", design: true), { Self.text($0.events.overlay) }
        ) {
            $0.events.overlay == .zero
                ? "A warning or an error does not delay anything: the next events are read while it is shown."
                : """
                While a warning or an error is shown, \(Self.prose($0.events.overlay)) for each, no event of the stream is read, \
                and the slot is held.
                """
        },
        ProfileDescription(
            "events.error", .contract("section 2.1", apps: "section 5, GAP-4"), { $0.events.error.rawValue }
        ) {
            switch $0.events.error {
            case .complete:
                """
                An `error` event with `retryable: true` leads to another upload (events.error-retries-max). Any other is final: \
                the user sees its `code`, and the job is deleted.
                """
            case .messageOnly:
                "Of an `error` event only `message` is read, so that every one is final and has no code."
            case .problem:
                """
                An `error` event is read as a problem document, which it is not: it cannot be read, and the photo is uploaded \
                once more.
                """
            }
        },
        ProfileDescription(
            "events.error-retries-max", .contract(apps: "section 5"),
            { Self.text(limit: $0.events.errorRetriesMax) }
        ) {
            guard let retries = $0.events.errorRetriesMax else {
                return """
                    After an `error` event with `retryable: true` the photo is uploaded again \
                    \(Self.prose($0.events.errorRetryDelay)) later, without limit.
                    """
            }
            return retries == 0
                ? "After an `error` event with `retryable: true` the scan waits until the path returns."
                : """
                After an `error` event with `retryable: true`, or one that cannot be read, the job is deleted and the \
                photo is uploaded again \(Self.prose($0.events.errorRetryDelay)) later, \(Self.times(retries)) per \
                scan. After the next such event the scan waits in the queue until the path returns or the app is \
                opened. Then it is uploaded again. From then on every such event leads back to this wait, without an \
                automatic retry.
                """
        },
        ProfileDescription(
            "events.error-retry-delay", .contract(apps: "section 5"), { Self.text($0.events.errorRetryDelay) }
        ) {
            "That upload is made \(Self.prose($0.events.errorRetryDelay)) after the `error` event."
        },
        ProfileDescription(
            "events.statuses", .contract("section 1.6", apps: "section 5, GAP-9"),
            { $0.events.statuses.rawValue }
        ) {
            switch $0.events.statuses {
            case .separate: "Job status, scan stage and enrichment status are three enums."
            case .opaque: "Job status, scan stage and enrichment status are texts, of which none is known."
            case .jobStatus:
                "All three are read as a job status: an event or a list of books with another value cannot be read."
            }
        },
        ProfileDescription("events.order", .contract("sections 2.2 and 2.7"), { $0.events.order.rawValue }) {
            switch $0.events.order {
            case .byID: "Events are ordered, and known again, by their ids."
            case .byTimestamp:
                "An event with a `timestamp` before the opening of its connection is dropped as a repetition."
            }
        },
        ProfileDescription(
            "events.document", .contract(apps: "section 5, GAP-13"), { $0.events.document.rawValue }
        ) {
            "The client was written from version \($0.events.document.rawValue) of the OpenAPI document."
        },
        ProfileDescription("events.data", .contract("section 2.1"), { $0.events.data.rawValue }) {
            switch $0.events.data {
            case .plain: "The name of an event is in its `event` line, and its members are in `data`."
            case .enveloped:
                "Name and members of an event are in its data, `{type, data}`; `event` is ignored."
            }
        },
        ProfileDescription("events.names", .contract("section 3.3"), { $0.events.names.rawValue }) {
            switch $0.events.names {
            case .plain: "Events have the names of the contract."
            case .dotted:
                """
                Events have dotted names: `photoscan` or `enrichment`, and `progress`, `completed` or `failed`. Every other event \
                is unknown (events.unknown), those of the contract included.
                """
            }
        },
    ]
}

extension EventPolicy {
    /// Whether an event other than `error` may count as a failure of the job.
    package var canFail: Bool {
        self.ping == .fails || self.enrichmentDegraded == .fails || self.progressWithoutMessage == .fails
            || self.unknown != .ignored || self.result == .topLevel || self.failure == .continues
    }
}
