package import Metrics
package import Observations
package import SimBase
package import Talaria

/// What the spans of a run have in common with its requests.
package struct SpanSettings: Sendable {
    /// Of one operation of a group: what its requests have in common.
    private struct Endpoint: Sendable {
        let method: String
        /// The path with `{jobId}` in place of the job.
        let template: String
        /// What is before the job, and behind it.
        let parts: [String]

        init(_ contract: ContractOperation, basePath: String) {
            self.method = contract.method
            self.template = basePath + contract.path
            let parts = self.template.split(separator: "{jobId}", omittingEmptySubsequences: false)
            self.parts = parts.map { String($0) }
        }

        func path(_ job: String) -> String {
            self.parts.count == 2 ? self.parts[0] + job + self.parts[1] : self.template
        }
    }

    /// The run in trace ids.
    package let run: UInt64
    let fleet: PhoneGroups
    /// The ids of the faults, in the order of the scenario.
    let faults: [String]
    /// The journey of each group.
    let journeys: [String]
    /// Of each group, by operation.
    private let endpoints: [[Operation: Endpoint]]
    /// What all requests have.
    let server: [SpanAttribute]

    /// - Parameter groups: The journeys, in the order of the groups of `fleet`.
    /// - Parameter server: The host and the port of the backend; nil for a simulated one without a socket.
    /// - Parameter basePath: What comes before the paths of the contract.
    /// - Parameter http: The version of HTTP, such as `1.1`.
    package init(
        run: UInt64, _ fleet: PhoneGroups, journeys: [Journey], faults: [String],
        server: (host: String, port: UInt16)?, basePath: String, http: String
    ) {
        self.run = run
        self.fleet = fleet
        self.faults = faults
        self.journeys = journeys.map(\.rawValue)
        self.endpoints = journeys.map { journey in
            var endpoints: [Operation: Endpoint] = [:]
            for operation in Operation.allCases {
                guard let contract = journey.contract(of: operation) else { continue }
                endpoints[operation] = Endpoint(contract, basePath: basePath)
            }
            return endpoints
        }
        let address: [SpanAttribute] =
            server.map {
                [
                    .standard("server.address", .text($0.host)),
                    .standard("server.port", .number(Int64($0.port))),
                ]
            } ?? [.standard("server.address", .text("simulated"))]
        self.server = address + [.standard("network.protocol.version", .text(http))]
    }

    /// The attributes of one request, as it is sent.
    func attributes(
        of operation: Operation, attempt: UInt32, job: String?, on device: DeviceNumber
    ) -> [SpanAttribute] {
        var attributes = self.server
        if let endpoint = self.fleet.value(of: device, in: self.endpoints)?[operation] {
            attributes.append(.standard("http.request.method", .text(endpoint.method)))
            attributes.append(.standard("url.template", .text(endpoint.template)))
            attributes.append(.standard("url.path", .text(job.map(endpoint.path) ?? endpoint.template)))
        }
        if attempt > 1 {
            attributes.append(.standard("http.request.resend_count", .number(Int64(attempt) - 1)))
        }
        if let job { attributes.append(.own("job", .text(job))) }
        return attributes
    }

    /// The attributes that all spans of a scan have.
    func attributes(of scan: ScanNumber, on device: DeviceNumber) -> [SpanAttribute] {
        var attributes: [SpanAttribute] = [
            .own("device", .number(Int64(device.raw))), .own("scan", .number(Int64(scan.raw))),
        ]
        if let group = self.fleet.group(of: device) {
            attributes.append(.own("group", .text(self.fleet.groups[group])))
            if group < self.journeys.count {
                attributes.append(.own("journey", .text(self.journeys[group])))
            }
        }
        return attributes
    }

    func fault(_ index: Int) -> String {
        self.faults.indices.contains(index) ? self.faults[index] : "#\(index)"
    }
}

/// Folds the observations of a run into finished spans, one trace for each scan. Observations come in the order of time.
package struct SpanFolder: Sendable {
    private let settings: SpanSettings
    private var indexes = DeviceIndex()
    private var phones: [PhoneSpans] = []
    /// Spans that were begun and never finished, because observations were lost or too many were open.
    package private(set) var dropped = 0

    package init(_ settings: SpanSettings) { self.settings = settings }

    /// Whether an observation has a part in a span. Those that have none need not be handed over.
    package static func concerns(_ observation: Observation) -> Bool {
        switch observation.side {
        case .phone: observation.level != .routine || !Self.isPing(observation)
        case .fault: true
        case .backend, .network, .control: false
        }
    }

    /// How many spans an observation begins, which are lost with it.
    package static func begun(by observation: Observation) -> Int {
        switch observation.what {
        case .phone(.captured), .phone(.requestSent), .phone(.photoPrepared(.some, _)): 1
        case .phone, .backend, .fault, .network, .control: 0
        }
    }

    private static func isPing(_ observation: Observation) -> Bool {
        if case .phone(.ping) = observation.what { true } else { false }
    }

    /// `cause`: of an error.
    package mutating func record(
        _ observation: Observation, cause: Cause?, _ finished: (Span) -> Void
    ) {
        switch observation.what {
        case .phone(let payload):
            let index = self.index(of: observation.device)
            self.dropped += self.phones[index].record(
                payload, of: observation.scan, at: observation.at, cause, self.settings, finished)
        case .fault(.fired(let fault, let operation, let attempt)):
            let index = self.index(of: observation.device)
            self.phones[index].fired(
                self.settings.fault(fault), on: (operation, attempt), of: observation.scan)
        case .fault(.began(let fault)):
            let index = self.index(of: observation.device)
            self.phones[index].began(self.settings.fault(fault))
        case .fault, .backend, .network, .control: break
        }
    }

    /// Observations are missing from here on: what is open can have no honest end.
    package mutating func forget() {
        for index in self.phones.indices { self.dropped += self.phones[index].forget() }
    }

    /// The end of the run: what is open is finished as it is.
    package mutating func finish(at moment: Instant, _ finished: (Span) -> Void) {
        for index in self.phones.indices { self.phones[index].finish(at: moment, finished) }
    }

    private mutating func index(of device: DeviceNumber) -> Int {
        if let index = self.indexes[device] { return index }
        self.phones.append(PhoneSpans(device: device))
        self.indexes[device] = self.phones.count - 1
        return self.phones.count - 1
    }
}
