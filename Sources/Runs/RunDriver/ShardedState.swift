import LivePhones
import RunArchive
import SimBase
import SystemIO

/// The state folder of a run in several processes: one folder in it for each shard. Which phones a folder has depends on the number
/// of shards, so that a run continues only what as many processes left.
enum ShardedState {
    /// The state folder of a shard.
    static func folder(of shard: FleetShard, in path: String) -> String {
        "\(path)/\(RunFolder.name(of: shard))"
    }

    /// Throws if the folder holds the state of a run in another number of processes. Makes it where it is not there.
    static func prepare(_ path: String, processes: Int) throws(CommandFailure) {
        if StateFolder.holdsJournals(path) {
            throw CommandFailure(
                .badData, "the state folder \(path) is that of a run in one process",
                hint: "continue it without --processes, or use a new folder with --state")
        }
        if let count = Self.counts(path).first(where: { $0 != processes }) {
            throw CommandFailure(
                .badData, "the state folder \(path) is that of a run in \(count) processes",
                hint: "continue it with --processes \(count), or use a new folder with --state")
        }
        do throws(SystemError) {
            try FileTree.makeFolder(path, mode: 0o700)
        } catch {
            throw CommandFailure(.cannotWrite, "cannot use the state folder: \(error)")
        }
    }

    /// Throws if the folder holds the state of a run in several processes.
    static func requireOne(_ path: String) throws(CommandFailure) {
        guard let count = Self.counts(path).first else { return }
        throw CommandFailure(
            .badData, "the state folder \(path) is that of a run in \(count) processes",
            hint: "continue it with --processes \(count), or use a new folder with --state")
    }

    private static func counts(_ path: String) -> [Int] {
        RunFolder.shards(among: (try? FileTree.names(inFolder: path)) ?? []).map(\.count)
    }
}
