import Foundation
import SimBase
import Testing

extension SideBySide {
    /// The similarity of texts, and that of rapidfuzz.
    @Suite struct SimilarTextTests {
        private struct Pair: Decodable {
            var left: String
            var right: String
            var length: Int
            /// Nil for a text that is too long.
            var distance: Int?
            var similar: Bool?
        }

        @Test func `10,000 pairs are as similar as rapidfuzz and regex say`() async throws {
            let script = Package.tests.appending(path: "Tools/similar_texts.py").path
            let outcome = try await Subprocess.run(
                Package.root.appending(path: ".build/venv/bin/python"), [script, "51", "10000"], seconds: 50)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let pairs = try outcome.output.split(separator: "\n").map {
                try JSONDecoder().decode(Pair.self, from: Data($0.utf8))
            }
            #expect(pairs.count == 10_000 && pairs.contains { $0.distance == nil })
            for pair in pairs {
                let known = Levenshtein.similarity(pair.left, pair.right)
                #expect(known?.distance == pair.distance, "\(pair)")
                #expect(known?.isAbove(percent: 80) == pair.similar, "\(pair)")
                #expect((known == nil) == (pair.length > Levenshtein.charactersMax), "\(pair)")
            }
        }
    }
}
