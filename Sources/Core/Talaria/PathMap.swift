/// Paths of a backend that are none of the contract, with the operations that their requests count as, so that faults act on them.
package struct PathMap: Hashable, Sendable {
    private struct Rule: Hashable, Sendable {
        /// Nil for every method.
        var method: String?
        /// `*` stands for any one segment.
        var segments: [String]
        var operation: Operation

        func means(_ method: String, _ segments: [Substring]) -> Bool {
            guard self.method == nil || self.method == method, self.segments.count == segments.count else {
                return false
            }
            return zip(self.segments, segments).allSatisfy { $0 == "*" || $0 == $1 }
        }
    }

    private var rules: [Rule] = []

    package init() {}

    /// Adds a rule such as `/events=stream`, `/jobs/*/books=results` or `POST /photos=upload`. False if it is none: a path has no
    /// query, and is none of the contract.
    package mutating func add(_ text: String) -> Bool {
        guard let equals = text.lastIndex(of: "=") else { return false }
        let words = text[..<equals].split(separator: " ")
        let name = text[text.index(after: equals)...]
        guard let path = words.last, words.count <= 2, path.hasPrefix("/"),
            !path.contains(where: { "?#".contains($0) }), JourneyPath(path: String(path)) == nil,
            words.count == 1 || words[0].allSatisfy({ $0.isASCII && $0.isLetter }),
            let operation = Operation.allCases.first(where: { $0.name == name })
        else { return false }
        self.rules.append(
            Rule(
                method: words.count == 2 ? words[0].uppercased() : nil,
                segments: Self.segments(path[...]).map(String.init), operation: operation))
        return true
    }

    /// What a request is for; a path of the contract stays one. Nil for a path of which nothing is known.
    package func place(method: String, path: String, query: String?) -> JourneyPath? {
        if let place = JourneyPath(path: path, query: query) { return place }
        // The question of a browser before a request (CORS) is none of its requests.
        guard !self.rules.isEmpty, method != "OPTIONS" else { return nil }
        let segments = Self.segments(path[...])
        return self.rules.first { $0.means(method, segments) }.map {
            JourneyPath(foreign: path, as: $0.operation)
        }
    }

    private static func segments(_ path: Substring) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }
}
