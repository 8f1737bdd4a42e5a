import Backend
import Faults
import JSON
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing

@Suite struct UploadTests {
    @Test func `an upload is answered with all that the contract names`() throws {
        var bench = Bench()
        let effects = bench.upload()
        let reply = try #require(effects.reply)
        let body = try #require(JSON.decode(UploadAccepted.self, from: reply.body))
        let id = body.data.jobId
        let token = body.data.authToken ?? ""
        let requestID = effects.header("X-Request-ID") ?? ""
        #expect(reply.status == 202)
        #expect(
            reply.headers == [
                HeaderField("X-Request-ID", requestID), HeaderField("Content-Type", "application/json"),
            ])
        #expect(
            effects.bodyText == """
                {"_links":{"cancel":{"href":"/v3/jobs/scans/\(id)","method":"DELETE","rel":"cancel"},\
                "self":{"href":"/v3/jobs/scans/\(id)","method":"GET","rel":"self"},\
                "stream":{"href":"/v3/jobs/scans/\(id)/stream","method":"GET","rel":"stream"}},\
                "data":{"authToken":"\(token)","jobId":"\(id)","sseUrl":"/v3/jobs/scans/\(id)/stream",\
                "statusUrl":"/v3/jobs/scans/\(id)"},"metadata":{"requestId":"\(requestID)",\
                "timestamp":"2026-02-01T12:00:00.000Z"},"success":true}
                """)
        #expect(
            id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(token.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        #expect(
            effects.backendSightings == [
                .requested(.upload, attempt: 1, connection: 1), .accepted(job: id, books: 3),
                .answered(.upload, attempt: 1, status: 202),
            ])
        #expect(bench.backend.jobsAlive == 1)
        #expect(bench.backend.uploadsOpen == 0)
    }

    @Test func `links are absolute where that is asked for`() throws {
        var bench = Bench { $0.urlForm = .absolute(base: "https://api.oooefam.net") }
        let reply = try #require(bench.upload().reply)
        let body = try #require(JSON.decode(UploadAccepted.self, from: reply.body))
        #expect(body.data.sseUrl == "https://api.oooefam.net/v3/jobs/scans/\(body.data.jobId)/stream")
        #expect(body.data.statusUrl == "https://api.oooefam.net/v3/jobs/scans/\(body.data.jobId)")
        #expect(body._links?.cancel.href == body.data.statusUrl)
    }

    @Test func `a job's identity is drawn by device, scan and attempt`() {
        func identity(_ caller: Caller, seed: UInt64 = 7) -> [String] {
            var bench = Bench(seed: seed)
            let job = bench.job(caller)
            return [job.id, job.token]
        }
        let one = identity(Bench.caller())
        #expect(one == identity(Bench.caller()))
        for other in [
            identity(Bench.caller(device: 5)), identity(Bench.caller(scan: 2)),
            identity(Bench.caller(attempt: 2)), identity(Bench.caller(), seed: 8),
        ] {
            #expect(other[0] != one[0])
            #expect(other[1] != one[1])
        }
    }

    @Test func `a caller that comes twice as the same gets two jobs`() {
        var bench = Bench()
        let first = bench.job()
        let second = bench.job()
        bench.cleanup(first)
        let third = bench.job()
        #expect(Set([first.id, second.id, third.id]).count == 3)
        #expect(Set([first.token, second.token, third.token]).count == 3)
        #expect(bench.backend.jobsAlive == 2)
    }

    @Test(
        arguments: [
            (nil, "400 INVALID_REQUEST"), ("", "400 INVALID_REQUEST"), ("image/jpeg", "400 INVALID_REQUEST"),
            ("multipart/form-data", "400 INVALID_REQUEST"),
            ("multipart/form-data; boundary=", "400 INVALID_REQUEST"),
            ("multipart/mixed; boundary=x", "400 INVALID_REQUEST"),
            ("Multipart/Form-Data; charset=utf-8; Boundary=\"x\"", "202"),
        ] as [(String?, String)])
    func `an upload is a multipart form`(contentType: String?, verdict: String) {
        var bench = Bench()
        #expect(bench.upload(contentType: contentType).verdict == verdict)
    }

    @Test(
        arguments: [
            (nil, "202"), (0, "400 INVALID_REQUEST"), (-1, "400 INVALID_REQUEST"), (50_065_536, "202"),
            (50_065_537, "413 FILE_TOO_LARGE"), (Int.max, "413 FILE_TOO_LARGE"),
        ] as [(Int?, String)])
    func `a body that is too large is refused before it is read`(length: Int?, verdict: String) {
        var bench = Bench()
        #expect(bench.upload(contentLength: length).verdict == verdict)
    }

    private static func part(
        _ name: String = "photos[]", bytes: Int = 100, prefix: [UInt8] = [0xFF, 0xD8]
    ) -> UploadPart {
        UploadPart(name: name, filename: nil, contentType: nil, bytes: bytes, prefix: prefix)
    }

    @Test(
        arguments: [
            ([], "400 INVALID_REQUEST"),
            ([part("image")], "400 INVALID_REQUEST"),
            ([part("photos")], "400 INVALID_REQUEST"),
            ([part(), part("note", prefix: [0x41])], "202"),
            (Array(repeating: part(), count: 5), "202"),
            (Array(repeating: part(), count: 6), "400 BATCH_TOO_LARGE"),
            ([part(bytes: 10_000_000)], "202"),
            ([part(), part(bytes: 10_000_001)], "413 FILE_TOO_LARGE"),
            ([part(prefix: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])], "202"),
            ([part(prefix: [0x89, 0x50, 0x4E, 0x47])], "400 INVALID_FILE"),
            ([part(prefix: [0xFF])], "400 INVALID_FILE"),
            ([part(), part(bytes: 0, prefix: [])], "400 INVALID_FILE"),
            ([part(prefix: Array("GIF89a".utf8))], "400 INVALID_FILE"),
        ] as [([UploadPart], String)])
    func `photos are one to five JPEG or PNG files of bounded size`(parts: [UploadPart], verdict: String) {
        var bench = Bench()
        #expect(bench.upload(parts).verdict == verdict)
        #expect(bench.backend.jobsAlive == (verdict == "202" ? 1 : 0))
        #expect(bench.backend.uploadsOpen == 0)
    }

    @Test func `photos have a limit together`() {
        var bench = Bench { $0.batchBytesMax = 150 }
        #expect(bench.upload([Self.part(), Self.part(bytes: 50)], contentLength: 400).verdict == "202")
        #expect(
            bench.upload([Self.part(), Self.part(bytes: 51)], contentLength: 400).verdict
                == "413 FILE_TOO_LARGE")
    }

    @Test(arguments: [
        (UploadFault.malformed("no boundary"), "400 INVALID_REQUEST"), (.tooLarge, "413 FILE_TOO_LARGE"),
        (.timedOut, "408 TIMEOUT"),
    ])
    func `a body that cannot be read is refused`(fault: UploadFault, verdict: String) {
        var bench = Bench()
        let (exchange, _) = bench.ask(
            "POST", "/v3/jobs/scans", contentType: "multipart/form-data; boundary=x")
        #expect(bench.backend.uploadsOpen == 1)
        #expect(bench.handle(.uploadFailed(exchange, fault)).verdict == verdict)
        #expect(bench.backend.uploadsOpen == 0)
        #expect(bench.handle(.uploaded(exchange, [Bench.jpeg])) == [])
    }

    @Test func `an upload whose sender is gone makes no job`() {
        var bench = Bench()
        let (exchange, _) = bench.ask(
            "POST", "/v3/jobs/scans", contentType: "multipart/form-data; boundary=x")
        #expect(bench.handle(.aborted(exchange)) == [])
        #expect(bench.handle(.uploaded(exchange, [Bench.jpeg])) == [])
        #expect(bench.handle(.uploadFailed(exchange, .timedOut)) == [])
        #expect(bench.backend.jobsAlive == 0)
    }

    @Test func `beyond the most jobs an upload is told to come back`() {
        var bench = Bench { $0.jobsMax = 2 }
        let first = bench.job()
        bench.ask("POST", "/v3/jobs/scans", contentType: "multipart/form-data; boundary=x")
        let refused = bench.upload(caller: Bench.caller(scan: 2))
        #expect(refused.verdict == "503 CIRCUIT_OPEN")
        #expect(refused.header("Retry-After") == "60")
        #expect(JSON.decode(Problem.self, from: refused.reply?.body ?? [])?.retryable == true)
        bench.cleanup(first)
        #expect(bench.upload(caller: Bench.caller(scan: 3)).status == 202)
    }

    @Test func `an upload is judged in a fixed order`() {
        var bench = Bench { $0.rateLimit = Quota(requests: 1, window: .seconds(10)) }
        _ = bench.job()
        // The rate limit comes before the content type, the content type before the length.
        #expect(bench.upload(contentType: "text/plain").verdict == "429 RATE_LIMIT_EXCEEDED")
        bench.now = bench.now + .seconds(10)
        #expect(bench.upload(contentType: "text/plain", contentLength: .max).verdict == "400 INVALID_REQUEST")
    }
}
