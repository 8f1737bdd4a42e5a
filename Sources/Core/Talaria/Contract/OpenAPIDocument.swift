internal import SimBase

/// The contract as an OpenAPI 3.1 document in YAML: `Docs/talaria-openapi.yaml`, and `/openapi.yaml` of `serve`.
package enum OpenAPIDocument {
    package static let contentType = "application/yaml"

    /// Ends in a newline.
    package static let text = Self.document.document

    private static var document: YAMLValue {
        .map([
            ("openapi", .text("3.1.0")),
            ("info", Self.info),
            (
                "servers",
                .list([
                    .map([("url", .text("https://api.oooefam.net")), ("description", .text("Production"))]),
                    .map([
                        ("url", .text("https://api-staging.oooefam.net")), ("description", .text("Staging")),
                    ]),
                ])
            ),
            (
                "tags",
                .list([
                    .map([("name", .text("scans")), ("description", .text("Photos of books as jobs"))]),
                    .map([
                        ("name", .text("v2")),
                        ("description", .text("Shelves, batches of books and library files as jobs of v2")),
                    ]),
                ])
            ),
            ("paths", Self.paths),
            ("components", Self.components),
        ])
    }

    private static var info: YAMLValue {
        .map([
            ("title", .text("Talaria scan API")),
            (
                "summary",
                .text(
                    "Uploads photos of books, streams the progress of their recognition, and returns the books"
                )
            ),
            (
                "description",
                .text(
                    """
                    A client uploads photos, gets a job with a bearer token, and opens the event stream of the job
                    (Server-Sent Events). The event `completed` has the books, or they are fetched as results. Then the
                    client removes the job. Every request has an X-Device-ID.

                    Every answer of 400 to 599 has a problem body by RFC 9457; the `error` event of a stream has not. A
                    request that is not valid HTTP is answered with 400, 408, 413, 414, 417, 431, 501 or 505.

                    The requests of v2 have an envelope and errors of their own, and X-Device-ID is optional. What never
                    reaches v2, such as a request that is refused by its form, has a problem body there, too.

                    The documents of v2 disagree. This one describes the defaults of the simulated backend, whose
                    scenario can choose otherwise: results that live for another time than two hours, the token of a
                    stream in the header alone or in the query alone (`token`), event names with a point such as
                    `photoscan.progress`, whose data are described as well, streams that bring the last change of a job after up to three seconds, bodies
                    without `success`, and `authToken` or `token` alone. With a circuit breaker, uploads get 503
                    `CIRCUIT_OPEN` for a while after jobs that a provider has failed; `details.retryAfterMs` is the rest of it.

                    A client takes null for missing in a member that is not required, and ignores members that it does
                    not know.
                    """)
            ),
            ("version", .text(Contract.version)),
            (
                "license",
                .map([("name", .text("Proprietary")), ("identifier", .text("LicenseRef-Proprietary"))])
            ),
        ])
    }

    // MARK: Paths

    private static var paths: YAMLValue {
        var paths: [(key: String, value: YAMLValue)] = []
        for operation in ContractOperation.all {
            let method = (key: operation.method.lowercased(), value: Self.value(operation))
            if let index = paths.firstIndex(where: { $0.key == operation.path }),
                case .map(let entries) = paths[index].value
            {
                paths[index].value = .map(entries + [method])
            } else {
                let parameters: [(key: String, value: YAMLValue)] =
                    operation.path.contains("{jobId}")
                    ? [("parameters", .list([Self.reference("parameters", "JobID")]))] : []
                paths.append((operation.path, .map(parameters + [method])))
            }
        }
        return .map(paths)
    }

    private static func value(_ operation: ContractOperation) -> YAMLValue {
        let tag =
            switch operation.version {
            case .v2: "v2"
            case .v3: "scans"
            }
        let device = operation.version.needsDeviceID ? "DeviceID" : "OptionalDeviceID"
        var parameters = [Self.reference("parameters", device)]
        switch operation.operation {
        case .stream: parameters.append(Self.reference("parameters", "LastEventID"))
        case .results where operation.version.hasResultsFormats:
            parameters.append(Self.reference("parameters", "Format"))
        case .upload, .results, .cleanup, .status, .cancel, .refresh: break
        }
        let security: [YAMLValue] = operation.hasToken ? [.map([("bearer", .list([]))])] : []
        let responses = operation.answers.map { answer in
            (
                key: String(answer.status),
                value: operation.name(of: answer).map { Self.reference("responses", $0) }
                    ?? Self.value(answer, of: operation)
            )
        }
        return .map(
            [
                ("operationId", .text(operation.id)), ("tags", .texts([tag])),
                ("summary", .text(operation.summary)), ("parameters", .list(parameters)),
            ] + (Self.requestBody(operation).map { [("requestBody", $0)] } ?? [])
                + [("security", .list(security)), ("responses", .map(responses))])
    }

    private static func requestBody(_ operation: ContractOperation) -> YAMLValue? {
        switch operation.body {
        case .none: nil
        case .photos where operation.version == .v3: Self.photos
        case .photos: Self.form("photos", itemsMax: ContractLimit.photosMax)
        case .file: Self.form(ImportLimits.part, itemsMax: nil)
        case .batch: Self.json(Self.batch)
        case .json(let object): Self.json(Self.schema(named: object))
        }
    }

    // MARK: Answers

    private static func value(
        _ answer: ContractOperation.Answer, of operation: ContractOperation
    ) -> YAMLValue {
        var headers = [Self.header(HeaderName.requestID, "RequestID")]
        var content: [(key: String, value: YAMLValue)] = []
        var links: YAMLValue?
        switch (answer.body, operation.version) {
        case (.problem, .v3):
            headers = Self.headers(ofRefusal: answer.status)
            content = [Self.content(Problem.contentType, Contract.problem)]
        case (.problem, .v2):
            headers = []
            content = [
                Self.content(Contract.jsonType, Contract.v2Error),
                Self.content(Problem.contentType, Contract.problem),
            ]
        case (.none, _): break
        case (.events, .v2): content = [(Contract.eventStreamType, Self.v2Stream)]
        case (.events, .v3): content = [(Contract.eventStreamType, Self.stream)]
        case (.json(let object), let version):
            if operation.operation == .upload, version == .v3 { headers += Self.limitHeaders }
            content = [Self.content(Contract.jsonType, object)]
            links = Self.links(operation)
        }
        return .map(
            [("description", .text(answer.summary))]
                + (headers.isEmpty ? [] : [("headers", .map(headers))])
                + (content.isEmpty ? [] : [("content", .map(content))])
                + (links.map { [("links", $0)] } ?? []))
    }

    private static func content(_ type: String, _ object: ContractObject) -> (key: String, value: YAMLValue) {
        (type, .map([("schema", Self.schema(named: object))]))
    }

    /// What can be requested of a job that was accepted. OpenAPI has no way to pass the token on.
    private static func links(_ operation: ContractOperation) -> YAMLValue? {
        guard !operation.next.isEmpty else { return nil }
        var parameters = [(key: "jobId", value: YAMLValue.text("$response.body#/data/jobId"))]
        if operation.version.needsDeviceID {
            parameters.append((HeaderName.deviceID, .text("$request.header.\(HeaderName.deviceID)")))
        }
        return .map(
            operation.next.map { next in
                (
                    next.id,
                    .map([
                        ("operationId", .text(next.id)), ("parameters", .map(parameters)),
                        ("description", .text("With the token in `data.authToken`")),
                    ])
                )
            })
    }

    private static func header(_ name: String, _ component: String) -> (key: String, value: YAMLValue) {
        (name, Self.reference("headers", component))
    }

    private static let limitHeaders = [
        Self.header("X-RateLimit-Limit", "RateLimitLimit"),
        Self.header("X-RateLimit-Remaining", "RateLimitRemaining"),
        Self.header("X-RateLimit-Reset", "RateLimitReset"),
    ]

    private static func headers(ofRefusal status: Int) -> [(key: String, value: YAMLValue)] {
        var headers = [Self.header(HeaderName.requestID, "RequestID")]
        switch status {
        case 401: headers.append(Self.header("WWW-Authenticate", "Authenticate"))
        case 429:
            headers.append(Self.header(HeaderName.retryAfter, "RetryAfter"))
            headers += Self.limitHeaders
        case 503: headers.append(Self.header(HeaderName.retryAfter, "RetryAfter"))
        default: break
        }
        return headers
    }

    // MARK: Components

    private static var components: YAMLValue {
        .map([
            (
                "securitySchemes",
                .map([
                    (
                        "bearer",
                        .map([
                            ("type", .text("http")), ("scheme", .text("bearer")),
                            (
                                "description",
                                .text(
                                    """
                                    The `authToken` of the job, valid for two hours. Streams of v2 take it from the query as well,
                                    as `token`
                                    """)
                            ),
                        ])
                    )
                ])
            ),
            ("parameters", Self.parameters),
            ("headers", Self.headerComponents),
            ("responses", Self.responses),
            ("schemas", Self.schemas),
        ])
    }

    private static var parameters: YAMLValue {
        func parameter(
            _ name: String, in place: String, isRequired: Bool, _ description: String, _ schema: YAMLValue,
            example: String
        ) -> YAMLValue {
            .map([
                ("name", .text(name)), ("in", .text(place)), ("required", .flag(isRequired)),
                ("description", .text(description)), ("schema", schema), ("example", .text(example)),
            ])
        }
        return .map([
            (
                "JobID",
                parameter(
                    "jobId", in: "path", isRequired: true, "The job, as the answer to the upload names it",
                    .map([
                        ("type", .text("string")),
                        ("pattern", .text("^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,127}$")),
                    ]),
                    example: "3f0c1f9e-8a55-4b7e-9d0e-5d6f0c1b2a39")
            ),
            (
                "DeviceID",
                parameter(
                    HeaderName.deviceID, in: "header", isRequired: true,
                    "A version 4 UUID of the device, the same for all of its requests",
                    .map([
                        ("type", .text("string")), ("format", .text("uuid")),
                        (
                            "pattern",
                            .text(
                                "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$"
                            )
                        ),
                    ]), example: "7D5A1C0E-2B4F-4C68-9A3E-1F2D3C4B5A69")
            ),
            (
                "OptionalDeviceID",
                parameter(
                    HeaderName.deviceID, in: "header", isRequired: false,
                    "A version 4 UUID of the device; requests without one share a quota",
                    .map([("type", .text("string"))]), example: "7D5A1C0E-2B4F-4C68-9A3E-1F2D3C4B5A69")
            ),
            (
                "LastEventID",
                parameter(
                    HeaderName.lastEventID, in: "header", isRequired: false,
                    "The id of the last event that the client has; the stream continues after it",
                    .map([("type", .text("string"))]), example: "1738419600000-progress")
            ),
            (
                "Format",
                parameter(
                    "format", in: "query", isRequired: false, "How much is returned of each book",
                    .map([("type", .text("string")), ("enum", .texts(Contract.resultsFormats))]),
                    example: Contract.resultsFormats[0])
            ),
        ])
    }

    /// The refusals of several operations.
    private static var responses: YAMLValue {
        var responses: [(key: String, value: YAMLValue)] = []
        for operation in ContractOperation.all {
            for answer in operation.answers {
                guard let name = operation.name(of: answer), !responses.contains(where: { $0.key == name })
                else { continue }
                responses.append((name, Self.value(answer, of: operation)))
            }
        }
        return .map(responses)
    }

    private static var headerComponents: YAMLValue {
        func header(_ description: String, _ type: String) -> YAMLValue {
            .map([
                ("description", .text(description)), ("schema", .map([("type", .text(type))])),
            ])
        }
        return .map([
            ("RequestID", header("The id of the request, for logs", "string")),
            ("RetryAfter", header("The wait before the next request: seconds, or a date", "string")),
            ("Authenticate", header("The scheme, `Bearer`", "string")),
            ("RateLimitLimit", header("Uploads that a device may make in the window", "integer")),
            ("RateLimitRemaining", header("Uploads that are left in the window", "integer")),
            (
                "RateLimitReset",
                header(
                    "The next moment at which an upload leaves the window, in seconds since 1970", "integer")
            ),
        ])
    }

    // MARK: Schemas

    static func reference(_ kind: String, _ name: String) -> YAMLValue {
        .map([("$ref", .text("#/components/\(kind)/\(name)"))])
    }

    /// A reference to an object with a name, or the schema of one without.
    static func schema(named object: ContractObject) -> YAMLValue {
        object.name.map { Self.reference("schemas", $0) } ?? Self.schema(object)
    }

    private static var schemas: YAMLValue {
        var schemas: [(key: String, value: YAMLValue)] = []
        func add(_ shape: ContractShape) {
            switch shape {
            case .object(let object):
                if let name = object.name {
                    guard !schemas.contains(where: { $0.key == name }) else { return }
                    schemas.append((name, Self.schema(object)))
                }
                for member in object.members { add(member.shape) }
            case .list(let shape): add(shape)
            case .text, .pattern, .words, .flag, .integer, .number: break
            }
        }
        for answer in ContractOperation.all.flatMap(\.answers) {
            if case .json(let object) = answer.body { add(.object(object)) }
        }
        for operation in ContractOperation.all {
            if case .json(let object) = operation.body { add(.object(object)) }
        }
        add(.object(Contract.v2Error))
        for event in Contract.events { add(.object(event.data)) }
        for event in Contract.v2Events + Contract.v2DottedEvents { add(.object(event.data)) }
        add(.object(Contract.problem))
        return .map(schemas)
    }

    private static func schema(_ object: ContractObject) -> YAMLValue {
        let required = object.members.filter(\.isRequired).map(\.key)
        var entries: [(key: String, value: YAMLValue)] = [
            ("type", .text("object")), ("description", .text(object.summary)),
        ]
        if !required.isEmpty { entries.append(("required", .texts(required))) }
        entries.append(("properties", .map(object.members.map { ($0.key, Self.schema($0)) })))
        return .map(entries)
    }

    private static func schema(_ member: ContractMember) -> YAMLValue {
        var entries: [(key: String, value: YAMLValue)]
        switch (member.shape, member.isNullable) {
        case (.object(let object), false) where object.name != nil:
            entries = [("$ref", .text("#/components/schemas/\(object.name ?? "")"))]
        case (let shape, let isNullable): entries = Self.entries(shape, isNullable: isNullable)
        }
        // A sibling of $ref, which JSON Schema allows (draft 2020-12).
        entries.removeAll { $0.key == "description" }
        entries.append(("description", .text(member.summary)))
        switch member.example {
        case .text(let text): entries.append(("examples", .texts([text])))
        case .integer(let number): entries.append(("examples", .list([.integer(number)])))
        case .number(let number): entries.append(("examples", .list([.number(number)])))
        case .flag(let flag): entries.append(("examples", .list([.flag(flag)])))
        case nil: break
        }
        return .map(entries)
    }

    private static func entries(
        _ shape: ContractShape, isNullable: Bool
    ) -> [(key: String, value: YAMLValue)] {
        func type(_ name: String) -> (key: String, value: YAMLValue) {
            ("type", isNullable ? .texts([name, "null"]) : .text(name))
        }
        switch shape {
        case .text(let format):
            return [type("string")] + (format.map { [("format", .text($0))] } ?? [])
        case .pattern(let pattern): return [type("string"), ("pattern", .text(pattern))]
        case .words(let words, _):
            if words.count == 1, !isNullable { return [("const", .text(words[0]))] }
            return [
                type("string"),
                ("enum", .list(words.map { .text($0) } + (isNullable ? [.null] : []))),
            ]
        case .flag(let only): return only.map { [("const", .flag($0))] } ?? [type("boolean")]
        case .integer(let range):
            return [type("integer")]
                + (range.map { [("minimum", .integer($0.lowerBound))] } ?? [])
                + (range.flatMap { $0.upperBound == .max ? nil : [("maximum", .integer($0.upperBound))] }
                    ?? [])
        case .number(let range):
            return [type("number")]
                + (range.map { [("minimum", .number($0.lowerBound)), ("maximum", .number($0.upperBound))] }
                    ?? [])
        case .list(let shape):
            return [type("array"), ("items", .map(Self.entries(shape, isNullable: false)))]
        case .object(let object):
            if let name = object.name { return [("$ref", .text("#/components/schemas/\(name)"))] }
            if case .map(let entries) = Self.schema(object) { return entries }
            return []
        }
    }
}
