import EventLoop
import Foundation
package import Imaging
import Phone
package import Plan
import RunJudge
import Talaria

/// The photos of every group, read or painted before anything starts.
package struct PhotoCorpus {
    /// Makes photos of shelves, or their replacement.
    package typealias Painter = ([PaintedShelf]) throws -> [SourcePhoto]

    package private(set) var photos: [SourcePhoto] = []
    /// The ranges of indexes in `photos`, in the order of the groups. A group without photos has a range of
    /// one, which is none of them: its captures have a photo by number, and is not opened.
    package private(set) var ranges: [Range<Int>] = []
    /// The skipped photos, with their reasons.
    package private(set) var problems: [String] = []

    package init(_ plan: RunPlan, scenarioPath: String, painter: Painter) throws {
        var known: [PhotoSource: Range<Int>] = [:]
        for group in plan.groups {
            let source = group.spec.photos
            let start = self.photos.count
            guard group.profile.journey.takesPhotos else {
                self.ranges.append(0..<1)
                continue
            }
            if let range = known[source] {
                self.ranges.append(range)
                continue
            }
            switch source {
            case .folder(let name): try self.read([name], scenarioPath: scenarioPath)
            case .list(let names): try self.read(names, scenarioPath: scenarioPath)
            case .painted(let count, let size):
                self.photos += try painter(
                    PaintedShelf.corpus(
                        count: count, seed: plan.scenario.seed, sizes: Self.sizes(size)))
            }
            known[source] = start..<self.photos.count
            self.ranges.append(start..<self.photos.count)
        }
    }

    /// A run should not wait long for its photos unless an option asks for it.
    private static func sizes(_ size: PhotoSize?) -> PaintedShelf.Sizes {
        guard let size else { return .halved }
        return .exactly(PixelSize(width: size.width, height: size.height))
    }

    private mutating func read(_ names: [String], scenarioPath: String) throws {
        for name in names {
            let path = try LoadedScenario.photoPath(name, scenarioPath: scenarioPath)
            let folder = try PhotoInput.of(path) { () throws(ImagingError) in try PhotoFinder.load(path) }
            self.problems += folder.problems.map(\.description)
            self.photos += folder.photos
        }
    }
}

/// Paints shelves on as many threads as there are processors.
package enum ParallelPainter {
    package static func paint(_ shelves: [PaintedShelf]) throws -> [SourcePhoto] {
        let painted = Guarded<[Result<SourcePhoto, ImagingError>?]>(
            .init(repeating: nil, count: shelves.count))
        DispatchQueue.concurrentPerform(iterations: shelves.count) { index in
            guard !Interruption.isRequested else { return }
            let shelf = shelves[index]
            var encoder = JPEGEncoder()
            let result = Result { () throws(ImagingError) in
                SourcePhoto(
                    name: shelf.name, jpeg: try ShelfPainter.jpeg(shelf.picture, encoder: &encoder),
                    size: shelf.picture.size)
            }
            painted.withLock { $0[index] = result }
        }
        try RunInterruption.check()
        return try painted.withLock { $0 }.compactMap { try $0?.get() }
    }
}

/// Reading photos for commands: what is wrong, and the code to end with.
package enum PhotoInput {
    package static func of<Value>(_ path: String, _ body: () throws(ImagingError) -> Value) throws -> Value {
        do throws(ImagingError) {
            return try body()
        } catch .unreadable(let path, let reason) {
            throw CommandFailure(.noInput, "cannot read \(path): \(reason)")
        } catch {
            throw CommandFailure(.badData, "\(path): \(error)")
        }
    }
}
