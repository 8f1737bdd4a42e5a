import Observations
import SimBase
import Talaria

/// The log of observations as a file, which is full at some length.
struct ObservationFile: ~Copyable {
    var file: OutputFile
    let bytesMax: Int
    private var log: ObservationLog
    private var flushedAt = Instant.zero
    private var isFull = false

    /// Observations without a line, see `ObservationLog.leftOut`.
    var leftOut: Int { self.log.leftOut }

    init(file: OutputFile, log: consuming ObservationLog, bytesMax: Int) {
        self.file = file
        self.log = log
        self.bytesMax = bytesMax
    }

    /// False for the first observation that no longer fits; those after it are not encoded.
    mutating func append(_ observation: Observation, _ cause: Cause?) -> Bool {
        guard !self.isFull else { return true }
        guard self.log.append(observation, cause, to: &self.file, bytesMax: self.bytesMax) else {
            self.isFull = true
            return false
        }
        if observation.at - self.flushedAt >= RunDirectory.flushEvery {
            self.flushedAt = observation.at
            self.file.flush()
        }
        return true
    }
}
