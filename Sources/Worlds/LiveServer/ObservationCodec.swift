package import HTTPServer
package import Observations
package import SimBase
import Talaria

/// What the backend's process tells its parent: an observation, or how far its story goes.
package enum BackendReport: Hashable, Sendable {
    case observation(Observation)
    /// Everything up to this moment has been told.
    case upTo(Instant)
    /// How many event streams were open, at least and at most, since this was last told.
    case streamsOpen(StreamsOpen, at: Instant)
}

/// Reports of backend and faults as bytes, for the pipe between two processes of one build: a frame is its length (4 bytes),
/// its number, a tag and fields, all little-endian.
///
/// What is lost, doubled, moved or changed on its way ends the run by what it is, and never by chance: frames are numbered from
/// 1, every `upTo` carries a digest of all observations so far, taken of their fields before they become bytes, and the last
/// frame says that it is the last.
package struct BackendReportWriter: Sendable {
    /// No frame of ours is longer; a longer one means that the pipe is out of step.
    package static let frameBytesMax = 4_096

    private var number: UInt64 = 0
    private var digest = ObservationDigest()

    package init() {}

    /// Appends one frame. Sightings of phones are not the backend's to tell.
    package mutating func write(_ report: BackendReport, into bytes: inout [UInt8]) {
        self.frame(into: &bytes) { number, digest, writer in
            writer.word(Int64(bitPattern: number))
            switch report {
            case .upTo(let moment):
                writer.byte(0)
                writer.word(moment.nanoseconds)
                writer.word(Int64(bitPattern: digest.value))
            case .streamsOpen(let streams, let moment):
                writer.byte(2)
                writer.word(moment.nanoseconds)
                writer.word(Int64(streams.least))
                writer.word(Int64(streams.most))
            case .observation(let observation):
                digest.absorb(observation)
                writer.byte(1)
                writer.word(observation.at.nanoseconds)
                writer.word(Int64(observation.device.raw))
                writer.word(Int64(observation.scan.raw))
                switch observation.what {
                case .phone, .network: preconditionFailure("a phone's sighting on the backend's pipe")
                case .backend(let sighting): Self.encode(sighting, into: &writer)
                case .fault(let sighting): Self.encode(sighting, into: &writer)
                }
            }
        }
    }

    /// Appends the last frame.
    package mutating func writeEnd(into bytes: inout [UInt8]) {
        self.frame(into: &bytes) { number, digest, writer in
            writer.word(Int64(bitPattern: number))
            writer.byte(3)
            writer.word(Int64(bitPattern: digest.value))
        }
    }

    private mutating func frame(
        into bytes: inout [UInt8],
        _ fill: (UInt64, inout ObservationDigest, inout FieldWriter) -> Void
    ) {
        let start = bytes.count
        bytes.append(contentsOf: [0, 0, 0, 0])
        // Changed places and not copied: a batch is encoded into one buffer.
        var writer = FieldWriter(bytes: [])
        swap(&writer.bytes, &bytes)
        self.number += 1
        fill(self.number, &self.digest, &writer)
        swap(&writer.bytes, &bytes)
        let length = UInt32(bytes.count - start - 4)
        precondition(length <= UInt32(Self.frameBytesMax), "an observation that is longer than any can be")
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
    }

    private static func encode(_ sighting: BackendSighting, into writer: inout FieldWriter) {
        switch sighting {
        case .connected(let connection):
            writer.byte(1)
            writer.word(Int64(bitPattern: connection))
        case .requested(let operation, let attempt, let connection):
            writer.byte(2)
            writer.operation(operation, attempt)
            writer.word(Int64(bitPattern: connection))
        case .answered(let operation, let attempt, let status):
            writer.byte(3)
            writer.operation(operation, attempt)
            writer.word(Int64(status))
        case .accepted(let job, let books):
            writer.byte(4)
            writer.text(job)
            writer.word(Int64(books))
        case .problem(let operation, let attempt, let status, let job, let retryable, let retryAfter):
            writer.byte(5)
            writer.operation(operation, attempt)
            writer.word(Int64(status))
            writer.text(job ?? "")
            writer.byte(retryable ? 1 : 0)
            writer.word(retryAfter?.nanoseconds ?? .min)
        case .streamOpened(let job, let attempt, let after):
            writer.byte(6)
            writer.text(job)
            writer.word(Int64(attempt))
            writer.word(Int64(after ?? -1))
        case .eventWritten(let job, let id, let position, let kind, let replayed):
            writer.byte(7)
            writer.text(job)
            writer.text(id)
            writer.word(Int64(position))
            writer.text(kind.rawValue)
            writer.byte(replayed ? 1 : 0)
        case .pingWritten(let job):
            writer.byte(8)
            writer.text(job)
        case .streamEnded(let job, let attempt, let byPeer):
            writer.byte(9)
            writer.text(job)
            writer.word(Int64(attempt))
            writer.byte(byPeer ? 1 : 0)
        case .finished(let job, let kind, let books):
            writer.byte(10)
            writer.text(job)
            writer.text(kind.rawValue)
            writer.word(Int64(books))
        case .tokenRevoked(let job):
            writer.byte(11)
            writer.text(job)
        case .resultsServed(let job, let books):
            writer.byte(12)
            writer.text(job)
            writer.word(Int64(books))
        case .cleaned(let job, let effective):
            writer.byte(13)
            writer.text(job)
            writer.byte(effective ? 1 : 0)
        case .canceled(let job):
            writer.byte(14)
            writer.text(job)
        case .expired(let job):
            writer.byte(15)
            writer.text(job)
        case .vanished(let job):
            writer.byte(16)
            writer.text(job)
        case .failed(let job, let code, let retryable):
            writer.byte(17)
            writer.text(job)
            writer.text(code)
            writer.byte(retryable ? 1 : 0)
        }
    }

    private static func encode(_ sighting: FaultSighting, into writer: inout FieldWriter) {
        switch sighting {
        case .decided(let fault, let operation, let attempt, let fires):
            writer.byte(32)
            writer.word(Int64(fault))
            writer.operation(operation, attempt)
            writer.byte(fires ? 1 : 0)
        case .fired(let fault, let operation, let attempt):
            writer.byte(33)
            writer.word(Int64(fault))
            writer.operation(operation, attempt)
        case .began(let fault):
            writer.byte(34)
            writer.word(Int64(fault))
        case .ended(let fault):
            writer.byte(35)
            writer.word(Int64(fault))
        }
    }
}

