package import Observations
package import SimBase
package import Talaria

/// An effect that the app requests.
package enum AppEffect: Hashable, Sendable {
    case preparePhoto(ScanNumber, PhotoReference)
    /// Reads the spine of a book on a photo, which is not uploaded. Answered with `photoPrepared` and its reading.
    case readSpine(ScanNumber, PhotoReference)
    /// The prepared photo is not needed any more.
    case releasePhoto(ScanNumber)
    case send(AppRequest)
    /// Sends bytes on the connection of a request whose answer switched to another protocol (RFC 9110 section 15.2.2).
    case transmit(RequestID, [UInt8])
    /// Gives up a request without a further event. Its connection is closed or, without a path, left without
    /// a close.
    case abort(RequestID)
    /// An append to the phone's journal. The phone answers the ticket with `.stored` once the change and everything before
    /// it is durable; the driver has no use for it.
    case store(StoreChange, WriteID)
    case observe(Observation)
}

/// A request to be made.
package struct AppRequest: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        case none
        /// Multipart with so many parts `photos[]`, the prepared photos of this scan.
        case photos(ScanNumber, count: Int)
        /// The document of a journey without photos, of this scan.
        case document(ScanNumber, Journey.Payload)
        /// A look-up of one barcode, of this scan.
        case lookup(ScanNumber, EnrichmentRequest)
        /// A look-up of one book by its text, of this scan.
        case text(ScanNumber, TextRequest)
        case token(TokenRefresh)
    }

    package var id: RequestID
    package var operation: Operation
    package var scan: ScanNumber
    package var attempt: UInt32
    package var method: String
    /// A path with its query on the target's base, or an absolute URL where the server sent one.
    package var target: String
    package var headers: [HeaderField]
    package var body: Body
}

/// A position in the order of a phone's durable writes.
package struct WriteID: Hashable, Comparable, Sendable {
    package let raw: UInt64
    package init(_ raw: UInt64) { self.raw = raw }
    package static func < (left: WriteID, right: WriteID) -> Bool { left.raw < right.raw }
}

/// One durable write. The driver appends it to the phone's journal, in order. What is large is kept aside: most writes only
/// move an id, and each is passed on many times.
package enum StoreChange: Hashable, Sendable {
    /// Stores or replaces the record of a scan.
    indirect case put(DurableScan)
    /// Moves the last event id of a scan's job, without waiting for the disk.
    case lastEventID(ScanNumber, String)
    /// Adds a book to the library and to the record's `booksApplied`, in one write (`DurableState`).
    indirect case book(ResultKey, Book)
    /// Stores a book that waits for its person or, if it waits already, replaces it. The record's `booksApplied` has it from
    /// then on.
    indirect case pending(ReviewEntry)
    /// A book does not wait any more: it leaves the review, and one that was approved enters the library, in one write.
    case reviewed(ResultKey, ReviewOutcome)
    /// The scan is settled: its record goes, its number stays used.
    case settled(ScanNumber, SettledOutcome)
}

/// The way in which a scan was settled.
package enum SettledOutcome: Hashable, Sendable {
    case completed
    case refused(code: String)
    case canceled
}
