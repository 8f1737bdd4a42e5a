import ClientTrial
import SimBase

/// A history that breaks one rule and no other, and one that comes as near to it as an honest client may.
struct RuleRow: Sendable {
    let rule: ClientRule
    let broken: @Sendable (inout TriedClient) -> Void
    let honest: @Sendable (inout TriedClient) -> Void

    static let all = Self.requests + Self.repetitions + Self.streams + Self.jobs

    private static let requests = [
        RuleRow(rule: .endpoint) {
            $0.answer($0.ask("GET", "/v3/jobs/scan"), 404)
        } honest: {
            $0.device = nil
            $0.answer($0.ask("GET", "/favicon.ico"), 404)
        },
        RuleRow(rule: .deviceID) {
            $0.device = "5f0c1a52-9c1b-1c3e-8b9a-0123456789ab"
            $0.answer($0.upload(1), 400)
        } honest: {
            $0.device = TriedClient.device.uppercased()
            $0.scan()
        },
        RuleRow(rule: .deviceKept) {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.connection = 2
            $0.device = TriedClient.otherDevice
            $0.delete(job)
        } honest: {
            $0.scan(1)
            $0.connection = 2
            $0.device = TriedClient.otherDevice
            $0.scan(2)
        },
        RuleRow(rule: .token) {
            let job = $0.job()
            $0.answer($0.ask("DELETE", "/v3/jobs/scans/\(job)", token: "token"), 401)
        } honest: {
            $0.scan()
        },
        RuleRow(rule: .tokenURL) {
            let job = $0.job()
            $0.complete($0.stream(job, after: nil))
            $0.answer(
                $0.ask(
                    "DELETE", "/v3/jobs/scans/\(job)/cleanup?x=token-\(job)", token: "token-\(job)"), 204)
        } honest: {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.answer(
                $0.ask("DELETE", "/v3/jobs/scans/\(job)/cleanup?x=other", token: "token-\(job)"), 204)
        },
        RuleRow(rule: .tokenStale) {
            let job = $0.job()
            $0.answer($0.askStream(job), 401, #"{"code":"TOKEN_EXPIRED"}"#)
            $0.wait(.seconds(2))
            $0.answer($0.askStream(job), 401, #"{"code":"TOKEN_EXPIRED"}"#)
        } honest: {
            let job = $0.job()
            $0.answer($0.askStream(job), 401, #"{"code":"TOKEN_EXPIRED"}"#)
            $0.wait(.seconds(2))
            $0.delete(job)
            $0.scan(1)
        },
        RuleRow(rule: .accept) {
            let job = $0.job()
            $0.answer($0.askStream(job, accept: "*/*"), 404)
        } honest: {
            let job = $0.job()
            $0.answer($0.askStream(job, accept: "Text/Event-Stream, */*"), 404)
        },
        RuleRow(rule: .uploadForm) {
            $0.answer($0.upload([TriedClient.part(1, name: "image")]), 400)
        } honest: {
            $0.answer($0.upload((1...5).map { TriedClient.part($0) }), 503)
        },
        RuleRow(rule: .uploadSize) {
            $0.answer($0.upload([TriedClient.part(1, bytes: 10_000_001)]), 413)
        } honest: {
            $0.answer($0.upload([TriedClient.part(1, bytes: 10_000_000)]), 413)
        },
    ]

    private static let repetitions = [
        RuleRow(rule: .wait) {
            $0.answer($0.upload(1), 429, retryAfter: "10")
            $0.wait(.seconds(9))
            $0.answer($0.upload(2), 429, retryAfter: "1")
        } honest: {
            $0.answer($0.upload(1), 429, #"{"retryAfterMs":9000}"#, retryAfter: "10")
            // On its way when the answer came.
            $0.wait(.milliseconds(60))
            $0.answer($0.upload(2), 429, #"{"retryAfterMs":9000}"#, retryAfter: "10")
            $0.wait(.milliseconds(9_000))
            $0.scan(1)
        },
        RuleRow(rule: .backoff) {
            for _ in 0..<4 {
                $0.answer($0.upload(1), 503)
                $0.wait(.milliseconds(10))
            }
        } honest: {
            for _ in 0..<4 {
                $0.answer($0.upload(1), 503)
                $0.wait(.milliseconds(30))
            }
        },
        RuleRow(rule: .uploadOnce) {
            for _ in 0..<3 {
                _ = $0.job(1)
                $0.wait(.seconds(1))
            }
        } honest: {
            // It was killed behind the answer.
            _ = $0.job(1)
            $0.wait(.seconds(1))
            $0.scan(1)
        },
        RuleRow(rule: .retryOnce) {
            for _ in 0..<3 {
                let job = $0.job(1)
                $0.fail($0.stream(job), retryable: true)
                $0.delete(job)
                $0.wait(.seconds(2))
            }
        } honest: {
            for photo in [1, 1, 2, 2] as [UInt8] {
                let job = $0.job(photo)
                $0.fail($0.stream(job), retryable: true)
                $0.delete(job)
                $0.wait(.seconds(2))
            }
            // Its user asks for it.
            $0.wait(.seconds(20))
            $0.scan(1)
        },
        RuleRow(rule: .refusalFinal) {
            $0.answer($0.upload(1), 400, #"{"retryable":false}"#)
            $0.wait(.seconds(2))
            $0.answer($0.upload(1), 400, #"{"retryable":false}"#)
        } honest: {
            $0.answer($0.upload(1), 400, #"{"retryable":false}"#)
            $0.wait(.seconds(2))
            $0.answer($0.upload(2), 400, #"{"retryable":false}"#)
            $0.wait(.seconds(9))
            $0.answer($0.upload(1), 400, #"{"retryable":false}"#)
        },
    ]

    private static let streams = [
        RuleRow(rule: .lastEventID) {
            let job = $0.job()
            let lost = $0.stream(job)
            $0.progress(lost, 1)
            $0.lose(lost)
            $0.wait(.seconds(1))
            $0.complete($0.stream(job))
            $0.delete(job)
        } honest: {
            let job = $0.job()
            $0.lose($0.stream(job))
            let lost = $0.stream(job)
            $0.progress(lost, 1)
            $0.lose(lost)
            $0.wait(.seconds(1))
            let left = $0.stream(job, after: "1-progress")
            // It is killed, and knows of nothing any more.
            $0.lose(left, .left)
            $0.complete($0.stream(job))
            $0.delete(job)
        },
        RuleRow(rule: .streamResumed) {
            let job = $0.job(1)
            $0.lose($0.stream(job))
            $0.wait(.seconds(9))
            $0.scan(2)
        } honest: {
            let job = $0.job(1)
            $0.lose($0.stream(job))
            $0.wait(.seconds(6))
            $0.scan(2)
        },
        RuleRow(rule: .streamClosed) {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.wait(.seconds(1))
            $0.complete($0.stream(job))
            $0.delete(job)
        } honest: {
            let job = $0.job()
            $0.complete($0.stream(job))
            // It is started again.
            $0.wait(.seconds(6))
            $0.complete($0.stream(job, after: "9-completed"))
            $0.delete(job)
        },
        RuleRow(rule: .streamsBounded) { client in
            for photo in 1...6 as ClosedRange<UInt8> { _ = client.stream(client.job(photo)) }
        } honest: { client in
            let streams = (1...5 as ClosedRange<UInt8>).map { client.stream(client.job($0)) }
            client.complete(streams[0])
            client.delete("job-1")
            _ = client.stream(client.job(6))
        },
        RuleRow(rule: .statusPolling) {
            let job = $0.job()
            $0.poll(job)
            $0.wait(.seconds(1))
            $0.poll(job)
        } honest: {
            let job = $0.job()
            $0.poll(job)
            $0.wait(.milliseconds(1_900))
            $0.poll(job, says: "completed")
            $0.fetch(job)
            $0.delete(job)
        },
    ]

    private static let jobs = [
        RuleRow(rule: .resultsNeeded) {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.fetch(job)
            $0.delete(job)
        } honest: {
            for (photo, books) in [(1, nil), (2, "[]"), (3, #"[{"title":"A"}]"#)] as [(UInt8, String?)] {
                let job = $0.job(photo)
                $0.complete($0.stream(job), books: books)
                $0.fetch(job)
                $0.delete(job)
            }
        },
        RuleRow(rule: .resultsFetched) {
            let job = $0.job(1)
            $0.complete($0.stream(job), books: nil)
            $0.wait(.seconds(1))
            $0.scan(2)
        } honest: {
            let job = $0.job(1)
            $0.complete($0.stream(job), books: nil)
            $0.wait(.seconds(1))
            $0.answer($0.results(job), 503)
            $0.scan(2)
        },
        RuleRow(rule: .resultsOnce) {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            $0.fetch(job)
            $0.fetch(job)
            $0.delete(job)
        } honest: {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            $0.lose($0.results(job))
            // The end is missing.
            $0.answer($0.results(job), 200, #"{"data":{"results":[{"#)
            $0.fetch(job)
            $0.delete(job)
        },
        RuleRow(rule: .resultsLean) {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            $0.answer($0.results(job, query: ""), 200, #"{"data":{"results":\#(TriedClient.books)}}"#)
            $0.delete(job)
        } honest: {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            $0.answer(
                $0.results(job, query: "?x=1&format=lite"), 200,
                #"{"data":{"results":\#(TriedClient.books)}}"#)
            $0.delete(job)
        },
        RuleRow(rule: .jobDeleted) {
            let job = $0.job(1)
            $0.complete($0.stream(job))
            $0.wait(.seconds(1))
            $0.scan(2)
        } honest: {
            let job = $0.job(1)
            $0.complete($0.stream(job))
            // It may have been killed.
            $0.wait(.seconds(9))
        },
        RuleRow(rule: .jobNotDeletedEarly) {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            $0.delete(job)
        } honest: {
            for photo in [1, 2] as [UInt8] {
                let job = $0.job(photo)
                let stream = $0.stream(job)
                // Its user leaves the scan.
                if photo == 1 { $0.lose(stream, .left) } else { $0.complete(stream) }
                $0.delete(job)
            }
        },
        RuleRow(rule: .jobDeletedOnce) {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.delete(job)
            $0.delete(job)
        } honest: {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.lose($0.askDelete(job))
            $0.delete(job)
        },
        RuleRow(rule: .jobSilent) {
            let job = $0.job()
            $0.complete($0.stream(job), books: "[]")
            $0.delete(job)
            $0.answer($0.results(job), 410)
        } honest: {
            $0.scan(1)
            $0.scan(2)
        },
        RuleRow(rule: .deleteRepeated) {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.answer($0.askDelete(job), 503)
            $0.wait(.seconds(8))
        } honest: {
            let job = $0.job()
            $0.complete($0.stream(job))
            $0.answer($0.askDelete(job), 503, retryAfter: "2")
            $0.wait(.seconds(9))
        },
    ]
}
