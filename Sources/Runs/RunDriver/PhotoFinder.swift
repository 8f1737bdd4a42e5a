import BuiltIn
import Imaging
import RunJudge
import SystemIO

/// Finds the photos that a scenario names: a folder of photos, or one photo.
struct PhotoFinder {
    private static let images = "Images"

    /// As the scenario was named.
    let scenarioPath: String
    /// Absolute.
    let current: String
    /// The folders of scenarios, each of which may have `Images` next to it. Absolute.
    let folders: [String]

    /// The first of the folders that has photos. Throws if none has.
    func find(_ name: String) throws(CommandFailure) -> String {
        let places = self.places(of: name)
        if let found = places.first(where: Self.hasPhotos) { return self.shown(found) }
        guard let empty = places.first(where: Self.exists) else {
            let home =
                name.hasPrefix("~/")
                ? "`~` has no special meaning here: write `${HOME}\(name.dropFirst())`; " : ""
            throw CommandFailure(
                .noInput, "no photos '\(name)'",
                hint: "\(home)looked for \(places.map(self.shown).joined(separator: ", "))")
        }
        throw CommandFailure(
            .badData, "no photos (*.jpg or *.jpeg) in \(self.shown(empty))",
            hint: "`photos` takes a folder of photos or a photo; looked for "
                + places.map(self.shown).joined(separator: ", "))
    }

    /// Where a name can lead, in this order: next to the scenario's file, in a folder `Images`, in the
    /// current folder, in the program. A path that begins with `/`, `./` or `../` is in no `Images`. Each
    /// folder is named once.
    func places(of name: String) -> [String] {
        guard !name.hasPrefix("/"), !BuiltInFiles.isPath(name) else { return [name] }
        let isPath = name.hasPrefix("./") || name.hasPrefix("../")
        let beside = BuiltInFiles.isPath(self.scenarioPath) ? [] : [self.scenarioFolder]
        let roots =
            [self.current]
            + (beside + self.folders).filter { !BuiltInFiles.isPath($0) }.map(Self.parent)
        let inImages = roots.map { "\($0 == "/" ? "" : $0)/\(Self.images)" }
        let program = "\(BuiltInFiles.folder)/\(Self.images)"
        let all = beside + (isPath ? [] : inImages) + [self.current] + (isPath ? [] : [program])
        var places: [String] = []
        for folder in all {
            let place = "\(folder == "/" ? "" : folder)/\(name)"
            if !places.contains(place) { places.append(place) }
        }
        return places
    }

    private var scenarioFolder: String {
        let path = self.scenarioPath
        return Self.parent(path.hasPrefix("/") ? path : "\(self.current)/\(path)")
    }

    private static func parent(_ path: String) -> String {
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        return "/\(parent)"
    }

    /// A path in the current folder as it is named from there.
    private func shown(_ path: String) -> String {
        path.hasPrefix(self.current + "/") ? String(path.dropFirst(self.current.count + 1)) : path
    }

    // MARK: Places

    private static func exists(_ path: String) -> Bool {
        BuiltInFiles.isPath(path) ? Self.hasPhotos(path) : FileTree.exists(path)
    }

    private static func hasPhotos(_ path: String) -> Bool {
        if BuiltInFiles.isPath(path) {
            return BuiltInFiles.contains(path) || !BuiltInFiles.names(inFolder: path).isEmpty
        }
        if case .file = FileTree.kind(of: path) { return PhotoFolder.isPhotograph(Self.name(of: path)) }
        let names = try? FileTree.names(inFolder: path)
        return names?.contains(where: PhotoFolder.isPhotograph) == true
    }

    private static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Reads what was found.
    static func load(_ path: String) throws(ImagingError) -> PhotoFolder {
        guard !BuiltInFiles.isPath(path) else { return try Self.builtIn(path) }
        if case .file = FileTree.kind(of: path) { return try PhotoFolder(photo: path) }
        return try PhotoFolder.load(path: path)
    }

    private static func builtIn(_ path: String) throws(ImagingError) -> PhotoFolder {
        let isPhoto = BuiltInFiles.contains(path)
        let names = isPhoto ? [Self.name(of: path)] : BuiltInFiles.names(inFolder: path)
        return try PhotoFolder.load(names, of: path) { name, _ in
            BuiltInFiles.contents(of: isPhoto ? path : "\(path)/\(name)") ?? []
        }
    }
}