/// Takes frames out of bytes that come in any pieces, and holds them against their numbers.
package struct BackendReportReader: Sendable {
    /// The bytes are not what a `BackendReportWriter` wrote, or not all of it, or not in its order.
    package enum OutOfStep: Error, Hashable, Sendable {
        /// The frame that was due with this number cannot be read.
        case unreadable(due: UInt64)
        case misnumbered(UInt64, due: UInt64)
        /// Observations before this frame are not what the backend saw.
        case changed(before: UInt64)
        /// The pipe ended behind this frame, which was not the last.
        case unfinished(after: UInt64)

        package var text: String {
            switch self {
            case .unreadable(let due): "line \(due) cannot be read"
            case .misnumbered(let number, let due): "line \(number) came where line \(due) was due"
            case .changed(let number):
                "the observations before line \(number) are not those that were sent"
            case .unfinished(let last): "it ends behind line \(last), which is not its last"
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
    ) throws(OutOfStep) {
        self.bytes.append(contentsOf: piece)
        var position = 0
        while self.bytes.count - position >= 4 {
            let due = self.number + 1
            let length = (0..<4).reduce(0) { $0 | Int(self.bytes[position + $1]) << (8 * $1) }
            guard length <= BackendReportWriter.frameBytesMax else { throw .unreadable(due: due) }
            guard self.bytes.count - position >= 4 + length else { break }
            var reader = FieldReader(bytes: self.bytes[(position + 4)..<(position + 4 + length)])
            guard let number = reader.number(), let frame = reader.frame(), reader.isAtEnd, !self.isEnded
            else { throw .unreadable(due: due) }
            guard number == due else { throw .misnumbered(number, due: due) }
            self.number = number
            try self.take(frame, into: &reports)
            position += 4 + length
        }
        self.bytes.removeFirst(position)
    }

    private mutating func take(
        _ frame: FieldReader.Frame, into reports: inout [BackendReport]
    ) throws(OutOfStep) {
        switch frame {
        case .observation(let observation):
            self.digest.absorb(observation)
            reports.append(.observation(observation))
        case .upTo(let moment, let digest):
            guard digest == self.digest.value else { throw .changed(before: self.number) }
            reports.append(.upTo(moment))
        case .streamsOpen(let streams, let moment): reports.append(.streamsOpen(streams, at: moment))
        case .end(let digest):
            guard digest == self.digest.value else { throw .changed(before: self.number) }
            self.isEnded = true
        }
    }

    /// To be called when the pipe has ended.
    package func finish() throws(OutOfStep) {
        guard self.isEnded, self.bytes.isEmpty else { throw .unfinished(after: self.number) }
    }
}

private struct FieldWriter {
    var bytes: [UInt8]

    mutating func byte(_ value: UInt8) { self.bytes.append(value) }

    mutating func word(_ value: Int64) {
        var rest = UInt64(bitPattern: value)
        for _ in 0..<8 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    mutating func operation(_ operation: Operation, _ attempt: UInt32) {
        self.byte(operation.rawValue)
        self.word(Int64(attempt))
    }

    mutating func text(_ text: String) {
        let utf8 = text.utf8.prefix(255)
        self.byte(UInt8(utf8.count))
        self.bytes.append(contentsOf: utf8)
    }
}

private struct FieldReader {
    var bytes: ArraySlice<UInt8>

    var isAtEnd: Bool { self.bytes.isEmpty }

    /// What stands in one frame behind its number.
    enum Frame {
        case observation(Observation)
        case upTo(Instant, digest: UInt64)
        case streamsOpen(StreamsOpen, at: Instant)
        case end(digest: UInt64)
    }

    mutating func number() -> UInt64? { self.word().map { UInt64(bitPattern: $0) } }

    mutating func frame() -> Frame? {
        guard let tag = self.byte(), let first = self.word() else { return nil }
        switch tag {
        case 0: return self.number().map { .upTo(Instant(nanoseconds: first), digest: $0) }
        case 1: return self.observation(at: Instant(nanoseconds: first)).map(Frame.observation)
        case 2:
            guard let least = self.word(), let most = self.word() else { return nil }
            return .streamsOpen(
                StreamsOpen(least: Int(least), most: Int(most)), at: Instant(nanoseconds: first))
        case 3: return .end(digest: UInt64(bitPattern: first))
        default: return nil
        }
    }

    private mutating func observation(at moment: Instant) -> Observation? {
        guard let device = self.count(), let scan = self.count(), let what = self.sighting() else {
            return nil
        }
        return Observation(
            at: moment, device: DeviceNumber(device), scan: ScanNumber(scan), what: what)
    }

    private mutating func sighting() -> Sighting? {
        guard let tag = self.byte() else { return nil }
        return tag < 32 ? self.backend(tag).map(Sighting.backend) : self.fault(tag).map(Sighting.fault)
    }

    private mutating func backend(_ tag: UInt8) -> BackendSighting? {
        switch tag {
        case 1: self.word().map { .connected(connection: UInt64(bitPattern: $0)) }
        case 2:
            self.operation().flatMap { operation, attempt in
                self.word().map {
                    .requested(operation, attempt: attempt, connection: UInt64(bitPattern: $0))
                }
            }
        case 3:
            self.operation().flatMap { operation, attempt in
                self.word().map { .answered(operation, attempt: attempt, status: Int($0)) }
            }
        case 4: self.text().flatMap { job in self.word().map { .accepted(job: job, books: Int($0)) } }
        case 5: self.problem()
        case 6:
            self.text().flatMap { job in
                self.count().flatMap { attempt in
                    self.word().flatMap {
                        $0 < -1
                            ? nil : .streamOpened(job: job, attempt: attempt, after: $0 < 0 ? nil : Int($0))
                    }
                }
            }
        case 7: self.eventWritten()
        case 8: self.text().map { .pingWritten(job: $0) }
        case 9:
            self.text().flatMap { job in
                self.count().flatMap { attempt in
                    self.flag().map { .streamEnded(job: job, attempt: attempt, byPeer: $0) }
                }
            }
        case 10:
            self.text().flatMap { job in
                self.kind().flatMap { kind in
                    self.word().map { .finished(job: job, kind: kind, books: Int($0)) }
                }
            }
        case 11: self.text().map { .tokenRevoked(job: $0) }
        case 12: self.text().flatMap { job in self.word().map { .resultsServed(job: job, books: Int($0)) } }
        case 13: self.text().flatMap { job in self.flag().map { .cleaned(job: job, effective: $0) } }
        case 14: self.text().map { .canceled(job: $0) }
        case 15: self.text().map { .expired(job: $0) }
        case 16: self.text().map { .vanished(job: $0) }
        case 17:
            self.text().flatMap { job in
                self.text().flatMap { code in
                    self.flag().map { .failed(job: job, code: code, retryable: $0) }
                }
            }
        default: nil
        }
    }

    private mutating func problem() -> BackendSighting? {
        guard let (operation, attempt) = self.operation(), let status = self.word(),
            let job = self.text(), let retryable = self.flag(), let wait = self.word()
        else { return nil }
        return .problem(
            operation, attempt: attempt, status: Int(status), job: job.isEmpty ? nil : job,
            retryable: retryable, retryAfter: wait == .min ? nil : Interval(nanoseconds: wait))
    }

    private mutating func eventWritten() -> BackendSighting? {
        guard let job = self.text(), let id = self.text(), let position = self.word(), let kind = self.kind(),
            let replayed = self.flag()
        else { return nil }
        return .eventWritten(job: job, id: id, position: Int(position), kind: kind, replayed: replayed)
    }

    private mutating func fault(_ tag: UInt8) -> FaultSighting? {
        guard let fault = self.word().map(Int.init) else { return nil }
        switch tag {
        case 32:
            return self.operation().flatMap { operation, attempt in
                self.flag().map { .decided(fault: fault, operation, attempt: attempt, fires: $0) }
            }
        case 33: return self.operation().map { .fired(fault: fault, $0, attempt: $1) }
        case 34: return .began(fault: fault)
        case 35: return .ended(fault: fault)
        default: return nil
        }
    }

    private mutating func byte() -> UInt8? { self.bytes.popFirst() }

    private mutating func word() -> Int64? {
        guard self.bytes.count >= 8 else { return nil }
        var value: UInt64 = 0
        for byte in self.bytes.prefix(8).reversed() { value = value << 8 | UInt64(byte) }
        self.bytes.removeFirst(8)
        return Int64(bitPattern: value)
    }

    /// A word that was 32 bits wide when it was written.
    private mutating func count() -> UInt32? { self.word().flatMap { UInt32(exactly: $0) } }

    private mutating func flag() -> Bool? {
        switch self.byte() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    private mutating func operation() -> (Operation, UInt32)? {
        guard let operation = self.byte().flatMap(Operation.init), let attempt = self.count() else {
            return nil
        }
        return (operation, attempt)
    }

    private mutating func text() -> String? {
        guard let length = self.byte(), self.bytes.count >= Int(length) else { return nil }
        defer { self.bytes.removeFirst(Int(length)) }
        return String(validating: self.bytes.prefix(Int(length)), as: UTF8.self)
    }

    private mutating func kind() -> EventKind? { self.text().flatMap { EventKind(rawValue: $0) } }
}
