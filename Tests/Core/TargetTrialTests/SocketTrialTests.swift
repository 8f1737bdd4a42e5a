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
}
