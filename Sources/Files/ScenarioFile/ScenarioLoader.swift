package import Plan

/// The loader of scenarios: it returns typed values, or all errors.
package enum ScenarioLoader {
    /// The version of libyaml, for example `0.2.5`.
    package static var libraryVersion: String { YAMLReader.libraryVersion }

    /// - Parameters:
    ///   - path: What errors call the file; its last part without extension is the scenario's name unless it has one.
    ///   - bytes: The file, at most 1 MiB of UTF-8.
    ///   - overrides: `path=value`, the later over the earlier.
    ///   - environment: What `${NAME:-default}` reads.
    ///   - library: Where the scenarios are that it may extend.
    ///   - purpose: What it is used for: not everything that no run survives is an error for a server.
    ///   - more: What else can be wrong with a scenario that is good in itself.
    package static func load(
        path: String, bytes: [UInt8], overrides: [String], environment: [String: String],
        library: ScenarioLibrary, for purpose: ScenarioCheck.Purpose = .run,
        alsoChecking more: @escaping (Scenario) -> [ScenarioFinding] = { _ in [] }
    ) throws(ScenarioErrors) -> Scenario {
        let findings = Findings()
        let source = Extension(findings: findings, environment: environment, library: library) {
            path, bytes in
            self.tree(path, bytes, bytesMax: YAMLReader.bytesMax, what: "scenario", findings)
                .map(FormerKey.renamed).map {
                    CaptureReader(findings: findings, library: library).embedded(in: $0, path: path)
                }
        }
        let scenario = source.tree(path: path, bytes: bytes).flatMap {
            self.read($0, path, overrides, environment, library, purpose, findings, more)
        }
        if let errors = findings.errors { throw errors }
        guard let scenario else { preconditionFailure("a scenario that cannot be read has its reasons") }
        return scenario
    }

    /// A text of its own: it extends nothing.
    package static func load(
        path: String, bytes: [UInt8], overrides: [String], environment: [String: String]
    ) throws(ScenarioErrors) -> Scenario {
        try self.load(
            path: path, bytes: bytes, overrides: overrides, environment: environment, library: .none)
    }

    package static func load(
        path: String, text: String, overrides: [String], environment: [String: String]
    ) throws(ScenarioErrors) -> Scenario {
        try self.load(path: path, bytes: Array(text.utf8), overrides: overrides, environment: environment)
    }

    private static func read(
        _ root: Node, _ path: String, _ overrides: [String], _ environment: [String: String],
        _ library: ScenarioLibrary, _ purpose: ScenarioCheck.Purpose, _ findings: Findings,
        _ more: (Scenario) -> [ScenarioFinding]
    ) -> Scenario? {
        var tree = FormerKey.renamed(in: root)
        for option in overrides {
            tree = FormerKey.renamed(in: Overrides(findings: findings).apply(option, to: tree))
        }
        if let base = tree[Extension.key] {
            findings.add(base.location, "`extends` cannot be overridden")
            return nil
        }
        tree = CaptureReader(findings: findings, library: library).embedded(in: tree, path: path)
        tree = Substitution(environment: environment, findings: findings).apply(to: tree)
        let reader = ScenarioReader(findings: findings, defaultName: self.name(of: path))
        guard var scenario = reader.scenario(tree) else { return nil }
        // What a changed run comes to, only who changes it can say.
        if Overrides.changeWhatHappens(overrides) { scenario.coverageGoals = [] }
        guard findings.isEmpty else { return scenario }
        self.report(ScenarioCheck.findings(scenario, for: purpose), of: scenario, tree, findings)
        if findings.isEmpty { self.report(more(scenario), of: scenario, tree, findings) }
        return scenario
    }

    /// A scenario that is a part of something else and is complete by itself. What is wrong with it is
    /// reported.
    static func read(embedded tree: Node, _ findings: Findings) -> Scenario? {
        self.read(tree, "plan", [], [:], .none, .run, findings, { _ in [] })
    }

    static func tree(
        _ path: String, _ bytes: [UInt8], bytesMax: Int, what: String, _ findings: Findings
    ) -> Node? {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
        guard bytes.count <= bytesMax else {
            let source = findings.add(SourceText(name: path, isOption: false, text: ""))
            findings.add(
                Place(source: source, line: 1, column: 1, length: 1),
                "the \(what) is larger than \(Units.text(bytes: bytesMax))")
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // What precedes the first bad byte is shown.
            let decoded = String(decoding: bytes, as: UTF8.self)
            let good = zip(decoded.utf8, bytes).prefix { $0 == $1 }.count
            let before = SourceText(
                name: path, isOption: false, text: String(decoding: bytes.prefix(good), as: UTF8.self))
            let column = before.line(before.linesCount).count + 1
            let source = findings.add(SourceText(name: path, isOption: false, text: decoded))
            findings.add(
                Place(source: source, line: before.linesCount, column: column, length: 1),
                "the text is not valid UTF-8")
            return nil
        }
        let source = findings.add(SourceText(name: path, isOption: false, text: text))
        let reader = YAMLReader(bytes, source: source, columnShift: 0, findings: findings)
        guard let root = reader.document() else { return nil }
        guard case .scalar("") = root.content else { return root }
        findings.add(
            root.location, "the file is empty", help: "`swiftwing-sim new NAME` creates a starter file")
        return nil
    }

    /// The file's name without its folder and extension, made fit to be a name.
    private static func name(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        let stem =
            file.hasSuffix(ScenarioFinder.suffix) ? String(file.dropLast(ScenarioFinder.suffix.count)) : file
        var view = String.UnicodeScalarView()
        for scalar in stem.unicodeScalars.prefix(ScenarioLimit.nameCharactersMax) {
            view.append(Values.isNameScalar(scalar) ? scalar : "-")
        }
        let name = String(view.drop { $0 == "-" || $0 == "." })
        return name.isEmpty ? "scenario" : name
    }

    /// Adds the findings of checks that look at more than one value, with their locations.
    private static func report(
        _ list: [ScenarioFinding], of scenario: Scenario, _ tree: Node, _ findings: Findings
    ) {
        for finding in list {
            findings.add(
                self.location(of: finding.subject, in: scenario, tree), finding.message, help: finding.help)
        }
    }

    private static func location(of subject: ScenarioFinding.Subject, in scenario: Scenario, _ tree: Node)
        -> Place
    {
        let node: Node?
        let key: String
        switch subject {
        case .scenario:
            return tree.location
        case .server(let name):
            (node, key) = (tree["server"], name)
        case .group(let index, let name):
            (node, key) = (tree["fleet"]?[scenario.groups[index].name], name)
        case .fault(let index, let name):
            guard case .list(let nodes)? = tree["faults"]?.content else { return tree.location }
            (node, key) = (nodes[index], name)
        }
        guard case .map(let entries)? = node?.content else { return tree.location }
        return entries.first { $0.key == key }.map { $0.value.location } ?? node?.location ?? tree.location
    }
}
