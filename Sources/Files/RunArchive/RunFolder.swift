package import SimBase
import SystemIO

/// The folder of a run in several processes: the merged reports, and a folder for each shard in `shards`. A lock on it prevents
/// a second run from writing there.
package final class RunFolder {
    /// The folder of the shards' folders, by its name.
    package static let shards = "shards"

    package let path: String
    private let lock: FolderLock

    /// Makes the folder. Where it existed, reports and shards of an earlier run are taken away.
    package init(_ location: RunLocation) throws(OutputError) {
        do throws(OutputError.Failure) {
            switch location {
            case .exactly(let path):
                try RunDirectory.at(path) { () throws(SystemError) in try FileTree.makeFolder(path) }
                self.path = path
                self.lock = try RunDirectory.lock(path)
                for name in RunDirectory.FileName.all {
                    try RunDirectory.remove(RunDirectory.joined(path, name))
                }
                for folder in Self.shards(of: path) { try Self.removeRun(folder) }
            case .dated(let reports, let started, let scenario, let seed):
                self.path = try RunDirectory.makeDatedFolder(
                    in: reports, named: RunLocation.name(started: started, scenario: scenario, seed: seed))
                self.lock = try RunDirectory.lock(self.path)
                _ = RunDirectory.link(to: self.path, in: reports)
            }
        } catch {
            throw OutputError(failures: [error], saved: [])
        }
    }

    /// Removes what a run has written to a folder, and the folder if nothing else is in it.
    private static func removeRun(_ folder: String) throws(OutputError.Failure) {
        for name in RunDirectory.FileName.all { try RunDirectory.remove(RunDirectory.joined(folder, name)) }
        ShardSnapshot.remove(from: folder)
        FileTree.removeFolder(folder)
    }

    /// The folder of a shard.
    package func folder(of shard: FleetShard) -> String {
        "\(RunDirectory.joined(self.path, Self.shards))/\(Self.name(of: shard))"
    }

    /// The folders of the shards of a run, in their order; empty for a folder that has none. Other entries
    /// next to them do not belong to the run.
    package static func shards(of folder: String) -> [String] {
        let path = RunDirectory.joined(folder, Self.shards)
        return Self.shards(among: (try? FileTree.names(inFolder: path)) ?? []).map {
            "\(path)/\(Self.name(of: $0))"
        }
    }

    /// The folders with the logs of a run: those of its shards, or its own. `device`: only the one that has this phone.
    package static func logs(of run: String, device: DeviceNumber? = nil) -> [String] {
        let path = RunDirectory.joined(run, Self.shards)
        let shards = Self.shards(among: (try? FileTree.names(inFolder: path)) ?? [])
        guard !shards.isEmpty else { return [run] }
        return shards.filter { shard in device.map(shard.has) ?? true }.map { "\(path)/\(Self.name(of: $0))" }
    }

    /// `1-of-3`: how folders of shards are called.
    package static func name(of shard: FleetShard) -> String { "\(shard.index)-of-\(shard.count)" }

    /// The shards that have folders of these names, in their order.
    package static func shards(among names: [String]) -> [FleetShard] {
        names.compactMap { name -> FleetShard? in
            let shard = FleetShard(name.replacing("-of-", with: "/"))
            return shard.flatMap { Self.name(of: $0) == name ? $0 : nil }
        }.sorted { ($0.count, $0.index) < ($1.count, $1.index) }
    }
}
