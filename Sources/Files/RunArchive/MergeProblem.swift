package import SimBase

/// Why folders of runs, or of shards of one run, cannot be merged.
package enum MergeProblem: Error, Equatable, CustomStringConvertible {
    /// Other folders are shards, and this one is not.
    case notAShard(String)
    /// Two shards differ in a property of their run.
    case differ(String, first: String, second: String)
    /// Two whole runs differ in a property.
    case runsDiffer(String, first: String, second: String)
    /// A summary has an invariant or a metric that this program does not know.
    case otherVersion(String, id: String)
    case twice(FleetShard, first: String, second: String)

    package var description: String {
        switch self {
        case .notAShard(let folder): "\(folder) is not a shard of a run"
        case .differ(let what, let first, let second):
            "\(first) and \(second) are not shards of one run: they differ in \(what)"
        case .runsDiffer(let what, let first, let second):
            "\(first) and \(second) cannot be merged: they differ in \(what)"
        case .otherVersion(let folder, let id):
            "\(folder) was written by another version of the program: it has \(Printable.line(id)), which this one does not know"
        case .twice(let shard, let first, let second):
            "\(first) and \(second) are both shard \(shard) of the run"
        }
    }
}
