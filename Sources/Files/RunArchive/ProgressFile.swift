import Observations
import SimBase
import Talaria

/// What `events.ndjson` has only with `--trace` (pings, progress events and what else is frequent), of the first phones with
/// problems: decision 0227. The lines of one phone are in the order of time, and begin before its first problem.
final class ProgressFile {
    enum Problem: Hashable { case error, violation }

    /// The limit of phones for each kind of problem.
    static let phonesMax = 50
    /// The limit of lines of one phone.
    static let linesMax = 1_000
    /// The limit of those from before its first problem.
    static let earlierMax = 500
    /// The limit of observations, of all phones together, that are kept until one of them has a problem.
    static let recentMax = 16_384

    private struct Seen {
        let observation: Observation
        /// The length of the log when it was seen, in bytes: its place between the lines of the log.
        let logBytes: Int
    }

    /// Nil until there is a line.
    private(set) var file: OutputFile?
    /// The reason why there is none.
    private(set) var failure: OutputError.Failure?
    private let path: String
    private var writer: ObservationLineWriter
    private var recent: [Seen] = []
    /// The index of the oldest in `recent`; 0 until it is full.
    private var oldest = 0
    /// The number of lines of each phone with problems.
    private var lines: [DeviceNumber: Int] = [:]
    private var phones: [Problem: Int] = [:]

    init(path: String, faults: [String]) {
        self.path = path
        self.writer = ObservationLineWriter(faults: faults)
    }

    /// Takes an observation that the log does not have.
    func take(_ observation: Observation, logBytes: Int) {
        guard self.lines[observation.device] == nil else {
            return self.write(Seen(observation: observation, logBytes: logBytes))
        }
        guard self.isWaiting(for: .violation) else { return }
        guard self.recent.count == Self.recentMax else {
            return self.recent.append(Seen(observation: observation, logBytes: logBytes))
        }
        self.recent[self.oldest] = Seen(observation: observation, logBytes: logBytes)
        self.oldest = (self.oldest + 1) % Self.recentMax
    }

    /// The phone has a problem.
    func follow(_ phone: DeviceNumber, _ problem: Problem) {
        guard self.lines[phone] == nil, self.isWaiting(for: problem) else { return }
        self.lines[phone] = 0
        self.phones[problem, default: 0] += 1
        let earlier = (self.recent[self.oldest...] + self.recent[..<self.oldest])
            .filter { $0.observation.device == phone }
        for seen in earlier.suffix(Self.earlierMax) { self.write(seen) }
        guard !self.isWaiting(for: .violation) else { return }
        self.recent = []
        self.oldest = 0
    }

    func flush() { self.file?.flush() }

    func close() { self.file?.close() }

    private func isWaiting(for problem: Problem) -> Bool { self.phones[problem, default: 0] < Self.phonesMax }

    private func write(_ seen: Seen) {
        guard let count = self.lines[seen.observation.device], count < Self.linesMax, self.failure == nil
        else {
            return
        }
        self.lines[seen.observation.device] = count + 1
        do throws(OutputError.Failure) {
            if self.file == nil { self.file = try OutputFile(creating: self.path) }
        } catch {
            return self.failure = error
        }
        self.writer.write(seen.observation, logBytes: seen.logBytes)
        self.file?.append(self.writer.line)
    }
}
