package import Foundation

/// The checkout that the tests were compiled from.
package enum Checkout {
    /// The folder of the manifest, found by going up from this file.
    package static let root: URL = {
        var folder = URL(filePath: #filePath)
        repeat {
            folder = folder.deletingLastPathComponent()
        } while folder.path != "/"
            && !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
        return folder
    }()
}
