import RunJudge
import SystemIO

extension RunDirectory {
    /// The files of a shard that a merged verdict needs. The log of observations is missing, because it grows with every scan,
    /// and the reports, because they are rendered from the merged run.
    private static let evidenceNames = [
        FileName.head, FileName.scenario, FileName.summary, FileName.series, FileName.latency,
        FileName.scans,
    ]

    /// Returns the evidence of a run that has ended, without files that cannot be read. `devices`: the number of phones of each
    /// group in this shard.
    package static func evidence(of folder: String, devices: [Int]) -> [ReportFile] {
        self.evidenceNames.compactMap { name in
            if name == FileName.head, var head = RunReport.head(of: folder) {
                for index in head.groups.indices where devices.indices.contains(index) {
                    head.groups[index].devices = devices[index]
                }
                return ReportFile(name: name, bytes: head.bytes)
            }
            let path = Self.joined(folder, name)
            return (try? File.contents(of: path, bytesMax: Self.eventBytesMax)).map {
                ReportFile(name: name, bytes: $0)
            }
        }
    }
}
