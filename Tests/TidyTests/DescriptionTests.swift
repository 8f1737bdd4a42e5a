import Testing

/// A switch over the cases of an observation that has a default does not find a case without a description.
@Suite struct DescriptionTests {
    /// The part of a text between two lines.
    private static func part(_ text: String, from start: String, to end: String) -> Substring {
        guard let start = text.firstRange(of: start) else { return "" }
        let rest = text[start.upperBound...]
        return rest[..<(rest.firstRange(of: end)?.lowerBound ?? rest.endIndex)]
    }

    @Test(arguments: ["PhoneObservation", "BackendObservation"])
    func `every case of an observation is described and can be read`(type: String) throws {
        let files = SourceTree.files(in: "Sources/Core/Observations", ending: ".swift")
        let declaration = try #require(files.first { $0.path.hasSuffix("/\(type).swift") }?.text)
        let description = try #require(files.first { $0.path.hasSuffix("/\(type)+Fields.swift") }?.text)
        let read = Self.part(declaration, from: "named([", to: "])").matches(of: #/\w+/#).map { $0.output }
        let cases = Self.part(declaration, from: "package indirect enum \(type)", to: "\n}\n")
            .split(separator: "\n").compactMap { $0.firstMatch(of: #/^ {4}case (.+)$/#)?.1 }
            .flatMap { line in
                line.contains("(")
                    ? [line.prefix { $0 != "(" }] : line.split(separator: ",").map { $0.trimmed }
            }
        #expect(cases.count > 20)
        for name in cases {
            #expect(read.contains(name), "\(type).swift: \(name) is not in byName: add it")
            #expect(
                description.contains(try Regex("case \\.\(name)[(:]")),
                "\(type)+Fields.swift: \(name) is not described: add it")
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring { self.drop { $0 == " " } }
}
