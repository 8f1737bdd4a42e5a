package import HTTPServer
package import Observations
package import SimBase
import Talaria

/// A report of the backend's process to its parent: an observation, or how far its observations have
/// advanced.
package enum BackendReport: Hashable, Sendable {
    case observation(Observation)
    /// Everything up to this time has been reported. `late`: the delay of the timer that reports it.
    case upTo(Instant, late: Interval)
    /// The end of the report: the most memory that the process has had, in bytes.
    case ended(residentMax: Int64)
    /// The minimum and maximum number of open event streams since the last report.
    case streamsOpen(StreamsOpen, at: Instant)
}

/// Reports of backend and faults as bytes, for the pipe between two processes of one build: a frame is its length (4 bytes),
/// its number, a tag and fields, all little-endian.
///
/// What is lost, doubled, moved or changed on its way ends the run by what it is, and never by chance: frames are numbered from
/// 1, every `upTo` carries a digest of all observations so far, taken of their fields before they become bytes, and the last
/// frame says that it is the last.
package struct BackendReportWriter: Sendable {
    /// The maximum size of our frames; a longer one means that the pipe is out of step.
    package static let frameBytesMax = 4_096

    private var number: UInt64 = 0
    private var digest = ObservationDigest()

    package init() {}

    /// Appends one frame.
    package mutating func write(_ report: BackendReport, into bytes: inout [UInt8]) {
        self.frame(into: &bytes) { number, digest, writer in
            writer.word(Int64(bitPattern: number))
            switch report {
            case .upTo(let moment, let late):
                writer.byte(0)
                writer.word(moment.nanoseconds)
                writer.word(late.nanoseconds)
                writer.word(Int64(bitPattern: digest.value))
            case .ended(let residentMax):
                writer.byte(3)
                writer.word(residentMax)
                writer.word(Int64(bitPattern: digest.value))
            case .streamsOpen(let streams, let moment):
                writer.byte(2)
                writer.word(moment.nanoseconds)
                writer.word(Int64(streams.least))
                writer.word(Int64(streams.most))
            case .observation(let observation):
                digest.absorb(observation)
                writer.byte(1)
                writer.observation(observation)
            }
        }
    }

    private mutating func frame(
        into bytes: inout [UInt8],
        _ fill: (UInt64, inout ObservationDigest, inout ObservationBytesWriter) -> Void
    ) {
        let start = bytes.count
        bytes.append(contentsOf: [0, 0, 0, 0])
        // Swapped and not copied: a batch is encoded into one buffer.
        var writer = ObservationBytesWriter(appendingTo: [])
        swap(&writer.bytes, &bytes)
        self.number += 1
        fill(self.number, &self.digest, &writer)
        swap(&writer.bytes, &bytes)
        let length = UInt32(bytes.count - start - 4)
        precondition(length <= UInt32(Self.frameBytesMax), "an observation that is longer than any can be")
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
    }
}

/// Takes frames out of bytes that come in any pieces, and holds them against their numbers.
package struct BackendReportReader: Sendable {
    /// The bytes are not what a `BackendReportWriter` wrote, or not all of it, or not in its order.
    package enum SequenceError: Error, Hashable, Sendable {
        /// The frame that was due with this number cannot be read.
        case unreadable(due: UInt64)
        case misnumbered(UInt64, due: UInt64)
        /// Observations before this frame are not what the backend saw.
        case changed(before: UInt64)
        /// The pipe ended after this frame, which was not the last.
        case unfinished(after: UInt64)

        package var text: String {
            switch self {
            case .unreadable(let due): "line \(due) cannot be read"
            case .misnumbered(let number, let due): "received line \(number) instead of line \(due)"
            case .changed(let number):
                "the observations before line \(number) differ from those that were sent"
            case .unfinished(let last): "it ends early, after line \(last)"
            }
        }
    }

    private var bytes: [UInt8] = []
    private var number: UInt64 = 0
    private var digest = ObservationDigest()
    private var isEnded = false

    package init() {}

    package mutating func receive(
        _ piece: ArraySlice<UInt8>, into reports: inout [BackendReport]
    ) throws(SequenceError) {
        self.bytes.append(contentsOf: piece)
        var position = 0
        while self.bytes.count - position >= 4 {
            let due = self.number + 1
            let length = (0..<4).reduce(0) { $0 | Int(self.bytes[position + $1]) << (8 * $1) }
            guard length <= BackendReportWriter.frameBytesMax else { throw .unreadable(due: due) }
            guard self.bytes.count - position >= 4 + length else { break }
            var reader = ObservationBytesReader(self.bytes[(position + 4)..<(position + 4 + length)])
            guard !self.isEnded, let number = try? UInt64(bitPattern: reader.word()),
                let frame = try? Frame(from: &reader)
            else { throw .unreadable(due: due) }
            guard number == due else { throw .misnumbered(number, due: due) }
            self.number = number
            try self.take(frame, into: &reports)
            position += 4 + length
        }
        self.bytes.removeFirst(position)
    }

    private mutating func take(
        _ frame: Frame, into reports: inout [BackendReport]
    ) throws(SequenceError) {
        switch frame {
        case .observation(let observation):
            self.digest.absorb(observation)
            reports.append(.observation(observation))
        case .upTo(let moment, let late, let digest):
            guard digest == self.digest.value else { throw .changed(before: self.number) }
            reports.append(.upTo(moment, late: late))
        case .streamsOpen(let streams, let moment): reports.append(.streamsOpen(streams, at: moment))
        case .end(let residentMax, let digest):
            guard digest == self.digest.value else { throw .changed(before: self.number) }
            self.isEnded = true
            reports.append(.ended(residentMax: residentMax))
        }
    }

    /// Checks the end. Called when the pipe has ended.
    package func finish() throws(SequenceError) {
        guard self.isEnded, self.bytes.isEmpty else { throw .unfinished(after: self.number) }
    }
}

/// The content of one frame after its number.
private enum Frame {
    case observation(Observation)
    case upTo(Instant, late: Interval, digest: UInt64)
    case streamsOpen(StreamsOpen, at: Instant)
    case end(residentMax: Int64, digest: UInt64)

    init(from reader: inout ObservationBytesReader) throws(MalformedObservation) {
        switch try reader.byte() {
        case 0:
            self = .upTo(
                Instant(nanoseconds: try reader.word()), late: .nanoseconds(try reader.word()),
                digest: UInt64(bitPattern: try reader.word()))
        case 1: self = .observation(try reader.observation())
        case 2:
            let moment = Instant(nanoseconds: try reader.word())
            let streams = StreamsOpen(least: Int(try reader.word()), most: Int(try reader.word()))
            self = .streamsOpen(streams, at: moment)
        case 3:
            self = .end(
                residentMax: try reader.word(), digest: UInt64(bitPattern: try reader.word()))
        default: throw MalformedObservation()
        }
        guard reader.isAtEnd else { throw MalformedObservation() }
    }
}
