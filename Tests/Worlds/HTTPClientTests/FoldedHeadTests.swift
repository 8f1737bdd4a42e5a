import CurlLoop
import EventLoop
import HTTPClient
import SimBase
import TestServer
import Testing

/// Heads whose first line behind the status line is folded: with a used handle, libcurl 7.88.1 joins it to a header field of
/// an earlier exchange, in memory that was freed. The allocator aborts on some of it; the address sanitizer sees all.
@Suite struct FoldedHeadTests {
    private static let headers =
        "Content-Type: text/plain\r\nX-Long: \(String(repeating: "l", count: 300))\r\n"
    private static let usual = "HTTP/1.1 200 OK\r\n\(Self.headers)Content-Length: 2\r\n\r\nok"
    private static let folded =
        "HTTP/1.1 200 OK\r\n folded: first\r\n\(Self.headers)Content-Length: 2\r\n\r\nok"
    private static let interim =
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\t: folded\r\nContent-Length: 2\r\n\r\nok"

    private enum Answer: CaseIterable {
        case usual, folded, interim

        var text: String {
            switch self {
            case .usual: FoldedHeadTests.usual
            case .folded: FoldedHeadTests.folded
            case .interim: FoldedHeadTests.interim
            }
        }
    }

    /// The outcome of an exchange with this answer, by what libcurl makes of it.
    private static func isExpected(_ seen: [Seen], _ answer: Answer) -> Bool {
        switch answer {
        case .usual: seen == [.head(200), .body("ok"), .complete]
        // A field of the same answer went before it in the one; libcurl 8.1 and later pass the other on.
        case .folded, .interim:
            seen == [.failed(.malformed)] || seen == [.head(200), .body("ok"), .complete]
        }
    }

    @Test(arguments: Way.exact, [true, false])
    func `a folded first line touches no earlier exchange`(way: Way, keepsAlive: Bool) throws {
        let phones = 8
        let bench = try Bench(way, phones: phones)
        var asked = 0
        var answers: [Int: Answer] = [:]
        bench.server.answer = { connection, request in
            guard let number = request.header("X-Number").flatMap({ Int($0) }), let answer = answers[number]
            else { return }
            connection.send(answer.text)
            if !keepsAlive { connection.close() }
        }
        for round in 0..<60 {
            var running: [(transfer: TransferID, answer: Answer)] = []
            for phone in 0..<phones {
                asked += 1
                // A regular order that goes through all pairs of neighbors.
                let answer = Answer.allCases[(round * phone + round + phone) % Answer.allCases.count]
                answers[asked] = answer
                running.append((bench.pool.start(Self.request(bench, phone, asked)), answer))
            }
            #expect(bench.run(until: { running.allSatisfy { bench.ends[$0.transfer] != nil } }))
            for (transfer, answer) in running {
                let seen = bench.seen[transfer] ?? []
                #expect(Self.isExpected(seen, answer), "\(answer): \(seen)")
            }
        }
    }

    /// A stream, a DELETE and an upload, in turns.
    private static func request(_ bench: Bench, _ phone: Int, _ number: Int) -> TransferRequest {
        let headers = [HeaderField("X-Number", "\(number)")]
        switch number % 3 {
        case 0: return bench.request(phone, .get, headers: headers, receiveBuffer: .stream)
        case 1: return bench.request(phone, .delete, headers: headers)
        default:
            return bench.request(
                phone, .post, headers: headers, body: .bytes([UInt8](repeating: 7, count: 3_000)))
        }
    }
}
