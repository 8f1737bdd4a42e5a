import SystemIO

/// A photograph as it is in a folder.
package struct SourcePhoto: Hashable, Sendable {
    /// The file's name, without its folder.
    package let name: String
    package let jpeg: [UInt8]
    package let size: PixelSize

    package init(name: String, jpeg: [UInt8], size: PixelSize) {
        self.name = name
        self.jpeg = jpeg
        self.size = size
    }
}

/// A file that looked like a photo and is none.
package struct PhotoProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file's name, without its folder.
    package let name: String
    package let error: ImagingError

    package var description: String { "\(self.name): \(self.error)" }
}

/// The photographs of a folder, for phones to take.
package struct PhotoFolder: Sendable {
    /// The limit of a source file; uploads are far smaller (10,000,000 bytes each, Docs/contract.md section 1.2).
    package static let bytesMax = 50_000_000
    package static let photosMax = 500
    /// The maximum size of all photos together, which stay in memory for the run.
    package static let folderBytesMax = 500_000_000

    /// The photos in the order of their names (by bytes, the same on every machine). Never empty.
    package let photos: [SourcePhoto]
    /// The photos that were skipped, with their reasons.
    package let problems: [PhotoProblem]

    /// Reads every *.jpg and *.jpeg of the folder, hidden files aside, and decodes each once, as small as it
    /// goes.
    ///
    /// A broken photograph is named among the problems, and so is one past `photosMax` or `folderBytesMax`; a
    /// folder that cannot be read or that has no good photograph is an error.
    package static func load(path: String) throws(ImagingError) -> PhotoFolder {
        try Self.load(try Self.names(in: path), of: path) { name, bytesMax throws(ImagingError) in
            try PhotoFile.bytes(of: "\(path)/\(name)", bytesMax: bytesMax)
        }
    }

    /// Reads the photographs among the names of a folder that need not be one of the file system. `read` returns the bytes of
    /// one of them, `bytesMax` at most.
    package static func load(
        _ names: [String], of path: String,
        read: (_ name: String, _ bytesMax: Int) throws(ImagingError) -> [UInt8]
    ) throws(ImagingError) -> PhotoFolder {
        let names = names.filter { Self.isPhotograph($0) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard names.isEmpty == false else { throw .noPhotographs(folder: path) }

        var decoder = JPEGDecoder()
        var photos: [SourcePhoto] = []
        var problems: [PhotoProblem] = []
        var bytes = 0
        for name in names {
            do throws(ImagingError) {
                guard photos.count < Self.photosMax else {
                    throw .passedOver(reason: "a run uses at most \(Self.photosMax) (photosMax) photos")
                }
                let room = Self.folderBytesMax - bytes
                let jpeg = try read(name, min(Self.bytesMax, room))
                let size = try Self.size(of: jpeg, &decoder)
                photos.append(SourcePhoto(name: name, jpeg: jpeg, size: size))
                bytes += jpeg.count
            } catch {
                problems.append(PhotoProblem(name: name, error: error))
            }
        }
        guard photos.isEmpty == false else {
            throw problems.count == 1 ? problems[0].error : .noPhotographs(folder: path)
        }
        return PhotoFolder(photos: photos, problems: problems)
    }

    private static func names(in path: String) throws(ImagingError) -> [String] {
        do throws(SystemError) {
            return try FileTree.names(inFolder: path)
        } catch {
            throw .unreadable(path: path, reason: error.reason)
        }
    }

    /// A single photograph, as if it were alone in its folder.
    package init(photo path: String) throws(ImagingError) {
        var decoder = JPEGDecoder()
        let jpeg = try PhotoFile.bytes(of: path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        self.init(
            photos: [SourcePhoto(name: name, jpeg: jpeg, size: try Self.size(of: jpeg, &decoder))],
            problems: [])
    }

    private init(photos: [SourcePhoto], problems: [PhotoProblem]) {
        self.photos = photos
        self.problems = problems
    }

    /// Decodes it as small as possible: the header does not show whether the rest is there.
    private static func size(
        of jpeg: [UInt8], _ decoder: inout JPEGDecoder
    ) throws(ImagingError) -> PixelSize {
        let size = try decoder.header(of: jpeg).size
        _ = try decoder.decode(jpeg, scale: .covering(longSide: 1))
        return size
    }

    /// Returns whether it is a photo, by its name.
    package static func isPhotograph(_ name: String) -> Bool {
        let lowercased = name.lowercased()
        return name.hasPrefix(".") == false && (lowercased.hasSuffix(".jpg") || lowercased.hasSuffix(".jpeg"))
    }
}
