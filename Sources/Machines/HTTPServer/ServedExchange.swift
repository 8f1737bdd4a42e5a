import Faults
import OriginServer
import SimBase
import Wire

/// One request on a connection and its outcome (Docs/machines/connection.md).
struct ServedExchange: Sendable {
    /// The progress of the multipart body; it is read as it arrives, whatever the link still delays.
    enum Upload: Sendable {
        case none
        case reading(MultipartReader)
        /// A body that is not a form, kept whole.
        case keeping([UInt8])
        case failed(UploadFault)
    }

    /// Whether the backend waits for the body.
    enum BodyWait: Sendable {
        /// It does not, or has the body. Leaves to `waiting`.
        case idle
        /// Leaves to `idle` with the end of the body, or to `overdue`.
        case waiting
        /// The body did not arrive in time: its rest is not waited for.
        case overdue
    }

    /// The state of the response. `pending` leaves to any other state, and these leave to `answered`. `since`
    /// is the time at which the head of the response went to the link.
    enum Answer: Sendable {
        case pending
        /// Decided, and waiting for the rest of the body to come in, as a server behind a CDN would.
        case held(OriginReply)
        case streaming(StreamFraming, since: Instant)
        /// The head is out, and the body follows as the upstream sends it.
        case passing(isChunked: Bool, keepsAlive: Bool, since: Instant)
        case answered(since: Instant)

        var since: Instant? {
            switch self {
            case .pending, .held: nil
            case .streaming(_, let since), .passing(_, _, let since), .answered(let since): since
            }
        }
    }

    /// How the pieces of a stream are written.
    enum StreamFraming: Hashable, Sendable {
        /// In chunks, with this end of their lines.
        case chunks(SSELineEnd)
        /// As the body of HTTP/1.0, which ends with the connection.
        case untilClose(SSELineEnd)
        /// Frames of WebSocket, which the origin has written.
        case frames
    }

    let id: ExchangeID
    let head: RequestHead
    let key: ExchangeKey?
    /// Whether a phone of this program asks, by its `traceparent`.
    let isOfOwnPhone: Bool
    var upload: Upload
    /// The last byte of the request has been read; the link may still delay it.
    var isRead = false
    /// The last byte of the request has arrived.
    var isComplete = false
    var bodyWait = BodyWait.idle
    var answer = Answer.pending
    /// Bytes of an answer that is not a stream so far, its head included.
    var replyBytes = 0

    /// The faults that may affect it, in the order of the scenario's list.
    private(set) var faults: [ArmedFault] = []
    var cutters: [StreamCutter] = []
    /// Events of its stream that were sent whole, new ones and replays.
    var eventsPassed = 0
    var requestCut: MessageCut?
    private(set) var replyCuts: [MessageCut] = []
    var slicers: [Slicer] = []
    var up = LinkImpairments()
    var down = LinkImpairments()
    /// The faults that have changed how its bytes pass.
    var acted: [Int] = []
    /// The first fault of the list that has ended it; what comes later in the list does nothing any more.
    var endedBy: Int?

    /// Prepares each fault in every form that its kind can take, since the answer is not known yet. What is sent decides
    /// which form is asked: `cutters` for an event stream, `replyCuts` for any other response, `requestCut` for the request.
    mutating func arm(_ faults: [ArmedFault], roundTrip: Interval) {
        guard !faults.isEmpty else { return }
        self.faults = faults
        self.cutters = faults.compactMap { StreamCutter($0) }
        self.requestCut = faults.lazy.compactMap { MessageCut($0, on: .request) }.first
        self.replyCuts = faults.compactMap { MessageCut($0, on: .reply) }
        self.slicers = faults.compactMap { Slicer($0) }
        self.up = LinkImpairments(faults, way: .up, roundTrip: roundTrip)
        self.down = LinkImpairments(faults, way: .down, roundTrip: roundTrip)
    }

    /// Whether a fault before this one in the list has ended the exchange.
    func isOvertaken(_ fault: Int) -> Bool { self.endedBy.map { $0 < fault } ?? false }

    /// Whether the rest of a refused body is read before the answer, so that the connection can be reused.
    var isWorthDraining: Bool {
        if self.head.expectsContinue { return false }
        if case .overdue = self.bodyWait { return false }
        switch self.head.body {
        case .none, .chunked: return true
        case .length(let length): return length <= HTTPServerLimits.drainBytesMax
        }
    }

    /// Reads a piece of the body, in place.
    mutating func receive(_ piece: ArraySlice<UInt8>) {
        if case .keeping(var body) = self.upload {
            self.upload = .none
            body += piece
            self.upload =
                body.count > HTTPServerLimits.plainBodyBytesMax(self.head.path)
                ? .failed(.tooLarge) : .keeping(body)
            return
        }
        guard case .reading(var reader) = self.upload else { return }
        self.upload = .none  // The reader is changed in place.
        do throws(MultipartError) {
            try reader.receive(piece)
            self.upload = .reading(reader)
        } catch {
            self.upload = .failed(UploadFault(error))
        }
    }

    /// Counts a piece of the body whose content does not matter.
    mutating func skip(_ count: Int) {
        guard case .reading(var reader) = self.upload else { return }
        self.upload = .none
        do throws(MultipartError) {
            try reader.skip(count)
            self.upload = .reading(reader)
        } catch {
            self.upload = .failed(UploadFault(error))
        }
    }

    /// Returns the parts of the body, or its defect.
    mutating func finishUpload() -> Result<[UploadPart], UploadFailure> {
        switch self.upload {
        case .none: return .failure(UploadFailure(fault: .malformed("the body is not multipart/form-data")))
        case .failed(let fault): return .failure(UploadFailure(fault: fault))
        case .keeping(let body):
            // One part without a name.
            return .success([
                UploadPart(
                    name: "", filename: nil, contentType: self.head.headers["Content-Type"],
                    bytes: body.count,
                    prefix: body)
            ])
        case .reading(var reader):
            do throws(MultipartError) {
                return .success(
                    try reader.finish().map {
                        UploadPart(
                            name: $0.name, filename: $0.filename, contentType: $0.contentType,
                            bytes: $0.byteCount,
                            prefix: $0.prefix)
                    })
            } catch {
                return .failure(UploadFailure(fault: UploadFault(error)))
            }
        }
    }
}

struct UploadFailure: Error {
    var fault: UploadFault
}

extension UploadFault {
    init(_ error: MultipartError) {
        self =
            switch error {
            case .partTooLarge: .tooLarge
            case .notFormData: .malformed("the body is not multipart/form-data")
            case .noBoundary: .malformed("the content type names no usable boundary")
            case .malformed(let part, let flaw): .malformed("part \(part + 1) is malformed: \(flaw)")
            case .partHeadTooLong(let part): .malformed("the header of part \(part + 1) is too long")
            case .tooManyParts: .tooManyParts
            case .truncated: .malformed("the body ends before its closing boundary")
            }
    }
}
