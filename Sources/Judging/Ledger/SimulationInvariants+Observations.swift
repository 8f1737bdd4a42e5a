import Observations
import SimBase
import Talaria

// Observations of the phones and of the backend.

extension SimulationInvariants {
    mutating func phone(_ payload: PhoneObservation, _ seen: Observation, _ phoneIndex: Int) {
        if let unanswered = self.states[phoneIndex].unanswered {
            self.answered(unanswered, payload, seen, phoneIndex)
        }
        self.silences.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex)
        for overtaking in self.order.overtakings(of: phoneIndex, before: seen.at) {
            self.report(overtaking, of: seen.device)
        }
        self.order.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex)
        self.unsettled?.record(payload, scan: seen.scan, phoneIndex: phoneIndex)
        self.backoffs.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex)
        for complaint in self.backoffs.takeComplaints() {
            self.violate(complaint.invariant, seen, complaint.text)
        }
        if let wrong = self.gates.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex) {
            self.violate(.retryBudget, seen, wrong)
        }
        if let wrong = self.deletes.record(payload, scan: seen.scan, at: seen.at, phoneIndex: phoneIndex) {
            self.violate(.jobCleanedOnce, seen, wrong)
        }
        self.recordRequest(payload, seen, phoneIndex)
    }

    /// Requests and streams.
    private mutating func recordRequest(
        _ payload: PhoneObservation, _ seen: Observation, _ phoneIndex: Int
    ) {
        switch payload {
        case .requestSent(let operation, let attempt, let job, let lastEventID):
            self.forms.sent(
                operation, attempt, job: job, lastEventID: lastEventID, scan: seen.scan, at: seen.at,
                phoneIndex: phoneIndex)
            self.sent(operation, attempt, job, seen, phoneIndex)
        case .replied(let operation, let attempt, let status, let took):
            self.replied(operation, attempt, status, took: took, seen, phoneIndex)
        case .requestFailed(let operation, let attempt, let failure, let took):
            self.ended(operation, attempt, isAnswer: false, seen, phoneIndex)
            if took < .zero { self.violate(.timeSane, seen, "a failure before its request") }
            if failure == .timedOut { self.judgeTimeout(operation, attempt, took, seen) }
        case .eventIgnored(_, _, let name, malformed: true):
            self.unreadable("an event \(name.bounded)", seen, phoneIndex)
        // A status that no contract names for a stream has been read, and means nothing.
        case .badAnswer(.stream, _, .unexpectedStatus)
        where self.states[phoneIndex].unnamed.contains(seen.scan): break
        case .badAnswer(.stream, _, .unexpectedStatus):
            self.unreadable("the status of a stream that the contract names", seen, phoneIndex)
        case .badAnswer(.stream, _, let problem): self.unreadable(problem.rawValue, seen, phoneIndex)
        // The answer to any other request has nothing to do with what was written on the stream.
        case .badAnswer(let operation, let attempt, let problem) where problem != .unexpectedStatus:
            guard !self.states[phoneIndex].answers.areFaulted(operation, scan: seen.scan, attempt: attempt)
            else { return }
            self.violate(
                .streamParseRobust, seen,
                "the answer to \(operation.name) \(attempt) is \(problem.rawValue), although no fault had made it unreadable"
            )
        case .eventApplied(_, _, _, let latency?, _):
            if latency < .zero { self.violate(.timeSane, seen, "an event applied before it was written") }
        case .rateLimited(.upload, let retryAfter):
            self.released(at: seen.at + retryAfter, phoneIndex)
        default: self.recordLife(payload, seen, phoneIndex)
        }
    }

    private mutating func replied(
        _ operation: Operation, _ attempt: UInt32, _ status: Int, took: Interval, _ seen: Observation,
        _ phoneIndex: Int
    ) {
        self.ended(operation, attempt, isAnswer: true, seen, phoneIndex)
        if took < .zero { self.violate(.timeSane, seen, "a response before its request") }
        if operation == .stream {
            self.states[phoneIndex].unnamed.removeAll { $0 == seen.scan }
            if !Self.isNamed(streamStatus: status) { self.states[phoneIndex].unnamed.append(seen.scan) }
        }
        guard status == 401, !operation.isDelete else { return }
        // A scan has one job at a time: an earlier one has a token of its own, and may still be owed its DELETE.
        let latest = self.states[phoneIndex].jobs.lastIndex { $0.scan == seen.scan }
        if let latest { self.states[phoneIndex].jobs[latest].refusedAt = seen.at }
    }

    /// The app, its phone and its scans.
    private mutating func recordLife(_ payload: PhoneObservation, _ seen: Observation, _ phoneIndex: Int) {
        switch payload {
        case .storageFilled:
            self.states[phoneIndex].isFull = true
            self.awaitsAnswers = true
        case .storageFreed:
            self.states[phoneIndex].isFull = false
            self.states[phoneIndex].freedAt = seen.at
        case .captured:
            if self.states[phoneIndex].isFull {
                self.states[phoneIndex].unanswered = (seen.device, seen.scan, seen.at)
            }
        case .pathReturned: self.comesBack(seen, phoneIndex)
        case .resumed, .launched:
            // By its user, and not because of a path.
            self.states[phoneIndex].isComingBack = false
            self.released(at: seen.at, phoneIndex)
        case .suspended, .pathLost, .pathChanged:
            self.states[phoneIndex].isComingBack = false
            if payload == .pathChanged { self.comesBack(seen, phoneIndex) }
            self.states[phoneIndex].requests.interrupted()
        case .killed: self.states[phoneIndex].requests.killed()
        case .cancelRequested: self.cancelRequested(seen.scan, phoneIndex)
        case .recordKept(let job?, _, decided: false): self.recordKept(job, at: seen.at, phoneIndex)
        case .reinstalled:
            self.forms.reinstalled(phoneIndex)
            let isFull = self.states[phoneIndex].isFull
            self.states[phoneIndex] = Phone()
            self.states[phoneIndex].isFull = isFull
        case .completed, .refused, .canceled:
            self.settled(seen.scan, phoneIndex)
        default: break
        }
    }

    private mutating func cancelRequested(_ scan: ScanNumber, _ phoneIndex: Int) {
        self.states[phoneIndex].requests.canceled(scan)
        // The body of a 401 may still be on its way: its DELETE is one request more.
        for index in self.states[phoneIndex].jobs.indices
        where self.states[phoneIndex].jobs[index].scan == scan {
            self.states[phoneIndex].jobs[index].refusedAt = nil
        }
    }

    private mutating func recordKept(_ job: String, at: Instant, _ phoneIndex: Int) {
        // The next process cannot know of a 401 that there was no time or no room to write down.
        guard let index = self.states[phoneIndex].jobs.lastIndex(where: { $0.id == job }),
            let refusedAt = self.states[phoneIndex].jobs[index].refusedAt,
            self.states[phoneIndex].isFull
                || max(refusedAt, self.states[phoneIndex].freedAt) + Self.recordTime >= at
        else { return }
        self.states[phoneIndex].jobs[index].refusedAt = nil
    }

    /// Something is seen of a phone that has captured without room for the record.
    private mutating func answered(
        _ capture: (device: DeviceNumber, scan: ScanNumber, at: Instant), _ payload: PhoneObservation,
        _ seen: Observation, _ phoneIndex: Int
    ) {
        if case .refused = payload, seen.scan == capture.scan {
            self.states[phoneIndex].unanswered = nil
        } else if capture.at < seen.at {
            self.states[phoneIndex].unanswered = nil
            self.silent(capture.scan, of: capture.device, at: seen.at)
        }
    }

    mutating func silent(_ scan: ScanNumber, of device: DeviceNumber, at moment: Instant) {
        self.findings.violate(
            .memoryBounded, device: device, scan: scan, at: moment,
            "captured without room for its record, but not refused at once")
    }

    mutating func backend(_ payload: BackendObservation, _ seen: Observation) {
        switch payload {
        case .accepted(let job, _):
            if self.settings.isSettled {
                self.alive[job] = Owner(device: seen.device, scan: seen.scan)
            }
            let phoneIndex = self.phoneIndex(of: seen.device)
            self.forms.accepted(job, scan: seen.scan, phoneIndex: phoneIndex)
            guard
                let index = self.states[phoneIndex].uploads.firstIndex(where: { $0.scan == seen.scan })
            else { return }
            self.states[phoneIndex].uploads[index].count -= 1
            guard self.states[phoneIndex].uploads[index].count < 0 else { return }
            self.violate(.jobOrphansBounded, seen, "more jobs than uploads")
        case .cleaned(let job, effective: true):
            self.alive[job] = nil
            let phoneIndex = self.phoneIndex(of: seen.device)
            let known = Digest.of(job)
            if self.states[phoneIndex].cleaned.contains(known) {
                self.violate(.jobCleanedOnce, seen, "job \(job.bounded) deleted twice with effect")
            }
            self.states[phoneIndex].cleaned.append(known)
            if self.states[phoneIndex].cleaned.count > 16 { self.states[phoneIndex].cleaned.removeFirst() }
        case .canceled(let job), .expired(let job), .vanished(let job):
            self.alive[job] = nil
        case .problem(let operation, let attempt, let status, _, _, let wait?):
            let phoneIndex = self.phoneIndex(of: seen.device)
            self.backoffs.receivedRetryAfter(
                operation, scan: seen.scan, attempt: attempt, wait: wait, status: status, at: seen.at,
                phoneIndex: phoneIndex)
            guard operation == .upload else { return }
            guard status != 429 else {
                self.gates.receivedRetryAfter(wait, scan: seen.scan, attempt: attempt, phoneIndex: phoneIndex)
                return
            }
            self.order.receivedRetryAfter(wait, scan: seen.scan, phoneIndex: phoneIndex)
        default: break
        }
    }

    /// Whether the contract says what a status means that is answered to the request for a stream (Docs/contract.md section 1.7).
    private static func isNamed(streamStatus status: Int) -> Bool {
        switch status {
        case 200, 401, 404, 408, 410, 429, 500...599: true
        default: false
        }
    }
}
