// The requests of v2 in the OpenAPI document: forms, batches, and the events of a job.

extension OpenAPIDocument {
    static func json(_ schema: YAMLValue) -> YAMLValue {
        .map([
            ("required", .flag(true)), ("content", .map([(Contract.jsonType, .map([("schema", schema)]))])),
        ])
    }

    /// A form with one file, or up to so many.
    static func form(_ part: String, itemsMax: Int?) -> YAMLValue {
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
    static var batch: YAMLValue {
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
