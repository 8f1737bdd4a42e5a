import ClientTrial
import SimBase
import Talaria
import Testing

/// The rules of a trial of clients.
@Suite struct ClientTrialTests {
    private static func tried(_ history: (inout TriedClient) -> Void) -> TriedClient {
        var client = TriedClient()
        history(&client)
        return client
    }

    // MARK: The table

    @Test func `every rule has a row`() {
        #expect(Set(RuleRow.all.map(\.rule)) == Set(ClientRule.allCases))
    }

    @Test(arguments: RuleRow.all.map(\.rule))
    func `a client that breaks a rule is named, with an example`(rule: ClientRule) throws {
        let row = try #require(RuleRow.all.first { $0.rule == rule })
        let report = Self.tried(row.broken).report
        #expect(report.broken == [rule])
        let result = try #require(report.results.first { $0.rule == rule })
        #expect(result.breaks == 1 && result.occasions >= 1)
        let example = try #require(result.example)
        #expect(!example.text.isEmpty)
        #expect(example.device != nil)
    }

    @Test(arguments: RuleRow.all.map(\.rule))
    func `a client that comes near to it is not`(rule: ClientRule) throws {
        let row = try #require(RuleRow.all.first { $0.rule == rule })
        let report = Self.tried(row.honest).report
        #expect(report.broken == [])
    }

    @Test(arguments: ClientRule.allCases)
    func `a rule has an id, a sentence and a source, and is found by its id`(rule: ClientRule) {
        #expect(ClientRule(id: rule.id) == rule)
        #expect(ClientRule(id: rule.rawValue) == rule)
        #expect(!rule.statement.isEmpty && !rule.source.isEmpty)
    }

    // MARK: Requests

    @Test func `an id that changes on a connection, or with every scan, is another id`() {
        let onConnection = Self.tried {
            $0.scan(1)
            $0.device = TriedClient.otherDevice
            $0.scan(2)
        }
        #expect(onConnection.broken == [.deviceKept])
    }

    @Test func `there are no more device ids than phones`() {
        for (phones, isBroken) in [(nil, false), (1, true), (2, false)] as [(Int?, Bool)] {
            var rules = ClientTrialSettings()
            rules.phones = phones
            var client = TriedClient(rules)
            client.scan(1)
            client.connection = 2
            client.device = TriedClient.otherDevice
            client.scan(2)
            #expect(client.broken == (isBroken ? [.deviceKept] : []))
        }
    }

