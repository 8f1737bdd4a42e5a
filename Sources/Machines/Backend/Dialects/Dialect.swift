internal import SimBase
package import Talaria

/// The form of what a backend sends, as values (Docs/design.md section 6). The defaults are those of the contract, S0
/// (Docs/contract.md section 1 and section 2).
///
/// Times, limits and the form of links are settings of `BackendConfiguration`, whose presets give each dialect its own.
package struct Dialect: Hashable, Sendable {
    package var name = "contract"
    var upload = UploadForm()
    /// Whether requests for a job need its token, and streams the device id (Docs/apps.md section 6.1).
    package var hasAuthorization = true
    var course = JobCourse.contract
    /// The stream whose events every job has; nil if they are made up.
    package internal(set) var capture: Capture?
    /// The status of a job before its first photo (C33).
    var firstStatus = JobStatus.initialized
    var events = EventForms()
    var completed = CompletedForm.contract(type: EventKind.completed.rawValue)
    /// The terminal event that follows a `completed` event; nil for none (C40).
    var secondTerminal: SecondTerminal?
    /// The name of the part of an upload that is a photo.
    package var photoPart: String { self.upload.part }

    /// Whether uploads and requests for results are answered in the form of the contract.
    package var answersAsContract: Bool { self.upload == UploadForm() && self.results == ResultsForm() }
    /// Whether a job that completes says so once.
    package var completesOnce: Bool { self.secondTerminal == nil }
    var failure = FailureForm.flat
    var degraded = DegradedForm.contract
    var opening = StreamOpening.currentState
    /// A `completed` event that is sent again has no books (Docs/contract.md section 2.2).
    var replaysWithoutBooks = false
    /// Events that can be sent again at most; nil for no limit but the time of the event buffer (C14).
    package var replayedEventsMax: Int?
    /// What a lookup says of a book.
    package var books = Shelf.Lookup.contract
    var results = ResultsForm()
    /// Events name the results by another path (C39). The backend serves both.
    var hasOtherResultsPath = false
    var problems = ProblemForm.contract
    var unknownStream = UnknownStream.notFound
    /// The `retry:` of streams where the configuration has none.
    var retryField: Interval?
    /// Whether a DELETE `/cleanup` lets a running job and its open streams go on. The job is gone for new requests in any
    /// case.
    package var cleanupLeavesStreams = false
    /// Pages of any site may read an event stream: the header `Access-Control-Allow-Origin: *`.
    var opensStreamsToPages = false
    /// The data of the events of v2.
    var v2Data = V2Data.plain
    /// A stream looks for changes of its job, and brings the last one (Docs/contract.md section 2.5).
    var isPolled = false

    /// The data of events of v2 (Docs/contract.md section 3.3).
    enum V2Data: Hashable, Sendable {
        case plain
        /// `photoscan.…`
        case photoscan
        /// `enrichment.…`
        case enrichment
    }

    /// The beginning of an event stream.
    enum StreamOpening: Hashable, Sendable {
        /// The last event; with a known `Last-Event-ID`, what follows it.
        case currentState
        /// An event with the state of the job, which is not in a log, and then the buffered events. The
        /// number of a `Last-Event-ID` is read as a time: later events follow, and the state is left out if
        /// that time is not longer ago than this (Docs/contract.md section 2.2).
        case snapshot(unlessWithin: Interval)
    }

    /// The response to the request for the stream of an unknown job.
    enum UnknownStream: Hashable, Sendable {
        case notFound
        /// 200 and an event stream of one `error` event (Docs/contract.md section 2.6).
        case errorEvent
    }

    /// The end of a job that follows its end.
    struct SecondTerminal: Hashable, Sendable {
        var after: Interval
        /// The last part of its id.
        var idSuffix: String
        var form: CompletedForm
    }
}
