import Testing

/// The rows of the one list of targets in `Package.swift`.
enum Manifest {
    struct Row: CustomTestStringConvertible {
        var name: String
        var layer: String
        var imports: [String]

        var testDescription: String { self.name }

        /// Relative to the root of the repository.
        var folder: String {
            "Sources/\(self.layer.prefix(1).uppercased() + self.layer.dropFirst())/\(self.name)"
        }

        /// Targets that decide: the rule of the manifest, said again so that a change of it is seen.
        var isPure: Bool {
            ["core", "machines", "judging"].contains(self.layer)
                || ["Plan", "VirtualWorld", "RunSetup", "Search"].contains(self.name)
        }
    }

    static let rows: [Row] = {
        let text = SourceTree.files(in: "", ending: "Package.swift").first?.text ?? ""
        return text.matches(of: /\bModule\(\s*"(\w+)", \.(\w+),\s*\[([^\]]*)\]/).map { match in
            Row(
                name: String(match.1), layer: String(match.2),
                imports: match.3.matches(of: /"([\w-]+)"/).map { String($0.1) })
        }
    }()

    static let pure = Self.rows.filter(\.isPure)
}
