import Phone
import SimBase
import Talaria
import Testing

/// The least backend that a journey needs, written for these tests: it accepts a request and returns what the
/// phone receives, step by step.
struct StubTalaria {
    var booksPerScan = 3
    /// The books are left out of the terminal event.
    var isStripped = false
    /// Scan -> whether one of its jobs answered each results or stream request with an expired token once.
    var expiresFirstToken = false
    /// The first job of every scan ends in a retryable error.
    var failsFirst = false
    /// Connections of streams die after this many events, once for each job.
    var resetsAfter: Int?

    private struct Job {
        var scan: UInt32
        var isClean = false
        var wasReset = false
    }

    private var jobs: [Job] = []
    private(set) var effectiveDeletes = 0

    init() {}

    var liveJobs: Int { self.jobs.count { !$0.isClean } }

    mutating func steps(_ request: AppRequest) -> [AppEvent] {
        switch request.operation {
        case .upload:
            self.jobs.append(Job(scan: request.scan.raw))
            return self.answer(request, 202, Wording.accepted(job: "job-\(self.jobs.count - 1)"))
        case .stream:
            return self.stream(request)
        case .results:
            guard let job = self.job(request), !self.jobs[job].isClean else {
                return self.answer(request, 404, [])
            }
            return self.answer(request, 200, Wording.results(job: "job-\(job)", books: self.booksPerScan))
        case .cleanup:
            guard let job = self.job(request), !self.jobs[job].isClean else {
                return self.answer(request, 404, [])
            }
            self.jobs[job].isClean = true
            self.effectiveDeletes += 1
            return self.answer(request, 204, [])
        case .status, .cancel, .refresh:
            Issue.record("a request that the contract phone does not make")
            return []
        }
    }

    private func job(_ request: AppRequest) -> Int? {
        let name = request.target.split(separator: "/").first { $0.hasPrefix("job-") }
        return name.flatMap { Int($0.dropFirst(4)) }.flatMap { self.jobs.indices.contains($0) ? $0 : nil }
    }

    private func answer(_ request: AppRequest, _ status: Int, _ body: [UInt8]) -> [AppEvent] {
        let type = status < 400 ? Contract.jsonType : Problem.contentType
        let head = ReplyHead(status: status, contentType: type, retryAfter: nil)
        return [.replyHead(request.id, head)] + (body.isEmpty ? [] : [.replyBytes(request.id, body[...])])
            + [.replyEnded(request.id)]
    }

    private mutating func stream(_ request: AppRequest) -> [AppEvent] {
        guard let job = self.job(request), !self.jobs[job].isClean else {
            return self.answer(request, 410, [])
        }
        let isFirst = self.jobs[..<job].contains { $0.scan == self.jobs[job].scan } == false
        if self.expiresFirstToken, isFirst {
            return self.answer(request, 401, Wording.problem(.tokenExpired))
        }
        let name = "job-\(job)"
        var log = [
            ("1-progress", Wording.progress("1-progress", job: name)),
            ("2-progress", Wording.progress("2-progress", job: name)),
        ]
        if self.failsFirst, isFirst {
            log.append(("9-error", Wording.error(retryable: true)))
        } else if self.isStripped {
            log.append(("9-completed", Wording.completed(rawBooks: nil, job: name)))
        } else {
            log.append(("9-completed", Wording.completed(job: name, books: self.booksPerScan)))
        }
        if let last = request.headers.first(where: { $0.name == "Last-Event-ID" })?.value,
            let index = log.firstIndex(where: { $0.0 == last })
        {
            log.removeSubrange(...index)
        }
        let head = ReplyHead(status: 200, contentType: "text/event-stream", retryAfter: nil)
        var steps = [AppEvent.replyHead(request.id, head)]
        if let limit = self.resetsAfter, !self.jobs[job].wasReset {
            self.jobs[job].wasReset = true
            steps += log.prefix(limit).map { .replyBytes(request.id, Array($0.1.utf8)[...]) }
            return steps + [.replyFailed(request.id, .reset)]
        }
        steps += log.map { .replyBytes(request.id, Array($0.1.utf8)[...]) }
        return steps + [.replyEnded(request.id)]
    }
}
