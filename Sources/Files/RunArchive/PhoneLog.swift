package import Observations
package import SimBase

/// The observations of some phones in the log of a run.
package enum PhoneLog {
    /// The limit for all phones together.
    package static let observationsMax = 1_000_000

    /// Reads the observations of these phones in one pass over the log, in the order of time. Empty if there is no log.
    ///
    /// - Parameter folder: The folder of the run, which may still be going on.
    /// - Parameter faults: The ids of the scenario's faults, in its order.
    package static func observations(
        of phones: [DeviceNumber], folder: String, faults: [String]
    ) -> [Observation] {
        let wanted = Set(phones.map(\.raw))
        let reader = ObservationReader(faults: faults)
        var observations: [Observation] = []
        Self.eachLine(of: wanted, in: RunDirectory.FileName.events, folder) { line in
            if let observation = reader.observation(line) { observations.append(observation) }
            return observations.count < Self.observationsMax
        }
        return observations
    }

    /// The observations of one phone, with those of `ProgressFile`.
    package static func story(of phone: DeviceNumber, folder: String, faults: [String]) -> [Observation] {
        let reader = ObservationReader(faults: faults)
        var observations: [Observation] = []
        Self.eachLine(of: phone, folder: folder) { line in
            guard observations.count < Self.observationsMax else { return }
            reader.observation(line).map { observations.append($0) }
        }
        return observations
    }

    /// Calls `body` with each line of one phone, in the order of time: those of the log, and those that `ProgressFile` has
    /// besides. A line has no line feed.
    package static func eachLine(
        of phone: DeviceNumber, folder: String, _ body: (ArraySlice<UInt8>) -> Void
    ) {
        var progress: [ArraySlice<UInt8>] = []
        Self.eachLine(of: [phone.raw], in: RunDirectory.FileName.progress, folder) { line in
            progress.append(ArraySlice(Array(line)))
            return true
        }
        var next = 0
        func pass(to moment: Int64) {
            while next < progress.count, Self.moment(progress[next]) <= moment {
                body(progress[next])
                next += 1
            }
        }
        Self.eachLine(of: [phone.raw], in: RunDirectory.FileName.events, folder) { line in
            pass(to: Self.moment(line))
            body(line)
            return true
        }
        pass(to: .max)
    }

    /// `body` returns whether to go on.
    private static func eachLine(
        of phones: Set<UInt32>, in file: String, _ folder: String, _ body: (ArraySlice<UInt8>) -> Bool
    ) {
        guard var lines = LineReader(path: RunDirectory.joined(folder, file)) else { return }
        while let line = lines.next() {
            guard lines.isWhole, let phone = PhoneTimeline.device(line), phones.contains(phone) else {
                continue
            }
            guard body(line) else { return }
        }
    }

    /// The time of a line, read without the rest of it: `{"t":1250000000,`. In nanoseconds; 0 for a line without one.
    private static func moment(_ line: ArraySlice<UInt8>) -> Int64 {
        var moment: Int64 = 0
        for byte in line.dropFirst(Self.key.count) {
            guard (0x30...0x39).contains(byte), moment < .max / 100 else { break }
            moment = moment * 10 + Int64(byte - 0x30)
        }
        return moment
    }

    private static let key = Array("{\"t\":".utf8)
}
