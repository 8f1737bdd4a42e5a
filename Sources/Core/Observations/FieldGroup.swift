import Talaria

// Values of several fields. Each field has its own key, so that the group has none.

extension FieldCodec where Self: ~Copyable {
    /// The keys and values of the fields of a group.
    fileprivate mutating func group<Whole, each Value: FieldValue>(
        _ make: (repeat each Value) -> Whole?, _ fields: repeat (StaticString, each Value)
    ) throws(MalformedObservation) -> Whole? {
        make(repeat try self.field((each fields).0, (each fields).1))
    }
}

extension BookFailures: FieldValue {
    static var blank: Self { Self(failed: 0, total: 0) }

    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        let value = value ?? .blank
        return try codec.group(Self.init(failed:total:), ("failed", value.failed), ("total", value.total))
    }
}

extension BookLookup: FieldValue {
    static var blank: Self { Self(key: nil, barcode: "", isFound: false, isBilled: false) }

    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        let value = value ?? .blank
        return try codec.group(
            Self.init, ("key", value.key), ("barcode", value.barcode), ("found", value.isFound),
            ("billed", value.isBilled))
    }
}

extension TextOutcome: FieldValue {
    static var blank: Self { Self(title: .foundationModels, author: .foundationModels, discrepancies: 0) }

    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        let value = value ?? .blank
        return try codec.group(
            Self.init(title:author:discrepancies:), ("title", value.title), ("author", value.author),
            ("discrepancies", value.discrepancies))
    }
}

extension BooksPromise: FieldValue {
    static var blank: Self { Self(unique: 0) }

    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        let value = value ?? .blank
        return try codec.group(
            Self.init(unique:detected:), ("unique", value.unique), ("detected", value.detected))
    }
}

extension ContractFinding: FieldValue {
    static var blank: Self {
        Self(
            operation: .upload, part: "", path: "", expected: "", seen: "", excerpt: nil, isDecisive: false,
            count: 1)
    }

    /// A finding that did not occur is none.
    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        let value = value ?? .blank
        let finding = try codec.group(
            Self.init, ("operation", value.operation), ("part", value.part), ("path", value.path),
            ("expected", value.expected), ("seen", value.seen), ("excerpt", value.excerpt),
            ("decisive", value.isDecisive), ("count", value.count))
        return finding.flatMap { $0.count > 0 ? $0 : nil }
    }
}

extension RowCounts: FieldValue {
    static var blank: Self { Self() }

    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        let value = value ?? .blank
        return try codec.group(
            Self.init, ("created", value.created), ("updated", value.updated), ("skipped", value.skipped),
            ("failed", value.failed), ("pending", value.pending))
    }
}

/// The details are not in the log. No value without a title.
extension Book: FieldValue {
    static var blank: Self {
        Self(title: "", author: "", isbn: nil, confidence: nil, enrichmentStatus: nil, coverUrl: nil)
    }

    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        guard let title = try codec.text("title", value?.title) else { return nil }
        var book = value ?? .blank
        book.title = title
        book.author = try codec.field("author", book.author)
        book.isbn = try codec.text("isbn", book.isbn)
        let enrichment = try codec.text("enrichment", book.enrichmentStatus?.text)
        if codec.isReader { book.enrichmentStatus = enrichment.map { EnrichmentStatus(text: $0) } }
        try codec.details(of: &book)
        return book
    }
}

/// The name, then the fields of the case.
extension RefusalCause: FieldValue {
    static var blank: Self { .photo }

    private static let all: [Self] = [
        .answer(.upload, attempt: 0, status: 0, retryable: nil), .event(job: "", retryable: nil), .photo,
        .storage, .queue,
    ]

    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        guard let name = try codec.name(key, value?.name) else { return nil }
        let cause = codec.isReader ? Self.all.first { $0.name == name } : value
        switch cause {
        case .answer(let operation, let attempt, let status, let isRetryable):
            return try codec.group(
                Self.answer, ("operation", operation), ("attempt", attempt), ("status", status),
                ("retryable", isRetryable))
        case .event(let job, let isRetryable):
            return try codec.group(Self.event, ("job", job), ("retryable", isRetryable))
        case .photo, .storage, .queue: return cause
        case nil: throw MalformedObservation()
        }
    }
}
