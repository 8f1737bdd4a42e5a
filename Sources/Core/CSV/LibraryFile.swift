package import SimBase

/// A generated library file: a pure function of (seed, device, number of the file).
package struct LibraryFile: Hashable, Sendable {
    /// One row of the file.
    package struct Row: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case book
            case withoutISBN
            case badISBN
            /// Has the ISBN of this row, which comes before it. Rows are counted from 1.
            case duplicate(of: Int)
        }

        package var kind: Kind
        package var title: String
        package var author: String
        /// As it is written: ten or thirteen digits, with or without hyphens; empty without one.
        package var isbn: String
        package var note: String?
    }

    package let rows: [Row]
    package let format: CSVFormat
    private let hasNotes: Bool

    /// `number`: distinguishes the files of a device.
    package init(_ spec: LibrarySpec, _ random: KeyedRandom, device: DeviceNumber, number: UInt32) {
        precondition(spec.objection == nil, spec.objection ?? "")
        self.format = spec.format
        self.hasNotes = spec.noteBytes != nil
        var rows: [Row] = []
        /// The rows that a later one may repeat.
        var books: [(row: Int, isbn: ISBN)] = []
        for index in 0..<spec.rows {
            let draws = Draws(random: random, device: device, number: number, row: index)
            var row = draws.row(spec)
            let isbn = ISBN(number: draws.below(1_000_000_000, .isbn))
            if spec.duplicates.happens(draws[.duplicate]), !books.isEmpty {
                let earlier = books[Int(draws.below(UInt64(books.count), .earlier))]
                row.kind = .duplicate(of: earlier.row)
                row.isbn = draws.form(of: earlier.isbn)
            } else if spec.withoutISBN.happens(draws[.withoutISBN]) {
                row.kind = .withoutISBN
            } else if spec.badISBNs.happens(draws[.badISBN]) {
                row.kind = .badISBN
                let last = isbn.digits.utf8.last ?? 0x30
                let wrong = (last - 0x30 + 1 + UInt8(draws.below(9, .wrongDigit))) % 10
                row.isbn = isbn.digits.dropLast() + String(wrong)
            } else {
                row.isbn = draws.form(of: isbn)
                books.append((index + 1, isbn))
            }
            rows.append(row)
        }
        self.rows = rows
    }

    /// The fields of each record, the header first.
    package var table: [[String]] {
        let notes = self.hasNotes ? ["Notes"] : []
        return [["Title", "Author", "ISBN"] + notes]
            + self.rows.map { [$0.title, $0.author, $0.isbn] + ($0.note.map { [$0] } ?? []) }
    }

    package var bytes: [UInt8] { CSVWriter.bytes(self.table, self.format) }
}

/// The draws of one row.
private struct Draws {
    enum Part: UInt64 {
        case work, isbn, duplicate, earlier, withoutISBN, badISBN, wrongDigit, form, lineBreak, quote, note
    }

    let random: KeyedRandom
    let device: DeviceNumber
    let number: UInt32
    let row: Int

    subscript(_ part: Part) -> UInt64 {
        self.random.draw(
            .library, UInt64(self.device.raw), UInt64(self.number), UInt64(self.row) << 8 | part.rawValue)
    }

    func below(_ bound: UInt64, _ part: Part) -> UInt64 { self[part].multipliedFullWidth(by: bound).high }

    /// A row without its ISBN. No two of them, over all files, have the same title.
    func row(_ spec: LibrarySpec) -> LibraryFile.Row {
        let work = Self.works[Int(self.below(UInt64(Self.works.count), .work))]
        var title = "\(work.title), copy \(self.device.raw).\(self.number).\(self.row + 1)"
        if spec.quotes.happens(self[.quote]) { title = "\"\(title)\", signed" }
        if spec.lineBreaks.happens(self[.lineBreak]) {
            title += self[.lineBreak].isMultiple(of: 2) ? "\r\nA novel" : "\nA novel"
        }
        return LibraryFile.Row(
            kind: .book, title: title, author: work.author, isbn: "", note: spec.noteBytes.map(self.note))
    }

    private func note(_ bytes: ClosedRange<Int>) -> String {
        let count = bytes.lowerBound + Int(self.below(UInt64(bytes.count), .note))
        let text = Array("A gift; \"read twice\", lent.\n".utf8)
        return ByteBuilder.text { note in
            for index in 0..<count { note.append(text[index % text.count]) }
        }
    }

    /// One of the forms in which a number is written.
    func form(of isbn: ISBN) -> String {
        let digits = isbn.digits
        switch self.below(4, .form) {
        case 0: return isbn.tenDigits ?? digits
        case 1:
            let group = digits.dropFirst(3)
            return "\(digits.prefix(3))-\(group.prefix(1))-\(group.dropFirst().prefix(8))-\(group.suffix(1))"
        default: return digits
        }
    }

    /// Old works in several scripts, with each of the separators.
    private static let works: [(title: String, author: String)] = [
        ("Moby-Dick; or, The Whale", "Herman Melville"),
        ("Les Misérables", "Hugo, Victor"),
        ("Преступление и наказание", "Фёдор Достоевский"),
        ("吾輩は猫である", "夏目漱石"),
        ("Der Prozeß", "Kafka, Franz"),
        ("Pride and Prejudice", "Jane Austen"),
        ("Ὀδύσσεια", "Ὅμηρος"),
        ("Frankenstein; or, The Modern Prometheus", "Shelley, Mary"),
        ("گلستان", "سعدی"),
        ("Kalevala 🌲", "Elias Lönnrot"),
        ("The Time Machine\tand other stories", "H. G. Wells"),
        ("The Art of War \"孫子兵法\"", "孫武"),
    ]
}
