package import RunDriver
package import RunJudge
package import SimBase

/// The parameters of `worker`.
package struct WorkerRequest {
    /// Phones of one worker, unless an option says otherwise.
    package static let phonesMaxDefault = 20_000
    /// A master that answers no heartbeat for so long counts as gone.
    package static let masterSilenceDefault = Interval.seconds(10)

    let host: String
    let port: UInt16
    /// The words that start it again, without the program.
    let command: [String]
    /// Reads the target that the master names, as `--target` of `run`.
    let target: (String) throws -> TargetURL
    let painter: PhotoCorpus.Painter
    /// Runs are written to folders in this one; nil: in `Reports`.
    package var output: String?
    package var threads: Int?
    package var phonesMax = Self.phonesMaxDefault
    package var masterSilenceMax = Self.masterSilenceDefault
    package var tags: [RunTag] = []

    package init(
        host: String, port: UInt16, command: [String], target: @escaping (String) throws -> TargetURL,
        painter: @escaping PhotoCorpus.Painter
    ) {
        self.host = host
        self.port = port
        self.command = command
        self.target = target
        self.painter = painter
    }
}
