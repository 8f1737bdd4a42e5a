import SimBase
import Testing

struct SpellingTests {
    private let keys = ["devices", "profile", "network", "scans", "arrivals", "spacing", "photos"]

    @Test(arguments: [
        ("device", "devices"), ("divices", "devices"), ("netwrok", "network"), ("Arrivals", "arrivals"),
        ("arival", "arrivals"), ("photo", "photos"), ("scnas", "scans"),
    ])
    func `a misspelled key has its suggestion`(typed: String, meant: String) {
        #expect(Spelling.nearest(to: typed, among: keys) == meant)
    }

    @Test(arguments: ["", "x", "zzzzzz", "books", "dv", String(repeating: "devices", count: 40)])
    func `a word that is near to nothing has no suggestion`(typed: String) {
        #expect(Spelling.nearest(to: typed, among: keys) == nil)
    }

    @Test func `of equally near words the first one listed wins`() {
        #expect(Spelling.nearest(to: "bat", among: ["cat", "hat"]) == "cat")
        #expect(Spelling.nearest(to: "bat", among: ["hat", "cat"]) == "hat")
    }

    @Test func `a nearer word beats an earlier one`() {
        #expect(Spelling.nearest(to: "results", among: ["result.at", "results."]) == "results.")
    }

    @Test func `the parts of a word may be in another order`() {
        let kinds = ["expire-token", "strip-books", "slow-stage"]
        #expect(Spelling.nearest(to: "token-expire", among: kinds) == "expire-token")
        #expect(Spelling.nearest(to: "token-exhale", among: kinds) == nil)
    }

    @Test func `no candidates means no suggestion`() {
        #expect(Spelling.nearest(to: "devices", among: []) == nil)
    }
}
