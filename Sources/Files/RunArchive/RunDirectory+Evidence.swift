import RunJudge
import SystemIO

extension RunDirectory {
    /// What `report` needs of a shard for a merged verdict: everything but the log of its observations, which grows with every
    /// scan, and the reports, which are made again.
    static let evidenceNames = [
        FileName.head, FileName.scenario, FileName.summary, FileName.series, FileName.latency,
        FileName.scans,
    ]

    /// Returns the evidence of a run that has ended. `devices`: the numbers of phones of each group that were in this shard.
    /// Without the files that cannot be read.
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

/// Pieces of files on their way to another machine, in zlib's format (RFC 1950).
package enum PackedPiece {
    /// Nil when memory is short.
    package static func of(_ bytes: ArraySlice<UInt8>) -> [UInt8]? { Deflate.packed(Array(bytes)) }
}
