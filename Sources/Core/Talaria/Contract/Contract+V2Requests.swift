// The bodies of requests of v2 (Docs/contract.md section 3.2).

extension Contract {
    private static let vectorize = ContractMember.maybe(
        "vectorize", .flag(nil), "Whether a vector is wanted, too", isNullable: true)

    /// A batch, in either of its forms.
    static let v2Batch = ContractObject(
        nil, "Books whose metadata are looked up",
        [
            .maybe("barcodes", .list(.text(format: nil)), "ISBNs", isNullable: true),
            .maybe(
                "books",
                .list(
                    .object(
                        ContractObject(
                            nil, "A book",
                            [
                                .always("title", .text(format: nil), "The title"),
                                .maybe("author", .text(format: nil), "The author", isNullable: true),
                                .maybe("isbn", .text(format: nil), "An ISBN", isNullable: true),
                            ]))), "Books", isNullable: true),
            Self.vectorize, .maybe("jobId", .text(format: nil), "A name for the job", isNullable: true),
        ])

    /// `isbn` is the older name of `barcode`.
    private static let olderBarcode = ContractMember.maybe(
        "isbn", .text(format: nil), "An ISBN", isNullable: true)

    static let v2BarcodeByEitherName = ContractObject(
        nil, "A book whose metadata are looked up",
        Self.v2Barcode.members.filter { $0.key != "barcode" } + [
            .maybe("barcode", .text(format: nil), "An ISBN", isNullable: true), Self.olderBarcode,
        ])
}

extension ContractNotes {
    /// The deviations of the body of a batch. A body that is not a JSON object has none: it is refused.
    package init(batch bytes: [UInt8]) {
        self.init()
        var unread = ContractNotes()
        LeanObject(bytes, into: &unread)?.compare(with: Contract.v2Batch, into: &self)
    }

    /// The deviations of the body of a look-up of a single book.
    package init(lookup bytes: [UInt8]) {
        self.init()
        var unread = ContractNotes()
        guard let body = LeanObject(bytes, into: &unread) else { return }
        body.compare(with: Contract.v2BarcodeByEitherName, into: &self)
        if body.contains("isbn"), !body.isNull("isbn"), !body.contains("barcode") || body.isNull("barcode") {
            self.add("isbn", expected: "barcode", seen: "the name of older clients")
        }
    }
}
