import SystemIO

/// A report as it is written into the folder of its run.
package struct ReportFile: Sendable {
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// Writes reports into a folder and creates the folder if it does not exist. Returns their names in the order of
    /// `RunDirectory.FileName.all`. Throws if any file could not be written, after it has written the others.
    package static func write(_ reports: [ReportFile], to folder: String) throws(OutputError) -> [String] {
        do throws(SystemError) {
            try FileTree.makeFolder(folder)
        } catch {
            throw OutputError(failures: [OutputError.Failure(path: folder, error)], saved: [])
        }
        var saved: [String] = []
        var failures: [OutputError.Failure] = []
        for report in reports {
            do throws(OutputError.Failure) {
                try OutputFile.write(report.bytes, to: RunDirectory.joined(folder, report.name))
                saved.append(report.name)
            } catch {
                failures.append(error)
            }
        }
        saved = RunDirectory.FileName.all.filter { saved.contains($0) }
        guard failures.isEmpty else { throw OutputError(failures: failures, saved: saved) }
        return saved
    }
}

/// Renders every report of a run.
package typealias ReportRenderer = (RunReport) -> [ReportFile]
