internal import Faults
internal import SimBase
internal import Talaria

// The backends that a scenario may name: a dialect with the settings that its source has (Docs/as-built.md section 7).

extension BackendConfiguration {
    /// The backend of each dialect with its settings. The first is the contract's.
    package static let presets: [BackendConfiguration] = [
        .contract, .live, .bendv3, .legacyOpenAPI, .wingtip,
    ]

    /// Nil for a name that no dialect has.
    package static func preset(_ name: String) -> BackendConfiguration? {
        self.presets.first { $0.dialect.name == name }
    }

    /// The live backend, as it was recorded in February 2026 (Docs/contract.md section 2.4).
    static let live: BackendConfiguration = {
        var backend = BackendConfiguration.contract
        backend.dialect = .live
        backend.urlForm = .absoluteToHost
        backend.retryField = .seconds(5)
        backend.rateLimit = Quota(requests: 100, window: .hours(1))
        return backend
    }()

    /// The backend that became Talaria (Docs/contract.md section 2.6). Its quota is per IP address; here it is per device.
    static let bendv3: BackendConfiguration = {
        var backend = BackendConfiguration.contract
        backend.dialect = .bendv3
        backend.strictAccept = true
        backend.retryField = .seconds(5)
        backend.eventBuffer = .hours(24)
        backend.rateLimit = Quota(requests: 5, window: .minutes(1))
        // Docs/contract.md section 2.5. Of v2, B3 gives the lifetime of imports alone.
        backend.v2.progress = .poll
        backend.v2.resultsLifetime = .hours(1)
        backend.v2.breaker = CircuitBreakerRules()
        return backend
    }()

    /// OAS (Docs/as-built.md section 7).
    static let legacyOpenAPI: BackendConfiguration = {
        var backend = BackendConfiguration.contract
        backend.dialect = .legacyOpenAPI
        backend.urlForm = .absoluteToHost
        return backend
    }()

    /// The contract's backend, whose jobs have the events of a captured stream.
    package static func replaying(_ capture: Capture) -> BackendConfiguration {
        var backend = BackendConfiguration.contract
        backend.dialect = .replaying(capture)
        backend.retryField = capture.retry
        backend.jobTime = capture.jobTime...capture.jobTime
        return backend
    }

    /// What the wingtip app needs (Docs/apps.md section 6.1).
    static let wingtip: BackendConfiguration = {
        var backend = BackendConfiguration.contract
        backend.dialect = .wingtip
        return backend
    }()
}

extension Dialect {
    /// The names of the events on the wire that the contract does not have.
    package var otherEvents: Set<String> {
        let forms = self.events
        let names =
            [forms.completed, forms.error] + (self.course.hasResults ? [EventKind.result.rawValue] : [])
            + (self.capture?.events.map(\.form.name) ?? [])
        return Set(names.filter { EventKind(eventName: $0).map { $0 == .result } ?? true })
    }

    /// Whether no two events of a job have the same milliseconds in their ids, and they never go back.
    package var hasIncreasingIDs: Bool { self.events.hasIncreasingIDs }

    /// Docs/contract.md section 2.4, with what SW-live says of section 1.2 and section 2.2.
    static let live: Dialect = {
        var dialect = Dialect()
        dialect.name = "live-2026-02"
        // The defect of January: no 400.
        dialect.upload.withoutPhotos = .internalError
        dialect.course = .live
        dialect.firstStatus = .processing
        dialect.events.hasIncreasingIDs = false
        dialect.completed = .stateful(
            progress: 1, .snakeCase(isWhole: true), .withISBN, hasResultsURL: false)
        dialect.secondTerminal = SecondTerminal(
            after: .milliseconds(9_966), idSuffix: "final", form: .address(.snakeCase(isWhole: false)))
        dialect.opening = .snapshot(unlessWithin: .seconds(10))
        dialect.hasOtherResultsPath = true
        dialect.cleanupLeavesStreams = true
        dialect.books = .spines
        return dialect
    }()

    /// Docs/contract.md section 2.6, with what B3 says of section 1.2, section 2.1 and section 2.2.
    static let bendv3: Dialect = {
        var dialect = Dialect()
        dialect.name = "bendv3"
        dialect.upload.tokenKey = "token"
        dialect.upload.streamKey = "streamUrl"
        dialect.upload.status = .queued
        dialect.course = .bendv3
        dialect.firstStatus = .queued
        dialect.events.error = "failed"
        dialect.events.hasIncreasingIDs = false
        dialect.completed = .stateful(progress: 100, .camelCase, .contract, hasResultsURL: true)
        // The longest pause of its poll loop, after which a stream sees the end of the job by itself.
        dialect.secondTerminal = SecondTerminal(
            after: .seconds(3), idSuffix: "final", form: .address(.camelCase))
        dialect.failure = .nested
        dialect.opening = .snapshot(unlessWithin: .seconds(10))
        dialect.replaysWithoutBooks = true
        dialect.replayedEventsMax = 100
        dialect.problems = .nestedTokenExpired
        dialect.unknownStream = .errorEvent
        dialect.opensStreamsToPages = true
        return dialect
    }()

