package import SimBase
package import Talaria
package import Wire

/// A request of the phone that is in the driver's hands; unique per phone process.
package struct RequestID: Hashable, Sendable {
    @usableFromInline package let raw: UInt64
    package init(_ raw: UInt64) { self.raw = raw }
    @inlinable package static func == (left: RequestID, right: RequestID) -> Bool { left.raw == right.raw }
}

/// The index of a photo in the run's corpus.
package struct PhotoReference: Hashable, Sendable {
    package let raw: Int
    package init(_ raw: Int) { self.raw = raw }
}

/// An event for an app (Docs/style.md rule 2). The phone sends the events of the app's lifecycle; the driver
/// sends the outcome of a request, a photo or a wake-up, as `PhoneEvent.app`.
package enum AppEvent: Sendable {
    /// The app's process started, for the first time or again: with everything that its durable store holds.
    case launched(restored: [DurableScan], review: DurableReview = DurableReview(), pathAvailable: Bool)
    /// The shutter. `scheduled` is when the load model wanted it.
    case captured(scan: ScanNumber, photo: PhotoReference, scheduled: Instant)
    /// `took`: nil when the photo had been prepared for an earlier scan. `file`: what a library file
    /// contains. `barcode`, `reading`: what is scanned instead of a photo.
    case photoPrepared(
        scan: ScanNumber, bytes: Int, took: Interval?, file: LibraryContent? = nil, barcode: String? = nil,
        reading: BookReading? = nil)
    /// The photo cannot be used; shown to the user.
    case photoRejected(scan: ScanNumber, reason: String)
    case pathLost
    case pathReturned
    /// The network changed under the phone: what was under way on the old path is lost without a close. There
    /// is a new path at once, or `.pathReturned` reports it.
    case pathChanged(isAvailable: Bool)
    /// The app goes to the background, or the run ends: clean up what runs, within `AppLimits.backgroundTime`; put
    /// unfinished scans back into the durable queue; start nothing.
    case suspended
    /// The app is in the foreground again.
    case resumed
    /// The wall clock was set to run this far ahead of the true time.
    case clockSet(ahead: Interval)
    /// The head of the answer. A 1xx never comes here.
    case replyHead(RequestID, ReplyHead)
    /// Bytes of the body, in any split. The buffer is the driver's and is not to be kept.
    case replyBytes(RequestID, ArraySlice<UInt8>)
    /// The body is complete.
    case replyEnded(RequestID)
    case replyFailed(RequestID, TransportFailure)
    /// The time that `nextWake` requested has come, or another; early wake-ups are harmless.
    case woke
    /// Everything up to and including this ticket is durable. A driver that kills a phone hands out the tickets that
    /// are durable first and keeps nothing but the observations of what that causes: a book in the library has been
    /// seen there.
    case stored(WriteID)
    /// There is no room for this write. The driver keeps it and all that follow, and writes them when there
    /// is room; earlier writes become durable.
    case storeFailed(WriteID)
}

/// The head of an answer, as far as a phone looks at it.
package struct ReplyHead: Hashable, Sendable {
    package var status: Int
    /// Lowercase type without parameters, empty when there is none.
    package var contentType: String
    /// The header `Retry-After` as it was sent.
    package var retryAfter: String?
    /// The body has a content coding, which no phone requests: it cannot be read.
    package var isEncoded = false
    /// All fields of a 101, which a handshake is checked against; nil for any other status.
    package var handshake: HeaderFields?

    package init(status: Int, contentType: String, retryAfter: String?) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
    }

    /// Creates a head from header fields as they were sent.
    package init(status: Int, _ headers: HeaderFields) {
        self.init(
            status: status, contentType: headers["Content-Type"].map { Self.type(of: $0) } ?? "",
            retryAfter: headers[HeaderName.retryAfter])
        let coding = headers["Content-Encoding"]
        self.isEncoded = coding.map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
        if status == 101 { self.handshake = headers }
    }

    private static func type(of contentType: String) -> String {
        // Nearly always as it should be.
        let bytes = Array(contentType.utf8)
        let plain = bytes.prefix {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "/"), UInt8(ascii: "-"): true
            default: false
            }
        }
        if !plain.isEmpty {
            if plain.count == bytes.count { return contentType }
            if bytes[plain.count] == UInt8(ascii: ";") { return String(decoding: plain, as: UTF8.self) }
        }
        let type = contentType.split(separator: ";").first.map { $0.lowercased() } ?? ""
        return String(type.filter { !$0.isWhitespace })
    }
}
