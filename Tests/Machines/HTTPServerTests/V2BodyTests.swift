import HTTPServer
import SimBase
import Testing

/// Bodies of v2, cut and split at every byte.
struct V2BodyTests {
    private static let file =
        "Title,Author,ISBN\r\nEmma,Jane Austen,9780141439587\r\n\"a\r\nb\",\"c\"\"d\",\r\n"

    private static var request: [UInt8] {
        let body = """
            --B\r
            Content-Disposition: form-data; name="file"; filename="library.csv"\r
            Content-Type: text/csv\r
            \r
            \(Self.file)\r
            --B--\r

            """
        let head = """
            POST /api/v2/imports HTTP/1.1\r
            Host: x\r
            Content-Type: multipart/form-data; boundary=B\r
            Content-Length: \(body.utf8.count)\r
            \r

            """
        return Array((head + body).utf8)
    }

    @Test func aRequestThatIsCutLeavesNoImport() {
        let request = Self.request
        for end in request.indices {
            var bench = Bench()
            let id = bench.connect()
            bench.send(Array(request[..<end]), on: id)
            bench.run(for: .milliseconds(10))
            bench.handle(.gone(id))
            bench.run(for: .seconds(1))
            #expect(Self.jobs(bench) == 0, "cut after \(end) bytes")
            #expect(bench[id].bytes.isEmpty)
        }
    }

    /// Jobs, with the uploads that would become one.
    private static func jobs(_ bench: Bench) -> Int? {
        var count: Int?
        bench.server.eachBound { bound in
            if bound.name == "BackendConfiguration.jobsMax" { count = bound.count }
        }
        return count
    }

    private static let batch: [UInt8] = {
        let body =
            #"{"books":[{"title":"Emma","author":"Jane Austen","isbn":"9780141439587"},{"title":"Ὀδύσσεια"}]}"#
        let head = "POST /api/batch-enrich HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        return Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }()

    private static let shelf: [UInt8] = {
        let part = "--B\r\nContent-Disposition: form-data; name=\"photos\"; filename=\"a.jpg\"\r\n\r\n"
        let photo: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array("\r\n--".utf8)
        let body = Array(part.utf8) + photo + Array("\r\n\(part)".utf8) + photo + Array("\r\n--B--\r\n".utf8)
        let head =
            "POST /api/batch-scan HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }()

    @Test(arguments: [Self.batch, Self.shelf])
    func aScanOrBatchThatIsCutLeavesNoJob(request: [UInt8]) {
        for end in request.indices {
            var bench = Bench()
            let id = bench.connect()
            bench.send(Array(request[..<end]), on: id)
            bench.run(for: .milliseconds(10))
            bench.handle(.gone(id))
            bench.run(for: .seconds(1))
            #expect(Self.jobs(bench) == 0, "cut after \(end) bytes")
            #expect(bench[id].bytes.isEmpty)
        }
    }

    @Test(arguments: [Self.batch, Self.shelf])
    func aScanOrBatchThatIsSplitIsTheSame(request: [UInt8]) {
        for middle in request.indices.dropFirst() {
            var bench = Bench()
            let id = bench.connect()
            bench.send(Array(request[..<middle]), on: id)
            bench.run(for: .milliseconds(1))
            #expect(bench[id].bytes.isEmpty)
            bench.send(Array(request[middle...]), on: id)
            bench.run(for: .milliseconds(10))
            #expect(bench[id].text.hasPrefix("HTTP/1.1 202 "), "split after \(middle) bytes")
            #expect(Self.jobs(bench) == 1)
        }
    }

    @Test func aRequestThatIsSplitIsTheSame() {
        let request = Self.request
        for middle in request.indices.dropFirst() {
            var bench = Bench()
            let id = bench.connect()
            bench.send(Array(request[..<middle]), on: id)
            bench.send(Array(request[middle...]), on: id)
            bench.run(for: .milliseconds(10))
            #expect(bench[id].text.hasPrefix("HTTP/1.1 202 "), "split after \(middle) bytes")
            #expect(Self.jobs(bench) == 1)
        }
    }

    /// What an upload can make the server keep is one file, however many parts it has.
    @Test func aSecondPartIsRefused() {
        let part = "--B\r\nContent-Disposition: form-data; name=\"NAME\"\r\n\r\n\(Self.file)\r\n"
        let body = ["file", "other"].map { part.replacing("NAME", with: $0) }.joined() + "--B--\r\n"
        let head =
            "POST /api/v2/imports HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        var bench = Bench()
        let id = bench.connect()
        bench.send(Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8), on: id)
        bench.run(for: .milliseconds(10))
        #expect(bench[id].text.hasPrefix("HTTP/1.1 400 "))
        #expect(Self.jobs(bench) == 0)
    }

    /// A file that is not needed is not kept: the answer is sent after its last byte.
    @Test func aRefusedFileIsReadToItsEnd() {
        var bench = Bench()
        for _ in 0..<10 {
            let id = bench.connect()
            bench.send(Self.request, on: id)
            bench.run(for: .milliseconds(10))
        }
        let id = bench.connect()
        let request = Self.request
        bench.send(Array(request.dropLast(30)), on: id)
        bench.run(for: .milliseconds(10))
        #expect(bench[id].bytes.isEmpty)
        bench.send(Array(request.suffix(30)), on: id)
        bench.run(for: .milliseconds(10))
        #expect(bench[id].text.hasPrefix("HTTP/1.1 429 "))
        #expect(Self.jobs(bench) == 10)
    }

    @Test func aBodyThatIsNoFormArrivesWhole() {
        let body = #"{"barcode":"9780141439587","idempotencyKey":"k"}"#
        let head = "POST /api/v2/books/enrich HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        let request = Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        for middle in request.indices.dropFirst() {
            var bench = Bench()
            let id = bench.connect()
            bench.send(Array(request[..<middle]), on: id)
            bench.run(for: .milliseconds(1))
            #expect(bench[id].bytes.isEmpty)
            bench.send(Array(request[middle...]), on: id)
            bench.run(for: .milliseconds(10))
            #expect(bench[id].text.contains(#""isbn":"9780141439587""#), "split after \(middle) bytes")
        }
        var bench = Bench()
        let id = bench.connect()
        let chunk = String(repeating: "a", count: 65_537)
        bench.send(
            Array("\(head)Transfer-Encoding: chunked\r\n\r\n10001\r\n\(chunk)\r\n0\r\n\r\n".utf8), on: id)
        bench.run(for: .milliseconds(10))
        #expect(bench[id].text.hasPrefix("HTTP/1.1 413 "))
    }
}
