import Ledger
package import Observations
package import RunMetrics
import SimBase
import Talaria

/// The observations of one phone, read from the log.
package struct PhoneTimeline: Equatable, Sendable {
    /// The limit of observations for one phone.
    package static let observationsMax = 2_000

    package let mark: PhoneSummary
    package private(set) var observations: [Observation] = []
    /// Observations beyond `observationsMax`.
    package private(set) var leftOut = 0

    package init(mark: PhoneSummary, leftOut: Int = 0) {
        self.mark = mark
        self.leftOut = leftOut
    }

    /// Adds the phone's next observation.
    mutating func add(_ observation: Observation) { self.observations.append(observation) }

    /// The number of lines of a log, and of incomplete ones.
    package struct LogSize: Equatable {
        var lines = 0
        var skipped = 0
    }

    /// Reads the timelines of these phones in one pass over a log.
    @discardableResult package static func read(
        _ timelines: inout [PhoneTimeline], folder: String, faults: [String]
    )
        -> LogSize
    {
        var size = LogSize()
        guard var lines = LineReader(path: RunDirectory.joined(folder, RunDirectory.FileName.events))
        else { return size }
        let reader = ObservationReader(faults: faults)
        while let line = lines.next() {
            guard line.last == UInt8(ascii: "}"), lines.isWhole, let device = Self.device(line) else {
                size.skipped += 1
                continue
            }
            size.lines += 1
            guard let index = timelines.firstIndex(where: { $0.mark.device.raw == device }),
                let observation = reader.observation(line)
            else { continue }
            if timelines[index].observations.count < Self.observationsMax {
                timelines[index].observations.append(observation)
            } else {
                timelines[index].leftOut += 1
            }
        }
        return size
    }

    /// The device of a line, read without the rest of it: `{"t":…,"device":7,`.
    package static func device(_ line: ArraySlice<UInt8>) -> UInt32? {
        guard let comma = line.offset(from: line.startIndex, { $0.equal(UInt8(ascii: ",")) }),
            line.endIndex - comma > Self.key.count,
            line[(comma + 1)...(comma + Self.key.count)] == Self.key[...]
        else { return nil }
        var device: UInt32 = 0
        for byte in line[(comma + 1 + Self.key.count)...] {
            guard (0x30...0x39).contains(byte), device < 400_000_000 else { break }
            device = device * 10 + UInt32(byte - 0x30)
        }
        return device
    }

    private static let key = Array("\"device\":".utf8)
}
