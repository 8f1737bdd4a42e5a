// The requests of v3 in the OpenAPI document: photos, what follows from them, and the events of a job.

extension OpenAPIDocument {
    static func value(_ operation: ContractOperation) -> YAMLValue {
        var entries: [(key: String, value: YAMLValue)] = [
            ("operationId", .text(operation.id)), ("tags", .texts(["scans"])),
            ("summary", .text(operation.summary)),
        ]
        var parameters = [Self.reference("parameters", "DeviceID")]
        switch operation.operation {
        case .stream: parameters.append(Self.reference("parameters", "LastEventID"))
        case .results: parameters.append(Self.reference("parameters", "Format"))
        case .upload, .cleanup, .status, .cancel: break
        }
        entries.append(("parameters", .list(parameters)))
        switch operation.operation {
        case .upload:
            entries.append(("requestBody", Self.photos))
            entries.append(("security", .list([])))
        case .stream, .results, .cleanup, .status, .cancel:
            entries.append(("security", .list([.map([("bearer", .list([]))])])))
        }
        entries.append(
            (
                "responses",
                .map(
                    operation.answers.map { answer in
                        (
                            String(answer.status),
                            answer.name.map { Self.reference("responses", $0) } ?? Self.value(answer)
                        )
                    })
            ))
        return .map(entries)
    }

    private static var photos: YAMLValue {
        let photo = YAMLValue.map([
            ("type", .text("string")), ("format", .text("binary")),
            ("description", .text("A photo of at most \(ContractLimit.photoBytesMax) bytes")),
        ])
        let schema = YAMLValue.map([
            ("type", .text("object")), ("required", .texts([Contract.photoField])),
            (
                "properties",
                .map([
                    (
                        Contract.photoField,
                        .map([
                            ("type", .text("array")), ("minItems", .integer(1)),
                            ("maxItems", .integer(ContractLimit.photosMax)), ("items", photo),
                        ])
                    )
                ])
            ),
        ])
        let encoding = YAMLValue.map([
            (Contract.photoField, .map([("contentType", .text(Contract.photoTypes.joined(separator: ", ")))]))
        ])
        return .map([
            ("required", .flag(true)),
            (
                "description",
                .text("All photos together have at most \(ContractLimit.batchBytesMax) bytes")
            ),
            ("content", .map([(Contract.uploadType, .map([("schema", schema), ("encoding", encoding)]))])),
        ])
    }

    /// What can be requested of a job that was accepted. OpenAPI has no way to pass the token on.
    static var links: YAMLValue {
        .map(
            ContractOperation.all.filter { $0.operation != .upload }.map { operation in
                (
                    operation.id,
                    .map([
                        ("operationId", .text(operation.id)),
                        (
                            "parameters",
                            .map([
                                ("jobId", .text("$response.body#/data/jobId")),
                                (HeaderName.deviceID, .text("$request.header.\(HeaderName.deviceID)")),
                            ])
                        ),
                        ("description", .text("With the token in `data.authToken`")),
                    ])
                )
            })
    }

    /// The schema is that of one event, as tools for OpenAPI 3.1 take it.
    static var stream: YAMLValue {
        let events = Contract.events.map { event in
            let names = event.kind == .completed ? [event.kind.rawValue, "complete"] : [event.kind.rawValue]
            let data = YAMLValue.map([
                ("contentMediaType", .text(Contract.jsonType)),
                ("contentSchema", Self.schema(named: event.data)),
            ])
            return YAMLValue.map([
                ("properties", .map([("event", .map([("enum", .texts(names))])), ("data", data)]))
            ])
        }
        let properties = YAMLValue.map([
            (
                "id",
                .map([
                    ("type", .text("string")),
                    (
                        "description",
                        .text(
                            "`{milliseconds since 1970}-{event}`; a client sends the last one as Last-Event-ID"
                        )
                    ),
                ])
            ),
            (
                "event",
                .map([("type", .text("string")), ("description", .text("The name of the event"))])
            ),
            (
                "data",
                .map([("type", .text("string")), ("description", .text("One line of JSON"))])
            ),
        ])
        let schema = YAMLValue.map([
            ("type", .text("object")),
            (
                "description",
                .text(
                    """
                    One event of a stream in the form of WHATWG HTML section 9.2. `complete` is another name of `completed`. A
                    client ignores events of other names. With Last-Event-ID, the server sends what came after that event in
                    the last 60 s.
                    """)
            ),
            ("required", .texts(["event", "data"])), ("properties", properties), ("oneOf", .list(events)),
        ])
        return .map([("schema", schema)])
    }
}
