internal import OriginServer
package import SimBase
internal import Talaria
package import Wire

/// Holds the clients of a server to the contract, by what they request and what they were sent (Docs/design.md section 11.13). A
/// value that receives requests, answers, events and ends with their times, and returns a report.
///
/// It sees what passes the sockets. What a client has read of it, it cannot know: a rule is judged only where no honest client
/// could have done the same because it was killed, left by its user or cut off.
package struct ClientTrial: Sendable {
    let rules: ClientTrialSettings
    var exchanges = SlotMap<UInt64, FollowedExchange>()
    var clients = SlotMap<String, FollowedClient>()
    var jobs = SlotMap<String, FollowedJob>()
    /// Every token that was given out, as a digest, with its job.
    var tokens: [UInt64: String] = [:]
    var tallies = RuleTallies()
    var devices = DeviceHistory()
    private var order: [String] = []
    private var oldest = 0
    private var requests = 0

    package init(_ rules: ClientTrialSettings) { self.rules = rules }

    // MARK: Events

    /// The head of a request has come. `id`: unique among the exchanges, `connection` among the connections.
    package mutating func requested(
        _ id: UInt64, _ request: ClientRequest, on connection: UInt64, at now: Instant
    ) {
        self.requests += 1
        self.forgetOldJobs(at: now)
        let meaning = request.meaning
        let client = self.client(of: request, job: meaning?.job, at: now)
        var exchange = FollowedExchange(request, client: client, connection: connection, sent: now)
        exchange.meaning = meaning
        self.exchanges[id] = exchange
        self.judgeForm(id, exchange, at: now)
        guard let meaning else { return }
        if let job = meaning.job, self.jobs[job] == nil {
            self.insert(job, FollowedJob(client: client, journey: meaning.journey, accepted: nil))
        }
        if let job = meaning.job { self.jobs.update(job) { $0.isRequested = true } }
        self.judgeIdentity(id, exchange, at: now)
        switch meaning.operation {
        case .upload:
            self.clients.update(client) {
                $0.uploads += 1
                $0.lastUpload = now
            }
        case .stream: self.streamRequested(id, exchange, at: now)
        case .results: self.resultsRequested(id, exchange, at: now)
        case .status: self.statusRequested(id, exchange, at: now)
        case .cleanup: self.deleteRequested(id, exchange, at: now)
        case .cancel: if let job = meaning.job { self.jobs.update(job) { $0.isCancelSent = true } }
        case .refresh: break
        }
        self.judgeRepetition(id, exchange, at: now)
    }

    /// The body of an upload has come.
    package mutating func uploaded(_ id: UInt64, _ upload: ClientUpload, at now: Instant) {
        guard let exchange = self.exchanges[id], exchange.meaning?.operation == .upload else { return }
        self.judge(upload, id, exchange, at: now)
        guard exchange.meaning?.journey.hasPhotos == true, upload.fault == nil, !upload.parts.isEmpty else {
            return
        }
        let photo = upload.identity
        self.exchanges.update(id) { $0.photo = photo }
        self.photoUploaded(photo, id, exchange, at: now)
    }

    /// The head of an answer was sent.
    package mutating func answered(_ id: UInt64, _ answer: ClientAnswer, at now: Instant) {
        guard let meaning = self.exchanges[id]?.meaning else { return }
        self.exchanges.update(id) {
            $0.answer = answer
            $0.isStream =
                meaning.operation == .stream && answer.status == 200
                && answer.mediaType == "text/event-stream"
        }
        if self.exchanges[id]?.isStream == true { self.streamOpened(id, at: now) }
    }

    /// An event of a stream was sent whole.
    package mutating func streamed(_ id: UInt64, _ event: SSEEvent, at now: Instant) {
        guard let exchange = self.exchanges[id], exchange.isStream else { return }
        self.eventSent(event, id, exchange, at: now)
    }

    /// An exchange is over. `body`: the body of an answer that is not a stream.
    package mutating func ended(_ id: UInt64, _ end: ClientEnd, body: [UInt8], at now: Instant) {
        guard let exchange = self.exchanges[id] else { return }
        self.exchanges[id] = nil
        guard exchange.meaning != nil else { return }
        if exchange.isStream {
            self.streamEnded(end, id, exchange, at: now)
        } else {
            self.replied(end, body, id, exchange, at: now)
        }
    }

    /// A connection is over.
    package mutating func disconnected(_ connection: UInt64) { self.devices.forget(connection) }

    // MARK: Clients and jobs

    /// The key of the client of a request: its device id or, without one, that of the job's owner.
    private mutating func client(of request: ClientRequest, job: String?, at now: Instant) -> String {
        let key = request.device?.lowercased() ?? job.flatMap { self.jobs[$0]?.client } ?? ""
        if self.clients[key] == nil {
            if self.clients.count >= ClientTrialLimits.clientsMax, let first = self.clients.keys.first {
                self.clients[first] = nil
            }
            self.clients[key] = FollowedClient(device: request.device?.bounded, at: now)
        }
        self.clients.update(key) {
            $0.last = now
            $0.requests += 1
            $0.userAgent = $0.userAgent ?? request.userAgent.map(\.bounded)
        }
        return key
    }

    mutating func insert(_ id: String, _ job: FollowedJob) {
        if self.jobs[id] == nil { self.order.append(id) }
        self.jobs[id] = job
    }

    private mutating func forgetOldJobs(at now: Instant) {
        while self.oldest < self.order.count {
            let id = self.order[self.oldest]
            let isOld =
                self.jobs.with(id) { job in
                    job.accepted.map { now - $0 > ClientTrialTimes.retention } ?? false
                } ?? true
            guard isOld || self.jobs.count > ClientTrialLimits.jobsMax else { break }
            if let job = self.jobs[id] {
                for rule in job.occasions { self.tallies.occasion(rule) }
                for (rule, text) in self.omissions(of: job, at: now) {
                    self.breaks(rule, job.client, job: id, nil, at: now, text)
                }
                if let token = job.token { self.tokens[token] = nil }
            }
            self.jobs[id] = nil
            self.oldest += 1
        }
        if self.oldest > ClientTrialLimits.jobsMax {
            self.order.removeFirst(self.oldest)
            self.oldest = 0
        }
    }

    // MARK: Breaks

    mutating func breaks(
        _ rule: ClientRule, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant, _ text: String
    ) {
        guard self.exchanges.update(id, { $0.breaks(rule) }) ?? true else { return }
        self.breaks(
            rule, exchange.client, job: exchange.meaning?.job, exchange.request.line, at: now, text)
    }

    mutating func breaks(
        _ rule: ClientRule, _ client: String, job: String?, _ line: String?, at now: Instant, _ text: String
    ) {
        self.clients.update(client) { $0.breaks += 1 }
        let device = self.clients.with(client) { $0.device } ?? nil
        self.tallies.broken(
            rule, ClientBreak(at: now, device: device, job: job?.bounded, request: line, text: text))
    }

    // MARK: Report

    /// Returns what was found up to now. What a client has failed to do is counted if it is clear by now.
    package func report(at now: Instant) -> ClientReport {
        var settled = self
        for (id, job) in self.jobs.entries {
            for rule in job.occasions { settled.tallies.occasion(rule) }
            for (rule, text) in self.omissions(of: job, at: now) {
                settled.breaks(rule, job.client, job: id, nil, at: now, text)
            }
        }
        if let (client, text) = self.strangers() {
            settled.breaks(.deviceKept, client, job: nil, nil, at: now, text)
        }
        settled.judgeOpenStreams(at: now)
        let clients = settled.clients.values.filter { $0.uploads > 0 || $0.breaks > 0 }
        return ClientReport(
            results: settled.tallies.results,
            clients: clients.prefix(ClientTrialLimits.clientsShownMax).map {
                ClientReport.Client(
                    device: $0.device, userAgent: $0.userAgent, requests: $0.requests, jobs: $0.jobs,
                    breaks: $0.breaks, last: $0.last)
            },
            requests: self.requests, jobs: self.tallies.jobs)
    }
}

/// The occasions and breaks of each rule.
struct RuleTallies: Sendable {
    private var tallies = ClientRule.allCases.map {
        ClientReport.Result(rule: $0, occasions: 0, breaks: 0, example: nil)
    }
    /// Uploads that became jobs.
    var jobs = 0

    var results: [ClientReport.Result] { self.tallies }

    /// A client could have broken a rule here.
    mutating func occasion(_ rule: ClientRule) { self.tallies[rule.ordinal].occasions += 1 }

    mutating func broken(_ rule: ClientRule, _ example: ClientBreak) {
        let index = rule.ordinal
        self.tallies[index].breaks += 1
        self.tallies[index].example = self.tallies[index].example ?? example
        self.tallies[index].occasions = max(self.tallies[index].occasions, self.tallies[index].breaks)
    }
}
