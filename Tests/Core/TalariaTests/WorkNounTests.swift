import Talaria
import Testing

struct WorkNounTests {
    @Test(arguments: [
        ([], "scan", "scans"), ([Journey.scan], "scan", "scans"),
        ([.bookshelfScan, .scan], "scan", "scans"), ([.batchEnrichment], "batch", "batches"),
        ([.bookEnrichment, .scan], "scan or look-up", "scans and look-ups"),
        ([.batchEnrichment, .bookshelfScan, .scan, .batchEnrichment], "scan or batch", "scans and batches"),
    ])
    func `a fleet has the nouns of its journeys`(journeys: [Journey], one: String, many: String) {
        let noun = WorkNoun(journeys)
        #expect(noun.one == one && noun.many == many)
        #expect(noun.after(1) == one && noun.after(0) == many && noun.after(2) == many)
    }

    @Test func `a noun may stand in titles and begin sentences`() {
        let (scan, both) = (WorkNoun(.scan), WorkNoun([.batchEnrichment, .scan]))
        #expect([scan.heading, scan.subject, scan.every] == ["Scans", "Scans", "Every scan"])
        #expect(
            [both.listed, both.heading, both.subject, both.every]
                == ["scans, batches", "Scans, batches", "Scans and batches", "Every scan, every batch"])
    }
}
