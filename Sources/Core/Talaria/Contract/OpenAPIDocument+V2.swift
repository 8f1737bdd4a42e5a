// The requests of v2 in the OpenAPI document: forms, batches, and the events of a job.

extension OpenAPIDocument {
    static func value(_ operation: V2Operation) -> YAMLValue {
        var entries: [(key: String, value: YAMLValue)] = [
            ("operationId", .text(operation.id)), ("tags", .texts(["v2"])),
            ("summary", .text(operation.summary)),
        ]
        var parameters = [Self.reference("parameters", "OptionalDeviceID")]
        if operation.path.hasSuffix("/stream") {
            parameters.append(Self.reference("parameters", "LastEventID"))
        }
        entries.append(("parameters", .list(parameters)))
        switch operation.body {
        case .none: break
        case .photos: entries.append(("requestBody", Self.form("photos", itemsMax: ContractLimit.photosMax)))
        case .file: entries.append(("requestBody", Self.form(ImportLimits.part, itemsMax: nil)))
        case .batch: entries.append(("requestBody", Self.json(Self.batch)))
        case .json(let object): entries.append(("requestBody", Self.json(Self.schema(named: object))))
        }
        let security: [YAMLValue] = operation.hasToken ? [.map([("bearer", .list([]))])] : []
        entries.append(("security", .list(security)))
        entries.append(
            (
                "responses",
                .map(
                    operation.answers.map { answer in
                        (
                            String(answer.status),
                            answer.name.map { Self.reference("responses", $0) }
                                ?? Self.value(answer, of: operation)
                        )
                    })
            ))
        return .map(entries)
    }

    /// An answer that is no other operation's, with what can be requested of a job that it accepts.
    private static func value(_ answer: V2Operation.Answer, of operation: V2Operation) -> YAMLValue {
        guard case .map(let entries) = Self.value(answer), !operation.next.isEmpty else {
            return Self.value(answer)
        }
        let links = operation.next.map { id in
            (
                key: id,
                value: YAMLValue.map([
                    ("operationId", .text(id)),
                    ("parameters", .map([("jobId", .text("$response.body#/data/jobId"))])),
                    ("description", .text("With the token in `data.authToken`")),
                ])
            )
        }
        return .map(entries + [("links", .map(links))])
    }

    private static func json(_ schema: YAMLValue) -> YAMLValue {
        .map([
            ("required", .flag(true)), ("content", .map([(Contract.jsonType, .map([("schema", schema)]))])),
        ])
    }

    /// A form with one file, or up to so many.
    private static func form(_ part: String, itemsMax: Int?) -> YAMLValue {
        let file = YAMLValue.map([("type", .text("string")), ("format", .text("binary"))])
        let files = itemsMax.map { most in
            YAMLValue.map([
                ("type", .text("array")), ("minItems", .integer(1)), ("maxItems", .integer(most)),
                ("items", file),
            ])
        }
        let schema = YAMLValue.map([
            ("type", .text("object")), ("required", .texts([part])),
            ("properties", .map([(part, files ?? file)])),
        ])
        return .map([
            ("required", .flag(true)),
            ("content", .map([(Contract.uploadType, .map([("schema", schema)]))])),
        ])
    }

    /// Barcodes, or books by title, author and ISBN.
    private static var batch: YAMLValue {
        func text(_ lengths: ClosedRange<Int>, isNullable: Bool) -> YAMLValue {
            .map([
                ("type", isNullable ? .texts(["string", "null"]) : .text("string")),
                ("minLength", .integer(lengths.lowerBound)), ("maxLength", .integer(lengths.upperBound)),
            ])
        }
        func list(_ items: YAMLValue) -> YAMLValue {
            .map([
                ("type", .text("array")), ("minItems", .integer(1)),
                ("maxItems", .integer(BatchRequest.booksMax)), ("items", items),
            ])
        }
        let book = YAMLValue.map([
            ("type", .text("object")), ("required", .texts(["title"])),
            (
                "properties",
                .map([
                    ("title", text(1...BatchRequest.titleCharactersMax, isNullable: false)),
                    ("author", text(0...BatchRequest.authorCharactersMax, isNullable: true)),
                    ("isbn", text(0...BatchRequest.isbnCharactersMax, isNullable: true)),
                ])
            ),
        ])
        let flag = YAMLValue.map([("type", .texts(["boolean", "null"]))])
        let jobId = YAMLValue.map([("type", .texts(["string", "null"]))])
        func form(_ key: String, _ items: YAMLValue, without other: String) -> YAMLValue {
            .map([
                ("type", .text("object")), ("required", .texts([key])),
                ("properties", .map([(key, list(items)), ("vectorize", flag), ("jobId", jobId)])),
                ("not", .map([("required", .texts([other]))])),
            ])
        }
        return .map([
            (
                "oneOf",
                .list([
                    form(
                        "barcodes", text(1...BatchRequest.isbnCharactersMax, isNullable: false),
                        without: "books"),
                    form("books", book, without: "barcodes"),
                ])
            )
        ])
    }

    static var v2Stream: YAMLValue {
        let events = (Contract.v2Events + Contract.v2DottedEvents).map { event in
            let data = YAMLValue.map([
                ("contentMediaType", .text(Contract.jsonType)),
                ("contentSchema", Self.schema(named: event.data)),
            ])
            return YAMLValue.map([
                ("properties", .map([("event", .map([("enum", .texts(event.names))])), ("data", data)]))
            ])
        }
        let text = YAMLValue.map([("type", .text("string"))])
        let schema = YAMLValue.map([
            ("type", .text("object")),
            (
                "description",
                .text(
                    """
                    One event of a stream of v2 with one line of JSON. A comment is a heartbeat, and `retry` is 5000. Behind
                    `timeout` the stream ends, and the job goes on. A backend with `event-names: dotted` sends the events with
                    a point in their names for scans and batches, and the others for imports.
                    """)
            ),
            ("required", .texts(["event", "data"])),
            ("properties", .map([("id", text), ("event", text), ("data", text)])), ("oneOf", .list(events)),
        ])
        return .map([("schema", schema)])
    }
}
