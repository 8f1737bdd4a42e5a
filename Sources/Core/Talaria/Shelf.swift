package import SimBase

/// The books on the shelf of a scan: a pure function of (seed, device, scan).
///
/// The backend finds these books, the ledger knows that it should; a phone never sees this type, because a phone that
/// knew its books would prove nothing.
package struct Shelf: Hashable, Sendable {
    package let seed: UInt64
    package let booksMin: Int
    package let booksMax: Int
    /// What is known of a book once it was looked up.
    package var lookup = Lookup.contract
    /// Outcomes of the look-up that differ from those of `lookup`.
    package var statuses = StatusShares()
    /// The confidence of a book, in thousandths, drawn uniformly; nil for that of `lookup`.
    package var confidence: ClosedRange<Int>?
    /// Devices whose scans do not have the books of a photo.
    package var exceptions: [Exception] = []
    /// Books that no provider has, of those that are looked up one by one.
    package var unknownBooks = Odds.percent(5)

    /// What the scans of some devices have.
    package struct Exception: Hashable, Sendable {
        package let devices: ClosedRange<UInt32>
        package let stock: Stock
        /// The share of scans that have the barcode, or the shelf, of an earlier one of the device.
        package let repeats: Odds
        /// How the phones read spines.
        package let reader: SpineReader

        package init(
            devices: ClosedRange<UInt32>, stock: Stock, repeats: Odds = .never,
            reader: SpineReader = SpineReader()
        ) {
            self.devices = devices
            self.stock = stock
            self.repeats = repeats
            self.reader = reader
        }
    }

    package enum Stock: Hashable, Sendable {
        /// As many books as a photo shows, some of them without an ISBN.
        case books
        /// As many, and all with an ISBN: they are asked for by their barcodes.
        case barcodes
        /// One barcode. Of some, no provider has the book.
        case oneBarcode
        /// One spine, which the phone reads by itself.
        case oneSpine
        /// None: files are imported.
        case none
    }

    /// What the scans of a device have.
    package func stock(of device: DeviceNumber) -> Stock { self.exception(for: device)?.stock ?? .books }

    private func exception(for device: DeviceNumber) -> Exception? {
        self.exceptions.first { $0.devices.contains(device.raw) }
    }

    /// The first scan of what a scan has: itself, or an earlier one by a user who scans the same book or shelf again.
    private func firstScan(of scan: ScanNumber, device: DeviceNumber) -> ScanNumber {
        guard let repeats = self.exception(for: device)?.repeats, repeats > .never else { return scan }
        let random = KeyedRandom(seed: self.seed)
        var first = UInt64(scan.raw)
        while first > 1, repeats.happens(random.draw(.repeatedBarcode, UInt64(device.raw), first)) {
            first = 1 + random.below(first - 1, .repeatedBarcode, UInt64(device.raw), first, 1)
        }
        return ScanNumber(UInt32(first))
    }

    package enum Lookup: Hashable, Sendable {
        /// Most books have an ISBN, and with it a cover.
        case contract
        /// Title and author as on the spine, for review: what the live backend returned for each book
        /// (Docs/contract.md section 2.4).
        case spines
        /// The books of the contract, with the statuses of OAS (Docs/contract.md section 7, C11).
        case openAPI
        /// Every scan has the books of a captured stream.
        case captured([Book])
    }

    package init(seed: UInt64, booksMin: Int, booksMax: Int) {
        precondition(
            0 <= booksMin && booksMin <= booksMax, "a shelf holds from some to as many or more books")
        self.seed = seed
        self.booksMin = booksMin
        self.booksMax = booksMax
    }

    /// Returns the number of books of the scan.
    package func count(device: DeviceNumber, scan: ScanNumber) -> Int {
        let stock = self.stock(of: device)
        switch stock {
        case .none: return 0
        case .oneSpine: return 1
        case .oneBarcode:
            let first = self.firstScan(of: scan, device: device)
            let draw = KeyedRandom(seed: self.seed).draw(
                .unknownBook, UInt64(device.raw), UInt64(first.raw))
            return self.unknownBooks.happens(draw) ? 0 : 1
        case .books, .barcodes: break
        }
        if stock == .books, case .captured(let books) = self.lookup { return books.count }
        let scan = self.firstScan(of: scan, device: device)
        let choices = UInt64(self.booksMax - self.booksMin + 1)
        return self.booksMin
            + Int(
                KeyedRandom(seed: self.seed).below(choices, .shelf, UInt64(device.raw), UInt64(scan.raw), 0))
    }

    /// The books in their order on the shelf. No two of them, over the whole fleet, have the same title, unless they were
    /// captured.
    package func books(device: DeviceNumber, scan: ScanNumber) -> [Book] {
        (0..<self.count(device: device, scan: scan)).map {
            self.book(device: device, scan: scan, ordinal: $0)
        }
    }

    /// The book at one offset, from 0.
    package func book(device: DeviceNumber, scan: ScanNumber, ordinal: Int) -> Book {
        let stock = self.stock(of: device)
        let scan = self.firstScan(of: scan, device: device)
        // A book that is known by its barcode has its ISBN, whatever a photo would show of it.
        let lookup = stock == .books ? self.lookup : .contract
        if case .captured(let books) = lookup { return books[ordinal] }
        let random = KeyedRandom(seed: self.seed)
        let detail = UInt64(ordinal + 1) * 8
        func draw(_ part: UInt64) -> UInt64 {
            random.draw(.shelf, UInt64(device.raw), UInt64(scan.raw), detail + part)
        }
        let title = self.title(device: device, scan: scan, ordinal: ordinal)
        let author = self.work(device, scan, ordinal).author
        // A barcode is not recognized with more or less confidence, and has no status.
        let isLookedUp = stock == .oneBarcode
        let drawn = isLookedUp ? nil : self.statuses.status(draw(4))
        let confidence = self.confidence.map {
            Double($0.lowerBound + Int(draw(3) % UInt64($0.count))) / 1_000
        }
        if lookup == .spines {
            return Book(
                title: title, author: author, isbn: nil, confidence: confidence ?? 0.95,
                enrichmentStatus: drawn ?? .reviewNeeded, coverUrl: nil)
        }
        let hasNumber = draw(1) % 10 < 8 || stock == .barcodes || stock == .oneBarcode
        let isbn = hasNumber ? Self.isbn13(draw(2)) : nil
        let found: EnrichmentStatus =
            lookup == .openAPI
            ? .unknown(isbn == nil ? "failed" : "complete") : isbn == nil ? .notFound : .success
        return Book(
            title: title, author: author, isbn: isbn,
            confidence: isLookedUp ? nil : confidence ?? Double(55 + draw(3) % 45) / 100,
            enrichmentStatus: isLookedUp ? nil : drawn ?? found,
            coverUrl: drawn?.isOfFoundBook == false ? nil : isbn.map(Self.cover))
    }

    private static func cover(_ isbn: String) -> String {
        ByteBuilder.text { cover in
            cover.append(literal: "https://covers.example/")
            cover.append(text: isbn)
            cover.append(literal: ".jpg")
        }
    }

    /// The barcode of a scan of a single book; nil for any other scan.
    package func barcode(device: DeviceNumber, scan: ScanNumber) -> String? {
        guard self.stock(of: device) == .oneBarcode else { return nil }
        return self.book(device: device, scan: scan, ordinal: 0).isbn
    }

    /// What the phone reads on the spine of a scan, and how long that takes; nil for a scan of another kind.
    package func reading(device: DeviceNumber, scan: ScanNumber) -> BookReading? {
        guard let reader = self.exception(for: device), reader.stock == .oneSpine else { return nil }
        return reader.reader.reading(
            of: self.book(device: device, scan: scan, ordinal: 0), seed: self.seed, device: device, scan: scan
        )
    }

    package func readingTime(device: DeviceNumber, scan: ScanNumber) -> Interval {
        (self.exception(for: device)?.reader ?? SpineReader()).time(
            seed: self.seed, device: device, scan: scan)
    }

    /// What a look-up by text finds of the book of a scan. How sure it is of it is drawn: from 0.84 to 0.99.
    package func enrichment(device: DeviceNumber, scan: ScanNumber) -> Enrichment {
        let book = self.book(device: device, scan: scan, ordinal: 0)
        let draw = KeyedRandom(seed: self.seed).draw(.textConfidence, UInt64(device.raw), UInt64(scan.raw))
        var found = Enrichment(
            verifiedTitle: book.title, verifiedAuthor: book.author, confidence: Double(84 + draw % 16) / 100)
        found.coverUrl = book.coverUrl
        found.publisher = "Example Press"
        found.publicationYear = Int(1900 + (draw >> 8) % 125)
        found.genre = "Fiction"
        found.pageCount = Int(80 + (draw >> 16) % 900)
        return found
    }

    /// The title of the book at one offset.
    package func title(device: DeviceNumber, scan: ScanNumber, ordinal: Int) -> String {
        ByteBuilder.text { self.append(titleOf: device, scan, ordinal: ordinal, to: &$0) }
    }

    /// Appends the text to a draft.
    package func append(
        titleOf device: DeviceNumber, _ scan: ScanNumber, ordinal: Int, to text: inout ByteBuilder
    ) {
        let scan = self.firstScan(of: scan, device: device)
        text.append(text: self.work(device, scan, ordinal).title)
        text.append(literal: ", copy ")
        Decimal.append(Int64(device.raw), to: &text)
        text.append(UInt8(ascii: "."))
        Decimal.append(Int64(scan.raw), to: &text)
        text.append(UInt8(ascii: "."))
        Decimal.append(Int64(ordinal + 1), to: &text)
    }

    private func work(
        _ device: DeviceNumber, _ scan: ScanNumber, _ ordinal: Int
    ) -> (title: String, author: String) {
        let drawn = KeyedRandom(seed: self.seed).draw(
            .shelf, UInt64(device.raw), UInt64(scan.raw), UInt64(ordinal + 1) * 8)
        return Self.works[Int(drawn % UInt64(Self.works.count))]
    }

    /// Thirteen digits with the right check digit (ISO 2108: weights 1 and 3, sum divisible by 10).
    private static func isbn13(_ draw: UInt64) -> String {
        let digits = 978_000_000_000 + draw % 1_000_000_000
        var (rest, sum, weight) = (digits, UInt64(0), UInt64(3))
        while rest > 0 {
            sum += rest % 10 * weight
            (rest, weight) = (rest / 10, 4 - weight)
        }
        return ByteBuilder.text { Decimal.append(digits * 10 + (10 - sum % 10) % 10, digits: 13, to: &$0) }
    }

    /// Old works in several scripts, so that titles hold every length of UTF-8 sequence.
    private static let works: [(title: String, author: String)] = [
        ("Moby-Dick; or, The Whale", "Herman Melville"),
        ("Les Misérables", "Victor Hugo"),
        ("Преступление и наказание", "Фёдор Достоевский"),
        ("Don Quijote de la Mancha", "Miguel de Cervantes"),
        ("吾輩は猫である", "夏目漱石"),
        ("Der Prozeß", "Franz Kafka"),
        ("紅樓夢", "曹雪芹"),
        ("Pride and Prejudice", "Jane Austen"),
        ("Njáls saga", "Anonymous"),
        ("Ὀδύσσεια", "Ὅμηρος"),
        ("Frankenstein; or, The Modern Prometheus", "Mary Shelley"),
        ("La divina commedia", "Dante Alighieri"),
        ("Middlemarch", "George Eliot"),
        ("گلستان", "سعدی"),
        ("Kalevala 🌲", "Elias Lönnrot"),
        ("À la recherche du temps perdu", "Marcel Proust"),
        ("The Time Machine", "H. G. Wells"),
        ("Quo vadis", "Henryk Sienkiewicz"),
        ("Twenty Thousand Leagues Under the Seas", "Jules Verne"),
        ("O Guarani", "José de Alencar"),
        ("Sense and Sensibility", "Jane Austen"),
        ("Война и мир", "Лев Толстой"),
        ("The Art of War \"孫子兵法\"", "孫武"),
        ("Wuthering Heights", "Emily Brontë"),
    ]
}
