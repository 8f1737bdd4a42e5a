import Observations
import SimBase
import Talaria

/// What `events.ndjson` has only with `--trace` (pings, progress events and what else is frequent), of the first phones with
/// problems. The file begins some time before the first problem of a phone, and has its lines in the order of time.
final class ProgressFile {
    /// The limit of phones.
    static let phonesMax = 100
    /// The limit of lines of one phone.
    static let linesMax = 1_000
    /// The limit of observations, of all phones together, that are kept until one of them has a problem.
    static let recentMax = 16_384

    /// Nil until there is a line.
    private(set) var file: OutputFile?
    /// The reason why there is none.
    private(set) var failure: OutputError.Failure?
    private let path: String
    private var writer: ObservationLineWriter
    private var recent: [Observation] = []
    /// Of the next observation in `recent`, once that is full.
    private var next = 0
    /// Of the phones with problems.
    private var lines: [DeviceNumber: Int] = [:]

    init(path: String, faults: [String]) {
        self.path = path
        self.writer = ObservationLineWriter(faults: faults)
    }

    /// Takes an observation that the log does not have.
    func take(_ observation: Observation) {
        guard self.lines[observation.device] == nil else { return self.write(observation) }
        guard self.lines.count < Self.phonesMax else { return }
        guard self.recent.count == Self.recentMax else { return self.recent.append(observation) }
        self.recent[self.next] = observation
        self.next = (self.next + 1) % Self.recentMax
    }

    /// The phone has a problem.
    func follow(_ phone: DeviceNumber) {
        guard self.lines.count < Self.phonesMax, self.lines[phone] == nil else { return }
        self.lines[phone] = 0
        for observation in self.recent[self.next...] + self.recent[..<self.next]
        where observation.device == phone {
            self.write(observation)
        }
        guard self.lines.count == Self.phonesMax else { return }
        self.recent = []
        self.next = 0
    }

    func flush() { self.file?.flush() }

    func close() { self.file?.close() }

    private func write(_ observation: Observation) {
        guard let count = self.lines[observation.device], count < Self.linesMax, self.failure == nil else {
            return
        }
        self.lines[observation.device] = count + 1
        do throws(OutputError.Failure) {
            if self.file == nil { self.file = try OutputFile(creating: self.path) }
        } catch {
            return self.failure = error
        }
        self.writer.write(observation)
        self.file?.append(self.writer.line)
    }
}
