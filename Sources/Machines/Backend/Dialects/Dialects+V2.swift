internal import Faults
internal import SimBase
internal import Talaria

extension Dialect {
    /// A scan of v2 (Docs/contract.md sections 3.1 to 3.3). Where the documents disagree, the winner of section 7.
    static let bookshelfScan: Dialect = {
        var dialect = Dialect()
        dialect.name = "v2"
        dialect.upload.part = "photos"
        dialect.upload.isEnveloped = true
        dialect.upload.status = .processing
        dialect.course = .bookshelfScan
        dialect.events.progress = V2EventName.processing
        dialect.events.error = V2EventName.failed
        dialect.events.terminalSuffix = V2EventName.terminalSuffix
        dialect.events.hasCommentPings = true
        dialect.completed = .pipeline("ai_scan")
        dialect.failure = .nestedWithProgress
        dialect.results.v2 = V2BookForm()
        dialect.problems = .v2
        dialect.retryField = APIVersion.v2.retryField
        return dialect
    }()

    /// An enrichment of v2.
    static let batchEnrichment: Dialect = {
        var dialect = Self.bookshelfScan
        dialect.course = .batchEnrichment
        dialect.completed = .pipeline("batch_enrichment")
        return dialect
    }()

    /// An import of v2.
    static let csvImport: Dialect = {
        var dialect = Self.bookshelfScan
        dialect.upload.part = ImportLimits.part
        dialect.course = .csvImport
        dialect.completed = .pipeline("csv_import")
        return dialect
    }()
}

/// The forms of the jobs of v2, by journey.
struct V2Dialects: Sendable {
    let bookshelfScan: Dialect
    let batchEnrichment: Dialect
    let csvImport: Dialect

    init(_ rules: V2Rules) {
        self.bookshelfScan = Self.dialect(.bookshelfScan, rules, dotted: .photoscan)
        self.batchEnrichment = Self.dialect(.batchEnrichment, rules, dotted: .enrichment)
        // No document has dotted names for imports.
        self.csvImport = Self.dialect(.csvImport, rules, dotted: .plain)
    }

    private static func dialect(_ base: Dialect, _ rules: V2Rules, dotted: Dialect.V2Data) -> Dialect {
        var dialect = base
        dialect.upload.v2Tokens = rules.tokens
        dialect.upload.webSocketURL = rules.webSocketURL
        dialect.results.v2 = rules.bookForm
        dialect.isPolled = rules.progress == .poll
        if rules.eventNames == .dotted, dotted != .plain { dialect.use(dotted) }
        return dialect
    }
}

extension Dialect {
    /// Names and data of events become those of SSEClient in books-v3 (Docs/contract.md section 3.3). There is none for the
    /// beginning of a job: it is progress.
    fileprivate mutating func use(_ data: V2Data) {
        self.v2Data = data
        let names: DottedEventName.Subject
        switch data {
        case .plain: return
        case .photoscan:
            names = .photoscan
            self.completed = .photoscan
        case .enrichment:
            names = .enrichment
            self.completed = .enrichment
        }
        self.events.progress = names.progress
        self.events.completed = names.completed
        self.events.error = names.failed
        for index in self.course.stages.indices {
            self.course.stages[index].form?.name = names.progress
        }
    }
}

extension JobCourse {
    private static let initialized = EventForm(
        name: V2EventName.initialized, idSuffix: V2EventName.initialSuffix, isEnveloped: false)

    /// The first event is named by the state of the job; then there is one for each photo and each book.
    static let bookshelfScan = JobCourse(
        length: 1_000,
        stages: [
            Stage(
                to: 0, progressTo: 0, status: JobStatus.initialized.rawValue, message: .starting,
                counts: .photos,
                form: Self.initialized),
            Stage(
                to: 20, progressTo: 100, status: JobStatus.processing.rawValue, message: .processing,
                phase: .analyzing, counts: .photos),
            Stage(
                count: .photos, from: 20, to: 600, progressFrom: 100, progressTo: 500,
                status: JobStatus.processing.rawValue, message: .processing, phase: .identifying,
                counts: .photos),
            Stage(
                count: .books, from: 600, to: 980, progressFrom: 500, progressTo: 950,
                status: JobStatus.processing.rawValue, message: .enriched, phase: .enriching,
                counts: .books),
        ])

    /// The first event is named by the state of the job; then there is one for each book.
    static let batchEnrichment = JobCourse(
        length: 1_000,
        stages: [
            Stage(
                to: 0, progressTo: 0, status: JobStatus.initialized.rawValue, message: .enriching,
                counts: .books,
                form: Self.initialized),
            Stage(
                count: .books, from: 20, to: 980, progressFrom: 0, progressTo: 950,
                status: JobStatus.processing.rawValue, message: .enriched, phase: .enriching,
                counts: .books),
        ])

    /// The first event is named by the state of the job; then there is one for some rows each.
    static let csvImport = JobCourse(
        length: 1_000,
        stages: [
            Stage(
                to: 0, progressTo: 0, status: JobStatus.initialized.rawValue, message: .text("Importing..."),
                counts: .rows, form: Self.initialized),
            Stage(
                count: .ticks, to: 1_000, progressTo: 1_000, status: JobStatus.processing.rawValue,
                message: .text("Importing..."), phase: .enriching, counts: .rows),
        ], counted: .rows)
}
