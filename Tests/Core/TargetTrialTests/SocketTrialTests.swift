import Observations
import SimBase
import Talaria
import TargetTrial
import Testing
import Wire

/// Targets whose jobs are followed by WebSocket.
@Suite struct SocketTrialTests {
    private static let job = "scan_3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    private static let other = "scan_3f2504e0-4f89-41d3-9a0c-0305e82c3302"

    private struct Message {
        var type: String
        var payload = #"{"progress":0.2,"status":"processing"}"#
        var job: String? = SocketTrialTests.job
        var pipeline = "ai_scan"
        var version = "1.0.0"
        /// Milliseconds since the start, which is at 0.
        var time: Int64? = 0

        var text: String {
            let members = [
                #""type":"\#(self.type)""#, self.job.map { #""jobId":"\#($0)""# },
                #""pipeline":"\#(self.pipeline)""#, self.time.map { #""timestamp":\#($0)"# },
                #""version":"\#(self.version)""#, #""payload":\#(self.payload)"#,
            ]
            return "{\(members.compactMap { $0 }.joined(separator: ","))}"
        }
    }

    private static let acknowledged = Message(type: "ready_ack", payload: #"{"timestamp":0}"#)
    private static let started = Message(type: "job_started", payload: #"{"totalCount":3}"#)
    private static let progress = Message(type: "job_progress")
    private static let complete = Message(type: "job_complete", payload: #"{"summary":{}}"#)

    private static func target() -> TriedTarget {
        var target = TriedTarget()
        target.exchange(
            "POST", "/api/batch-scan", 202,
            #"{"success":true,"data":{"jobId":"\#(Self.job)","authToken":"t","token":"t"}}"#, token: nil)
        return target
    }

    private static func send(_ texts: [String], to target: inout TriedTarget, isReturn: Bool = false)
        -> UInt64
    {
        let socket = target.openSocket(job: Self.job, isReturn: isReturn)
        for text in texts {
            target.wait(.milliseconds(10))
            target.send(WebSocketFrame(.text, Array(text.utf8)), on: socket)
        }
        return socket
    }

    /// What a target breaks that sends these messages.
    private func broken(
        _ messages: [Message], more: [String] = [], closedWith code: WebSocketCloseCode? = nil
    ) -> Set<TargetRule> {
        var target = Self.target()
        let socket = Self.send(messages.map(\.text) + more, to: &target)
        if let code { target.send(WebSocketFrame(WebSocketClose(code)), on: socket) }
        target.close(socket, isWhole: true)
        #expect(target.tried.contains(.socket))
        return Set(target.rules)
    }

    @Test func `messages of the contract break nothing`() {
        #expect(
            self.broken([Self.acknowledged, Self.started, Self.progress, Self.complete], closedWith: .normal)
                == [])
    }

    @Test func `a message of another job breaks job-addressed, by its envelope or by its payload`() {
        var envelope = Message(type: "job_progress", payload: #"{"progress":0.2,"jobId":"\#(Self.job)"}"#)
        envelope.job = Self.other
        let payload = Message(type: "job_progress", payload: #"{"progress":0.2,"jobId":"\#(Self.other)"}"#)
        for message in [envelope, payload] {
            #expect(
                self.broken([Self.acknowledged, Self.started, message, Self.complete]) == [.jobAddressed])
        }
    }

    @Test func `a websocketUrl of another job breaks job-addressed`() {
        func broken(_ link: String) -> [TargetRule] {
            var target = TriedTarget()
            target.exchange(
                "POST", "/api/batch-scan", 202,
                #"{"success":true,"data":{"jobId":"\#(Self.job)","token":"t","websocketUrl":"\#(link)"}}"#,
                token: nil)
            return target.rules
        }
        #expect(broken("wss://a.b/ws/progress?jobId=\(Self.job)") == [])
        #expect(broken("/ws/progress?v=1&jobId=\(Self.job)#top") == [])
        #expect(broken("/ws/progress") == [])
        #expect(broken("/ws/progress?jobId=\(Self.other)") == [.jobAddressed])
    }

    @Test func `a resourceId of another job breaks results-agree`() {
        func broken(_ key: String) -> Set<TargetRule> {
            let end = Message(type: "job_complete", payload: #"{"summary":{"resourceId":"\#(key)"}}"#)
            return self.broken([Self.acknowledged, Self.started, end])
        }
        #expect(broken("job-results:\(Self.job)") == [])
        #expect(broken("job-results:\(Self.job.dropFirst(5))") == [], "its UUID alone")
        #expect(broken("another form") == [])
        #expect(broken("job-results:\(Self.other)") == [.resultsAgree])
    }

    @Test func `an envelope of another form breaks socket`() {
        let flaws: [(inout Message) -> Void] = [
            { $0.job = nil }, { $0.version = "4" }, { $0.pipeline = "csv_import" }, { $0.time = nil },
            { $0.type = "progress" },
        ]
        for (index, flaw) in flaws.enumerated() {
            var message = Self.progress
            flaw(&message)
            #expect(self.broken([Self.acknowledged, Self.started, message]) == [.socket], "\(index)")
        }
        #expect(self.broken([Self.acknowledged], more: ["one"]) == [.socket])
        #expect(self.broken([Self.acknowledged], more: [Self.started.text + Self.progress.text]) == [.socket])
    }

    @Test(arguments: [25_000_000, .max, .min] as [Int64])
    func `a time that is not now breaks times`(time: Int64) {
        var other = Self.progress
        other.time = time
        #expect(self.broken([Self.acknowledged, Self.started, other]) == [.times])
    }

    @Test func `what comes before ready_ack breaks socket`() {
        #expect(self.broken([Self.started, Self.acknowledged]) == [.socket])
        #expect(self.broken([Self.started]) == [.socket])
    }

    @Test func `a client that comes back is given the state of the job`() {
        let back = Message(type: "reconnected")
        let empty = Message(type: "reconnected", payload: #"{"progress":0,"status":"processing"}"#)
        for (messages, rules) in [
            ([back], []), ([Self.complete], []), ([empty], [.socket]), ([Self.progress], [.socket]),
            ([Self.started], [.socket]),
        ] as [([Message], [TargetRule])] {
            var target = Self.target()
            let first = Self.send(
                [Self.acknowledged, Self.started, Self.progress].map(\.text), to: &target)
            target.close(first)
            _ = Self.send([Self.acknowledged.text] + messages.map(\.text), to: &target, isReturn: true)
            #expect(target.rules == rules, "\(messages)")
        }
    }

    @Test func `a client whose first socket was refused comes for the first time`() {
        var target = Self.target()
        target.exchange("GET", "/ws/progress?jobId=\(Self.job)", 503, "", token: nil)
        _ = Self.send(
            [Self.acknowledged, Self.started, Self.progress].map(\.text), to: &target, isReturn: true)
        #expect(target.rules == [])
    }

    @Test func `an end after which others come breaks terminal`() {
        let failed = Message(
            type: "error", payload: #"{"error":{"message":"m","code":"c"},"retryable":false}"#)
        #expect(self.broken([Self.acknowledged, Self.started, Self.complete, failed]).contains(.terminal))
    }

    @Test
    func `a normal closure without an end breaks terminal, and one with a reason to come back does not`() {
        #expect(self.broken([Self.acknowledged, Self.started], closedWith: .normal) == [.terminal])
        #expect(self.broken([Self.acknowledged, Self.started], closedWith: .internalError) == [])
    }

    @Test func `messages in another order than that in which they were made break socket`() {
        var (late, early) = (Self.progress, Self.progress)
        (late.time, early.time) = (20, 10)
        #expect(self.broken([Self.acknowledged, Self.started, late, early]) == [.socket])
        #expect(self.broken([Self.acknowledged, Self.started, early, late]) == [])
    }

    @Test func `an error in the close of a job that has completed breaks socket`() {
        let messages = [Self.acknowledged, Self.started, Self.complete]
        #expect(self.broken(messages, closedWith: .internalError) == [.socket])
        #expect(self.broken(messages, closedWith: .policyViolation) == [])
    }

    @Test func `the delay of a message is that from its timestamp`() {
        var target = Self.target()
        let socket = target.openSocket(job: Self.job)
        for (wait, time) in [(0, 0), (20, 20), (130, 50)] as [(Int64, Int64)] {
            target.wait(.milliseconds(wait))
            var message = Self.progress
            (message.time, message.payload) = (time, #"{"progress":0.\#(time + 10),"status":"processing"}"#)
            target.send(WebSocketFrame(.text, Array(message.text.utf8)), on: socket)
        }
        #expect(target.delays == [.zero, .zero, .milliseconds(100)])
    }

    // MARK: Refusals

    @Test func `a return within 60 s is not refused`() {
        for (wait, isReturn, rules) in [
            (1, true, [.socket]), (1, false, []), (58, true, []), (70, true, []),
        ] as [(Int64, Bool, [TargetRule])] {
            var target = Self.target()
            let first = Self.send([Self.acknowledged, Self.started].map(\.text), to: &target)
            target.close(first)
            target.wait(.seconds(wait))
            let again = target.askForSocket(job: Self.job, isReturn: isReturn)
            target.answer(again, 401, Self.refusal)
            #expect(target.rules == rules, "\(wait) s")
        }
    }

    @Test func `a token that was never used is not refused`() {
        var target = Self.target()
        target.answer(target.askForSocket(job: Self.job), 401, Self.refusal)
        #expect(target.rules == [.auth])
        var other = Self.target()
        other.answer(other.askForSocket(job: Self.job), 503, Self.refusal)
        other.answer(other.askForSocket(job: Self.job), 401, Self.refusal)
        #expect(other.rules == [], "its 101 may have been lost")
    }

    @Test func `a token that was exchanged is judged by its own life`() {
        let answer = #"{"success":true,"data":{"token":"u","expiresIn":600}}"#
        for (token, wait, rules) in [
            ("u", 60, [.auth]), ("u", 580, []), ("t", 60, []),
        ] as [(String, Int64, [TargetRule])] {
            var target = Self.target()
            _ = target.openSocket(job: Self.job)
            target.answer(target.askForToken("t", job: Self.job), 200, answer)
            target.wait(.seconds(wait))
            target.answer(target.askForSocket(job: Self.job, token: token), 401, Self.refusal)
            #expect(target.rules == rules, "\(token) after \(wait) s")
        }
        var other = Self.target()
        other.close(other.askForToken("t", job: Self.job))
        other.answer(other.askForSocket(job: Self.job), 401, Self.refusal)
        #expect(other.rules == [], "the answer with the new token may have been lost")
        var refusing = Self.target()
        refusing.answer(refusing.askForToken("t", job: Self.job), 401, Self.refusal)
        #expect(refusing.rules == [.auth])
    }

    private static let refusal =
        #"{"success":false,"error":{"code":"INVALID_TOKEN","message":"m"}}"#

    // MARK: Probes

    private static func probed() -> TriedTarget {
        var target = TriedTarget { $0.probes = true }
        for (job, token, device) in [(Self.other, "u", 2), (Self.job, "t", 1)] as [(String, String, UInt32)] {
            target.exchange(
                "POST", "/api/batch-scan", 202,
                #"{"success":true,"data":{"jobId":"\#(job)","authToken":"\#(token)","token":"\#(token)"}}"#,
                device: device, token: nil)
        }
        _ = target.ask(
            "GET", "/ws/progress", query: "jobId=\(Self.other)", device: 2, token: nil,
            subprotocols: ["bookstrack-auth.u"])
        _ = target.probes()
        return target
    }

    private static func follow(_ target: inout TriedTarget) -> (UInt64, [String: TriedTarget.Probe]) {
        let socket = target.askForSocket(job: Self.job)
        let first = target.probes()
        target.upgrade(socket)
        let probes = (first + target.probes()).map { ($0.kind, $0) }
        return (socket, Dictionary(probes, uniquingKeysWith: { first, _ in first }))
    }

    @Test func `a target is asked for a WebSocket without a right to it`() throws {
        var target = Self.probed()
        let probes = Self.follow(&target).1
        #expect(Set(probes.keys) == ["without-upgrade", "without-token", "foreign-token", "used-token"])
        let plain = try #require(probes["without-upgrade"])
        #expect(!plain.isUpgrade && plain.target == "/ws/progress?jobId=\(Self.job)")
        #expect(probes["without-token"]?.subprotocol == nil && probes["without-token"]?.isUpgrade == true)
        #expect(probes["foreign-token"]?.subprotocol == "bookstrack-auth.u")
        #expect(probes["used-token"]?.subprotocol == "bookstrack-auth.t")
        for kind in ["without-token", "foreign-token", "used-token"] {
            var (refusing, opening) = (target, target)
            let id = try #require(probes[kind]?.id)
            refusing.answer(id, 401, Self.refusal)
            #expect(refusing.rules == [] && refusing.tried.contains(.auth))
            opening.upgrade(id)
            #expect(opening.rules == [.auth] && opening.canceled() == [id], "\(kind)")
        }
    }

    @Test(arguments: [(426, []), (401, []), (200, [.socket]), (404, [.socket])] as [(Int, [TargetRule])])
    func `a request without an upgrade gets 426`(status: Int, rules: [TargetRule]) throws {
        var target = Self.probed()
        let id = try #require(Self.follow(&target).1["without-upgrade"]?.id)
        target.answer(id, status, Self.refusal)
        #expect(target.rules == rules)
    }

    /// A job that has ended, and the WebSocket of a client that comes back then.
    private static func back() throws -> (TriedTarget, UInt64) {
        var target = Self.probed()
        let (socket, _) = Self.follow(&target)
        for message in [Self.acknowledged, Self.started, Self.complete] {
            target.send(WebSocketFrame(.text, Array(message.text.utf8)), on: socket)
        }
        let probe = try #require(target.probes().first { $0.kind == "reconnect" })
        #expect(probe.target.hasSuffix("&reconnect=true") && probe.subprotocol == "bookstrack-auth.t")
        return (target, probe.id)
    }

    @Test func `a client that comes back after the end is given the end and the close`() throws {
        var (target, id) = try Self.back()
        target.upgrade(id)
        for message in [Self.acknowledged, Self.complete] {
            target.send(WebSocketFrame(.text, Array(message.text.utf8)), on: id)
        }
        var open = target
        target.send(WebSocketFrame(WebSocketClose(.normal)), on: id)
        #expect(target.canceled() == [id] && target.rules == [])
        open.wait(.seconds(10))
        #expect(open.canceled() == [])
        open.wait(.seconds(2))
        #expect(open.canceled() == [id] && open.rules == [.socket])
    }

    @Test func `a client that comes back after the end is not refused`() throws {
        var (target, id) = try Self.back()
        target.answer(id, 401, Self.refusal)
        #expect(target.rules == [.socket])
        var (deleting, other) = try Self.back()
        _ = deleting.ask("DELETE", "/v1/jobs/\(Self.job)")
        deleting.answer(other, 401, Self.refusal)
        #expect(deleting.rules == [], "its phone removes the job")
    }

    @Test func `the WebSocket of a job that was deleted does not open`() throws {
        var (target, _) = try Self.back()
        target.exchange("DELETE", "/v1/jobs/\(Self.job)", 204)
        target.wait(.seconds(5))
        let probe = try #require(
            target.probes().first { $0.kind == "deleted" && $0.target.hasPrefix("/ws/progress") })
        var refusing = target
        refusing.answer(probe.id, 401, Self.refusal)
        #expect(refusing.rules == [])
        target.upgrade(probe.id)
        #expect(target.rules == [.cleanup] && target.canceled().contains(probe.id))
    }
}
