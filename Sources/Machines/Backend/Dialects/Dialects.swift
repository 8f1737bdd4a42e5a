internal import Faults
internal import SimBase
internal import Talaria

// The backends that a scenario may name: a dialect with the settings that its source has (Docs/contract.md section 7).

extension BackendConfiguration {
    /// The backend of each dialect with its settings. The first is the contract's.
    package static let presets: [BackendConfiguration] = [.contract, .live]

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
}

extension Dialect {
    /// The names of the events on the wire that the contract does not have.
    package var otherEvents: Set<String> {
        let forms = self.events
        let names =
            [forms.completed, forms.error] + (self.course.hasResults ? [EventKind.result.rawValue] : [])
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
}

extension JobCourse {
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
                result: .nested(.identity)),
        ])
}
