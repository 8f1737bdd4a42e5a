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
        Self.eachLine(of: wanted, in: RunDirectory.FileName.events, folder) { line, _ in
            reader.observation(line).map { observations.append($0) }
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

    /// Calls `body` with each line of one phone, in the order in which the run saw them: those of the log, and those that
    /// `ProgressFile` has besides. A line has no line feed.
    package static func eachLine(
        of phone: DeviceNumber, folder: String, _ body: (ArraySlice<UInt8>) -> Void
    ) {
        let progress = Self.progress(of: phone, folder: folder)
        var next = 0
        Self.eachLine(of: [phone.raw], in: RunDirectory.FileName.events, folder) { line, start in
            while next < progress.count, progress[next].logBytes <= start {
                body(progress[next].line)
                next += 1
            }
            body(line)
            return true
        }
        for one in progress[next...] { body(one.line) }
    }

    /// The number of a phone's lines in `ProgressFile`, if it has no room for more.
    package static func progressLimit(of phone: DeviceNumber, folder: String) -> Int? {
        let count = Self.progress(of: phone, folder: folder).count
        return count < ProgressFile.linesMax ? nil : count
    }

    /// The lines of a phone in `ProgressFile` as a log would have them, each with the length of the log when it was seen.
    private static func progress(
        of phone: DeviceNumber, folder: String
    ) -> [(line: ArraySlice<UInt8>, logBytes: Int)] {
        var lines: [(line: ArraySlice<UInt8>, logBytes: Int)] = []
        Self.eachLine(of: [phone.raw], in: RunDirectory.FileName.progress, folder) { line, _ in
            guard let key = line.lastIndex(of: UInt8(ascii: ",")),
                line[key...].starts(with: Self.logBytesKey),
                let bytes = Int(
                    String(decoding: line[(key + Self.logBytesKey.count)...].dropLast(), as: UTF8.self))
            else { return true }
            lines.append((line[..<key] + [UInt8(ascii: "}")], bytes))
            return true
        }
        return lines
    }

    private static let logBytesKey = Array(",\"log_bytes\":".utf8)

    /// `body` has a line and where it begins in the file, and returns whether to go on.
    private static func eachLine(
        of phones: Set<UInt32>, in file: String, _ folder: String, _ body: (ArraySlice<UInt8>, Int) -> Bool
    ) {
        guard var lines = LineReader(path: RunDirectory.joined(folder, file)) else { return }
        while let line = lines.next() {
            guard lines.isWhole, let phone = PhoneTimeline.device(line), phones.contains(phone) else {
                continue
            }
            guard body(line, lines.start) else { return }
        }
    }
}