    @Test func `a request for a job of before is judged by its form alone`() {
        let client = Self.tried {
            $0.answer($0.results("old"), 200, #"{"data":{"results":[]}}"#)
            $0.delete("old")
        }
        #expect(client.broken == [])
        #expect(client.report.isEmpty)
    }

    @Test func `a page in a browser may have its token in the query`() {
        var rules = ClientTrialSettings()
        for allows in [true, false] {
            rules.allowsTokenInQuery = allows
            var client = TriedClient(rules)
            let job = client.job()
            client.device = nil
            client.open(
                client.ask(
                    "GET", "/v3/jobs/scans/\(job)/stream?token=token-\(job)", token: nil,
                    [HeaderField("Accept", "text/event-stream")]))
            #expect(client.broken == (allows ? [] : [.deviceID, .token, .tokenURL]))
        }
    }

    @Test(
        arguments: [
            ([], "no part"), ([TriedClient.part(1), TriedClient.part(2, name: "device_id")], "device_id"),
            ((1...6).map { TriedClient.part($0) }, "6 photos"),
            ([ClientUpload.Part(name: "photos[]", bytes: 9, prefix: Array("GIF89a".utf8))], "neither"),
        ] as [([ClientUpload.Part], String)])
    func `the parts of an upload are those of the contract`(parts: [ClientUpload.Part], word: String) {
        let client = Self.tried { $0.answer($0.upload(parts), 400) }
        let result = client.report.results.first { $0.rule == .uploadForm }
        #expect(result?.example?.text.contains(word) == true, "\(result?.example?.text ?? "-")")
    }

    @Test func `a dialect has its own name for a photo`() {
        var rules = ClientTrialSettings()
        rules.photoPart = "image"
        rules.allowsOtherParts = true
        var client = TriedClient(rules)
        client.answer(
            client.upload([TriedClient.part(1, name: "image"), TriedClient.part(2, name: "device_id")]), 202)
        #expect(client.broken == [])
    }

    // MARK: Waits

    @Test(
        arguments: [
            (nil, #"{"retryAfterMs":5000}"#), ("5", ""), ("7", #"{"retryAfterMs":5000}"#),
            ("5", #"{"error":{"details":{"retryAfterMs":7000}}}"#),
        ] as [(String?, String)])
    func `the shorter wait of header and body counts`(header: String?, body: String) {
        for (wait, isEarly) in [(4_850, true), (4_950, false)] as [(Int64, Bool)] {
            let client = Self.tried {
                $0.answer($0.upload(1), 429, body, retryAfter: header)
                $0.wait(.milliseconds(wait))
                $0.scan(1)
            }
            #expect(client.broken == (isEarly ? [.wait] : []))
        }
    }

    @Test func `the photo that was refused cannot have been on its way`() {
        let client = Self.tried {
            $0.answer($0.upload(1), 429, retryAfter: "5")
            $0.answer($0.upload(1), 429, retryAfter: "5")
        }
        #expect(client.broken == [.wait])
    }

    @Test func `a wait is for what was refused`() {
        let client = Self.tried {
            let job = $0.job(1)
            $0.answer($0.upload(2), 429, retryAfter: "60")
            $0.complete($0.stream(job))
            $0.delete(job)
        }
        #expect(client.broken == [])
        let results = Self.tried {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            $0.answer($0.results(job), 503, retryAfter: "5")
            $0.wait(.seconds(3))
            $0.fetch(job)
            $0.delete(job)
        }
        #expect(results.broken == [.wait])
    }

    @Test func `retries with the backoff of the contract pass, whatever is drawn`() {
        for draw in stride(from: 5, through: 100, by: 5) as StrideThrough<Int64> {
            var client = TriedClient()
            var ceiling: Int64 = 500
            for _ in 0..<9 {
                client.answer(client.upload(1), 503)
                client.wait(.milliseconds(max(20, ceiling * draw / 100)))
                ceiling = min(30_000, ceiling * 2)
            }
            client.scan(1)
            #expect(client.broken == [], "\(draw) %")
        }
    }

    @Test(arguments: [(Int64(80), false), (5, true)])
    func `streams that bring events are opened again after a wait`(wait: Int64, isBroken: Bool) {
        let client = Self.tried {
            let job = $0.job()
            for number in 1...5 {
                let stream = $0.stream(job, after: number > 1 ? "\(number - 1)-progress" : nil)
                $0.progress(stream, number)
                $0.lose(stream)
                $0.wait(.milliseconds(wait))
            }
            $0.complete($0.stream(job, after: "5-progress"))
            $0.delete(job)
        }
        #expect(client.broken == (isBroken ? [.backoff] : []))
    }

    @Test(
        arguments: [
            (Talaria.Operation.stream, 404), (.results, 410), (.cleanup, 404), (.cleanup, 403),
        ] as [(Talaria.Operation, Int)])
    func `what was refused for good is not requested again`(operation: Talaria.Operation, status: Int) {
        let client = Self.tried {
            let job = $0.job()
            if operation != .stream {
                $0.complete($0.stream(job), books: operation == .results ? nil : TriedClient.books)
            }
            for _ in 0..<2 {
                let id =
                    operation == .stream
                    ? $0.askStream(job) : operation == .results ? $0.results(job) : $0.askDelete(job)
                $0.answer(id, status)
                $0.wait(.seconds(1))
            }
        }
        #expect(client.broken == [.refusalFinal])
    }

    @Test(arguments: [(Int64(0), true), (1, false)])
    func `a job is not given up because of an event that ends no job`(seconds: Int64, isBroken: Bool) {
        let client = Self.tried {
            let job = $0.job()
            let stream = $0.stream(job)
            $0.send(stream, "ping", id: nil)
            $0.wait(.seconds(seconds))
            $0.lose(stream, .left)
            $0.delete(job)
        }
        #expect(client.broken == (isBroken ? [.jobNotDeletedEarly] : []))
    }

    @Test func `a wait for one photo is not a wait for others`() {
        for photo in [1, 2] as [UInt8] {
            let client = Self.tried {
                $0.answer($0.upload(1), 503, retryAfter: "5")
                $0.wait(.seconds(1))
                $0.scan(photo)
            }
            #expect(client.broken == (photo == 1 ? [.wait] : []))
        }
    }

    @Test(arguments: [(Int64(9), false), (10, true)])
    func `a photo that has become two jobs which nobody reads was uploaded once too often`(
        seconds: Int64, isBroken: Bool
    ) {
        let client = Self.tried {
            _ = $0.job(1)
            $0.wait(.seconds(1))
            _ = $0.job(1)
            $0.wait(.seconds(seconds))
        }
        #expect(client.broken == (isBroken ? [.uploadOnce] : []))
    }

    @Test func `a photo whose stream was lost is not uploaded in its place`() {
        let client = Self.tried {
            let job = $0.job(1)
            let stream = $0.stream(job)
            $0.progress(stream, 1)
            $0.lose(stream)
            $0.wait(.seconds(1))
            $0.scan(1)
        }
        #expect(client.broken == [.uploadOnce])
    }

    @Test func `a job that is over is deleted, not canceled`() {
        let client = Self.tried {
            let job = $0.job(1)
            $0.complete($0.stream(job))
            $0.answer($0.ask("DELETE", "/v3/jobs/scans/\(job)", token: "token-\(job)"), 409)
            $0.wait(.seconds(10))
        }
        #expect(client.broken == [.jobDeleted])
    }

    @Test(
        arguments: [(false, 1, [.refusalFinal]), (true, 1, []), (true, 2, [.retryOnce])]
            as [(Bool, Int, [ClientRule])])
    func `an error event says whether its photo is uploaded again`(
        retryable: Bool, repetitions: Int, broken: [ClientRule]
    ) {
        let client = Self.tried {
            for _ in 0...repetitions {
                let job = $0.job(1)
                $0.fail($0.stream(job), retryable: retryable)
                $0.delete(job)
                $0.wait(.seconds(3))
            }
        }
        #expect(client.broken == broken)
    }

    @Test func `a request that was refused as such may be made again`() {
        let client = Self.tried {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            $0.answer($0.results(job), 400)
            $0.wait(.seconds(1))
            $0.fetch(job)
            $0.delete(job)
        }
        #expect(client.broken == [])
    }

    @Test func `a photo of several scans is not a repetition`() {
        let client = Self.tried {
            $0.scan(1)
            for _ in 0..<4 {
                let job = $0.job(1)
                $0.fail($0.stream(job), retryable: false)
                $0.delete(job)
            }
        }
        #expect(client.broken == [])
    }

    // MARK: Streams

    @Test(arguments: [("7-progress", "no id that was sent"), ("1-progress", "older than 2")])
    func `a stream goes on behind what has come`(id: String, text: String) {
        let client = Self.tried {
            let job = $0.job()
            let lost = $0.stream(job)
            $0.progress(lost, 1)
            $0.progress(lost, 2)
            $0.wait(.seconds(3))
            $0.progress(lost, 3)
            $0.lose(lost)
            $0.complete($0.stream(job, after: id))
            $0.delete(job)
        }
        #expect(client.broken == [.lastEventID])
        let example = client.report.results.first { $0.rule == .lastEventID }?.example
        #expect(example?.text.contains(text) == true)
    }

    @Test func `an event just before a reset need not have come`() {
        let client = Self.tried {
            let job = $0.job()
            let lost = $0.stream(job)
            $0.progress(lost, 1)
            $0.wait(.seconds(3))
            $0.progress(lost, 2)
            $0.lose(lost, .reset)
            $0.complete($0.stream(job, after: "1-progress"))
            $0.delete(job)
        }
        #expect(client.broken == [])
    }

    @Test(arguments: [(Int64(5), false), (6, true)])
    func `a stream that its server leaves open is closed by its client`(seconds: Int64, isLate: Bool) {
        let client = Self.tried {
            let job = $0.job()
            let stream = $0.stream(job)
            $0.send(stream, "completed", id: "9-completed", #"{"books":\#(TriedClient.books)}"#)
            $0.delete(job)
            $0.wait(.seconds(seconds))
            $0.lose(stream, .left)
        }
        #expect(client.broken == (isLate ? [.streamClosed] : []))
    }

    @Test func `a terminal event just before a cut need not have come`() {
        let client = Self.tried {
            let job = $0.job()
            let lost = $0.stream(job)
            $0.progress(lost, 1)
            $0.send(lost, "completed", id: "9-completed", #"{"books":\#(TriedClient.books)}"#)
            $0.lose(lost, .reset)
            $0.wait(.seconds(1))
            $0.complete($0.stream(job, after: "1-progress"))
            $0.delete(job)
        }
        #expect(client.broken == [])
    }

    @Test func `a stream that is open for too long is named while it is open`() {
        let client = Self.tried {
            let job = $0.job()
            $0.send($0.stream(job), "completed", id: "9-completed", #"{"books":\#(TriedClient.books)}"#)
            $0.delete(job)
            $0.wait(.seconds(6))
        }
        #expect(client.broken == [.streamClosed])
    }

    @Test func `the events of every dialect end a job`() {
        for (name, data) in [
            ("message", #"{"type":"complete","data":{"booksFound":1}}"#),
            ("failed", #"{"error":{"code":"X","retryable":true}}"#),
            ("completed", #"{"type":"complete","books":\#(TriedClient.books)}"#),
        ] {
            let client = Self.tried {
                let job = $0.job()
                let stream = $0.stream(job)
                $0.send(stream, "message", id: nil, #"{"type":"result","data":{"title":"A"}}"#)
                $0.send(stream, name, id: nil, data)
                $0.end(stream)
                $0.delete(job)
            }
            #expect(client.broken == [], "\(name)")
        }
    }

    @Test func `a job that is deleted in the place of its lost stream was given up too early`() {
        let client = Self.tried {
            let job = $0.job()
            $0.lose($0.stream(job))
            $0.wait(.seconds(5))
            $0.delete(job)
        }
        #expect(client.broken == [.streamResumed])
    }

    // MARK: Jobs

    @Test func `results that nobody has announced are not requested`() {
        let blind = Self.tried {
            let job = $0.job()
            $0.answer($0.results(job), 404)
        }
        #expect(blind.broken == [.resultsNeeded])
        let afterLoss = Self.tried {
            let job = $0.job()
            $0.lose($0.stream(job))
            $0.answer($0.results(job), 404)
        }
        #expect(afterLoss.broken == [])
    }

    @Test func `a job is not deleted while its stream is open`() {
        let client = Self.tried {
            let job = $0.job()
            $0.progress($0.stream(job), 1)
            $0.delete(job)
        }
        #expect(client.broken == [.jobNotDeletedEarly])
    }

    @Test(arguments: [(1, true), (3, false)])
    func `results are tried again before their job is deleted`(tries: Int, isEarly: Bool) {
        let client = Self.tried {
            let job = $0.job()
            $0.complete($0.stream(job), books: nil)
            for _ in 0..<tries {
                $0.answer($0.results(job), 503)
                $0.wait(.seconds(1))
            }
            $0.delete(job)
        }
        #expect(client.broken == (isEarly ? [.jobNotDeletedEarly] : []))
    }

    @Test func `a job whose user cancels it is not judged further`() {
        let client = Self.tried {
            let job = $0.job(1)
            let stream = $0.stream(job)
            $0.answer($0.ask("DELETE", "/v3/jobs/scans/\(job)", token: "token-\(job)"), 200)
            $0.fail(stream, retryable: false)
            $0.wait(.seconds(20))
            $0.scan(1)
        }
        #expect(client.broken == [])
    }

    @Test func `phones of v2 are not asked for what v2 does not have`() {
        let client = Self.tried {
            $0.device = nil
            let upload = $0.ask("POST", "/api/batch-scan")
            $0.answer(upload, 202, #"{"data":{"jobId":"scan_1","authToken":"t"}}"#)
            let stream = $0.ask(
                "GET", "/api/v2/scans/scan_1/stream?token=t", [HeaderField("Accept", "text/event-stream")])
            $0.open(stream)
            $0.complete(stream, books: nil)
            $0.wait(.seconds(20))
        }
        #expect(client.broken == [])
        #expect(client.report.jobs == 1)
    }

    // MARK: Memory

    @Test func `a job is forgotten with what is to be said of it`() {
        let client = Self.tried {
            let job = $0.job(1)
            $0.complete($0.stream(job))
            $0.wait(.hours(3))
            $0.scan(2)
            $0.wait(.hours(3))
            $0.scan(3)
        }
        let result = client.report.results.first { $0.rule == .jobDeleted }
        #expect(client.broken == [.jobDeleted])
        #expect(result?.breaks == 1)
        #expect(client.report.jobs == 3)
    }

    // MARK: Verdicts

    @Test func `a verdict says what is broken, and what should have been`() {
        let report = Self.tried { $0.scan() }.report
        let row = RuleRow.all.first { $0.rule == .jobDeleted }
        let broken = Self.tried { row?.broken(&$0) }.report
        let note = RuleRow.all.first { $0.rule == .resultsOnce }
        #expect(
            ClientVerdict(Self.tried { note?.broken(&$0) }.report, ClientExpectations()) == .passed)
        var expectations = ClientExpectations()
        #expect(ClientVerdict(report, expectations) == .passed)
        #expect(ClientVerdict(TriedClient().report, expectations) == .nothingToJudge)
        #expect(ClientVerdict(broken, expectations) == .broken([.jobDeleted]))
        expectations.known = [.jobDeleted]
        #expect(ClientVerdict(broken, expectations) == .passed)
        #expect(ClientVerdict(report, expectations) == .passed)
        expectations.breaks = [.jobDeleted]
        #expect(ClientVerdict(broken, expectations) == .passed)
        #expect(ClientVerdict(report, expectations) == .heldUnexpectedly([.jobDeleted]))
    }
}
