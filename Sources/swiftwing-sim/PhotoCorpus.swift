import Imaging
import Plan

/// The photos of every group, read before anything starts.
struct PhotoCorpus {
    private(set) var photos: [SourcePhoto] = []
    /// By the order of the groups: places in `photos`.
    private(set) var ranges: [Range<Int>] = []
    /// What was skipped and why.
    private(set) var problems: [String] = []

    init(_ plan: RunPlan, scenarioPath: String) throws {
        var known: [String: Range<Int>] = [:]
        for group in plan.groups {
            switch group.spec.photos {
            case .painted:
                throw CommandFailure(
                    .badData, "group '\(group.spec.name)': painted photos are not available yet",
                    hint: "name a folder of photos, such as shelves")
            case .folder(let name):
                if let range = known[name] {
                    self.ranges.append(range)
                    continue
                }
                let range = try self.read(name, scenarioPath: scenarioPath)
                known[name] = range
                self.ranges.append(range)
            }
        }
    }

    private mutating func read(_ name: String, scenarioPath: String) throws -> Range<Int> {
        let path = try ScenarioSource.photoFolder(name, scenarioPath: scenarioPath)
        do throws(ImagingError) {
            let folder = try PhotoFolder.load(path: path)
            self.problems += folder.problems.map { "photo skipped: \($0)" }
            let start = self.photos.count
            self.photos += folder.photos
            return start..<self.photos.count
        } catch {
            throw CommandFailure(.badData, "\(path): \(error)")
        }
    }
}