    /// What differs from S0 in OAS (Docs/as-built.md section 7: C1, C3, C5, C6, C8, C10, C11).
    static let legacyOpenAPI: Dialect = {
        var dialect = Dialect()
        dialect.name = "legacy-openapi"
        dialect.course = .openAPI
        dialect.events.completed = "complete"
        dialect.events.hasEmptyPings = true
        dialect.completed = .contract(type: "complete")
        dialect.degraded = .openAPI
        dialect.books = .openAPI
        dialect.results = ResultsForm(key: "books", hasProcessingTime: true, isLiteShort: true)
        dialect.problems = .retryAfterInSeconds
        return dialect
    }()

    /// Ids are those of the capture: times, several of which may be equal.
    static func replaying(_ capture: Capture) -> Dialect {
        var dialect = Dialect()
        dialect.name = "replay"
        dialect.capture = capture
        dialect.course = JobCourse(
            length: capture.jobTime.wholeMilliseconds,
            stages: capture.events.map { event in
                JobCourse.Stage(
                    to: event.offset, progressTo: 0, status: "", message: .text(""), counts: .books,
                    captured: event)
            })
        dialect.events.completed = capture.completed.form.name
        dialect.events.hasIncreasingIDs = false
        dialect.completed = .captured(capture.completed.data)
        dialect.secondTerminal = capture.again.map { again in
            SecondTerminal(
                after: .milliseconds(again.offset - capture.completed.offset), idSuffix: again.form.idSuffix,
                form: .captured(again.data))
        }
        dialect.books = .captured(capture.books)
        return dialect
    }

    /// Docs/apps.md section 6.1: parts `image`, flat answers, no token, and data in an envelope.
    static let wingtip: Dialect = {
        var dialect = Dialect()
        dialect.name = "wingtip"
        dialect.upload = UploadForm(
            part: "image", tokenKey: nil, streamKey: "streamUrl", hasStatusURL: false, isFlat: true)
        dialect.hasAuthorization = false
        dialect.course = .wingtip
        dialect.events.completed = "complete"
        dialect.events.isEnveloped = true
        dialect.completed = .count
        return dialect
    }()
}

extension JobCourse {
    /// B3's messages and its curve (Docs/contract.md section 2.1 and section 2.6), at the times of the contract's course.
    static let bendv3 = JobCourse(
        length: 1_000,
        stages: [
            Stage(
                to: 0, progressTo: 100, status: JobStatus.processing.rawValue, message: .starting,
                counts: .photos),
            Stage(
                count: .photos, from: 0, to: 500, progressFrom: 100, progressTo: 500,
                status: JobStatus.processing.rawValue, message: .processing, phase: .analyzing,
                counts: .photos),
            Stage(
                to: 600, progressTo: 500, status: JobStatus.processing.rawValue, message: .enriching,
                phase: .identifying, counts: .books),
            Stage(
                count: .books, from: 600, to: 980, progressFrom: 500, progressTo: 950,
                status: JobStatus.processing.rawValue, message: .enrichingBook, phase: .enriching,
                counts: .books),
        ])

    /// The messages of OAS, at the times of the contract's course.
    static let openAPI = JobCourse(
        length: 1_000,
        stages: [
            Stage(
                to: 20, progressTo: 100, status: ScanStage.analyzingImage.rawValue,
                message: .text("Looking..."), phase: .analyzing, counts: .photos),
            Stage(
                to: 600, progressTo: 500, status: ScanStage.identifyingBooks.rawValue,
                message: .text("Reading..."), phase: .identifying, counts: .books),
            Stage(
                count: .books, from: 600, to: 980, progressFrom: 500, progressTo: 950,
                status: ScanStage.enrichingMetadata.rawValue, message: .text("Enriching..."),
                phase: .enriching, counts: .books),
            Stage(
                to: 990, progressTo: 990, status: ScanStage.complete.rawValue,
                message: .text("Finalizing..."), counts: .books),
        ])

    /// The contract's course, with a `result` event for each book.
    static let wingtip: JobCourse = {
        var course = JobCourse.contract
        for index in course.stages.indices where course.stages[index].count == .books {
            course.stages[index].events = [.result(.flat(.contract))]
        }
        return course
    }()

    /// The rows of the transcript, in milliseconds from its first event to the `completed` event.
    static let live = JobCourse(
        length: 11_591,
        stages: [
            Stage(
                to: 0, progressTo: 50, status: ScanStage.analyzingImage.rawValue,
                message: .text(ScanStage.analyzingImage.rawValue), counts: .photos),
            Stage(
                to: 5_249, progressTo: 100, status: ScanStage.analyzingImage.rawValue,
                message: .text(ScanStage.analyzingImage.rawValue), phase: .analyzing, counts: .photos),
            Stage(
                to: 5_328, progressTo: 500, status: ScanStage.analyzingImage.rawValue, message: .processing,
                counts: .photos),
            Stage(
                to: 11_344, progressTo: 500, status: ScanStage.identifyingBooks.rawValue,
                message: .identified, phase: .identifying, counts: .books, tellsBooks: true),
            Stage(
                to: 11_421, progressTo: 550, status: ScanStage.enrichingMetadata.rawValue,
                message: .text(ScanStage.enrichingMetadata.rawValue), phase: .enriching, counts: .books),
            Stage(
                count: .books, from: 11_421, to: 11_421, progressFrom: 550, progressTo: 950,
                status: ScanStage.enrichingMetadata.rawValue, message: .enriched, counts: .books,
                events: [.result(.nested(.identity))]),
        ])
}
