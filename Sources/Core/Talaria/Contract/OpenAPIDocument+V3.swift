// The requests of v3 in the OpenAPI document: photos, and the events of a job.

extension OpenAPIDocument {
    static var photos: YAMLValue {
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

    /// The schema is that of one event, as tools for OpenAPI 3.1 take it.
    static var stream: YAMLValue {
        let events = Contract.events.map { event in
            let data = YAMLValue.map([
                ("contentMediaType", .text(Contract.jsonType)),
                ("contentSchema", Self.schema(named: event.data)),
            ])
            return YAMLValue.map([
                ("properties", .map([("event", .map([("enum", .texts(event.names))])), ("data", data)]))
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
