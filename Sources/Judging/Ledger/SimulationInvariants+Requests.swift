import Metrics
import Observations
import SimBase
import Talaria

// Requests of a phone: each is sent once, ends once and in its time, and requests what its token and its job allow.

extension SimulationInvariants {
    mutating func sent(
        _ operation: Operation, _ attempt: UInt32, _ job: String?, _ seen: Observation, _ phoneIndex: Int
    ) {
        let request = OpenRequests.Request(operation: operation, scan: seen.scan, attempt: attempt)
        if self.states[phoneIndex].requests.sent(request, at: seen.at) {
            self.violate(.requestOneFate, seen, "\(operation.name) sent while the previous one is still open")
        }
        let most = Self.requestsPerSecondMax(
            ofScans: self.states[phoneIndex].requests.scansOfThisSecond)
        if self.states[phoneIndex].requests.sentThisSecond == most + 1 {
            self.violate(.retryBudget, seen, "more than \(most) requests in one second")
        }
        if !operation.isDelete { self.judgeRelease(seen, phoneIndex) }
        if operation == .upload { self.uploaded(seen, phoneIndex) }
        guard let job else { return }
        self.asked(operation, job, seen, phoneIndex)
    }

    mutating func ended(
        _ operation: Operation, _ attempt: UInt32, isAnswer: Bool, _ seen: Observation, _ phoneIndex: Int
    ) {
        let request = OpenRequests.Request(operation: operation, scan: seen.scan, attempt: attempt)
        guard !self.states[phoneIndex].requests.ended(request, isAnswer: isAnswer) else { return }
        self.violate(.requestOneFate, seen, "\(operation.name) \(attempt) ended, but was not open")
    }

    /// The clock of a request begins again with each byte that moves. What its connection took to come about is not counted
    /// twice, and a byte that the phone saw a little before its link did is the same.
    mutating func judgeTimeout(
        _ operation: Operation, _ attempt: UInt32, _ took: Interval, _ seen: Observation
    ) {
        let general =
            self.fleet.value(of: seen.device, in: self.settings.requestTimeouts)
            ?? self.settings.requestTimeout
        let limit = operation == .stream ? self.settings.connectTimeout : general
        if took < limit - IdleTimeoutCheck.tick {
            self.violate(
                .requestOneFate, seen,
                "\(operation.name) \(attempt) timed out after \(took.wholeMilliseconds) ms; its timeout is \(limit.wholeMilliseconds) ms"
            )
            return
        }
        let link = self.givenUp.last {
            $0.device == seen.device && $0.at == seen.at && $0.scan == seen.scan && $0.operation == operation
                && $0.attempt == attempt
        }
        guard let link else { return }
        let transfer = Interval.milliseconds(
            Int64(link.photoBytes) * 1_000 / self.settings.uploadBytesPerSecondMin)
        guard link.photoBytes == 0 || took < limit + transfer - IdleTimeoutCheck.tick else { return }
        let idle = took - (max(link.movedAt, link.readyAt) - link.readyAt)
        guard idle < limit - Self.timeoutSlack else { return }
        self.violate(
            .requestOneFate, seen,
            "\(operation.name) \(attempt) timed out \((seen.at - link.movedAt).wholeMilliseconds) ms after a byte of it moved; its timeout is \(limit.wholeMilliseconds) ms"
        )
    }

    private mutating func asked(_ operation: Operation, _ job: String, _ seen: Observation, _ phoneIndex: Int)
    {
        guard let index = self.states[phoneIndex].jobs.lastIndex(where: { $0.id == job }) else {
            self.states[phoneIndex].jobs.append(
                SentJob(id: job, scan: seen.scan, isDeleted: operation.isDelete))
            return
        }
        let known = self.states[phoneIndex].jobs[index]
        if known.refusedAt != nil {
            self.violate(
                .authNoStaleUse, seen, "\(operation.name) with a token that had been answered with 401")
        }
        if known.isDeleted, operation == .stream || operation == .results || operation == .status {
            self.violate(.jobSilentAfterCleanup, seen, "\(operation.name) after the job's DELETE")
        }
        if operation.isDelete { self.states[phoneIndex].jobs[index].isDeleted = true }
    }

    private mutating func uploaded(_ seen: Observation, _ phoneIndex: Int) {
        if let index = self.states[phoneIndex].uploads.firstIndex(where: { $0.scan == seen.scan }) {
            self.states[phoneIndex].uploads[index].count += 1
        } else {
            self.states[phoneIndex].uploads.append((seen.scan, 1))
        }
    }

    mutating func unreadable(_ what: String, _ seen: Observation, _ phoneIndex: Int) {
        guard !self.states[phoneIndex].troubled.contains(seen.scan) else { return }
        self.violate(
            .streamParseRobust, seen, "\(what) could not be parsed, although no fault had made it unreadable")
    }

    mutating func settled(_ scan: ScanNumber, _ phoneIndex: Int) {
        self.states[phoneIndex].troubled.removeAll { $0 == scan }
        self.states[phoneIndex].unnamed.removeAll { $0 == scan }
        self.states[phoneIndex].uploads.removeAll { $0.scan == scan }
        self.states[phoneIndex].requests.settled(scan)
        // Of its jobs a DELETE may still be under way; of the scans before nothing is.
        self.states[phoneIndex].isOver.append(scan)
        guard self.states[phoneIndex].isOver.count > 16 else { return }
        let gone = self.states[phoneIndex].isOver.removeFirst()
        self.states[phoneIndex].jobs.removeAll { $0.scan == gone }
        self.states[phoneIndex].requests.forget(gone)
        self.states[phoneIndex].troubled.removeAll { $0 == gone }
        self.states[phoneIndex].unnamed.removeAll { $0 == gone }
    }
}
