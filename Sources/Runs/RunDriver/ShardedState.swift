import LivePhones
import RunArchive
import RunJudge
import SimBase
import SystemIO

/// The state folder of a run in several processes: one folder in it for each shard. Which phones a folder has depends on the number
/// of shards, so that a run continues only what as many processes left.
enum ShardedState {
    /// The state folder of a shard.
    static func folder(of shard: FleetShard, in path: String) -> String {
        "\(path)/\(RunFolder.name(of: shard))"
    }

    /// The number of processes that have begun with the folder, next to their folders.
    private static func countPath(in path: String) -> String { "\(path)/processes" }

    /// Throws if the folder holds the state of a run in another number of processes, or lacks that of one of them. Makes it where
    /// it is not there.
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
        for shard in 0..<(Self.begun(path) ?? 0) {
            let folder = Self.folder(of: FleetShard(index: shard, count: processes), in: path)
            guard !StateFolder.holdsJournals(folder) else { continue }
            throw CommandFailure(
                .badData, "the state folder is not whole: \(folder) is missing or has been emptied",
                hint: "put it back, or use a new folder with --state: what its phones had is gone")
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

    /// Remembers that every process has its folder now.
    static func begin(_ path: String, processes: Int) throws {
        guard Self.begun(path) == nil else { return }
        do throws(SystemError) {
            try File.save(Array("\(processes)\n".utf8), to: Self.countPath(in: path))
        } catch {
            throw CommandFailure(.cannotWrite, "cannot use the state folder: \(error)")
        }
    }

    private static func begun(_ path: String) -> Int? {
        let bytes = try? File.contents(of: Self.countPath(in: path), bytesMax: 16)
        return bytes.flatMap { Int(String(decoding: $0, as: UTF8.self).filter(\.isNumber)) }
    }

    private static func counts(_ path: String) -> [Int] {
        let folders = RunFolder.shards(among: (try? FileTree.names(inFolder: path)) ?? []).map(\.count)
        return (Self.begun(path).map { [$0] } ?? []) + folders
    }
}
