import Foundation

/// The package that the tests were built from.
enum Package {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let tests = Self.root.appending(path: "Tests/EndToEndTests")
    static let photo = Self.root.appending(path: "Images/shelves/shelf-3-landscape-dark.jpg")

    /// The folder of the products of the same configuration as this test.
    static let products: URL = {
        #if os(macOS)
            for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
                return bundle.bundleURL.deletingLastPathComponent()
            }
        #endif
        return Bundle.main.bundleURL
    }()
}

/// The program under test.
enum Binary {
    /// The optimized program where `make test` names it, else the one that was built with the tests.
    static let path: URL = {
        let named = ProcessInfo.processInfo.environment["SWIFTWING_SIM_BINARY"]
        return named.map { URL(filePath: $0) } ?? Package.products.appending(path: "swiftwing-sim")
    }()

    static func run(_ arguments: [String], input: Data = Data()) async throws -> Outcome {
        try await Subprocess.run(Self.path, arguments, input: input)
    }
}
