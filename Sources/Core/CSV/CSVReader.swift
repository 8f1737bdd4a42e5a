/// One record of a file.
package struct CSVRow: Hashable, Sendable {
    /// Counted from 1; the header has 0.
    package var number: Int
    package var fields: [String]

    package init(number: Int, fields: [String]) {
        self.number = number
        self.fields = fields
    }
}

/// Reads CSV (RFC 4180) from bytes that arrive in pieces of any length.
///
/// The separator is found in the header, the first line that is not blank. A record ends with LF, CRLF or CR; blank lines are
/// skipped. A quote inside a field that does not begin with one is text. A byte order mark of UTF-8 is skipped. Records and
/// quotes follow the rules of Python's `csv`, with two differences: text after a closing quote and a file that ends inside quotes are
/// errors.
package struct CSVReader: Sendable {
    package struct Limits: Hashable, Sendable {
        package var bytesMax: Int
        /// The records of a file, without its header.
        package var rowsMax: Int
        package var fieldsMax: Int
        /// The length of a field, and of the header.
        package var fieldBytesMax: Int

        package init(bytesMax: Int, rowsMax: Int, fieldsMax: Int, fieldBytesMax: Int) {
            self.bytesMax = bytesMax
            self.rowsMax = rowsMax
            self.fieldsMax = fieldsMax
            self.fieldBytesMax = fieldBytesMax
        }

        /// The limits of an import: 8 MiB and 5,000 rows (Docs/contract.md section 3.2), 64 fields of 64 KiB.
        package static let imports = Limits(
            bytesMax: 8 << 20, rowsMax: 5_000, fieldsMax: 64, fieldBytesMax: 65_536)
    }

    private enum State {
        /// Before a record. Leaves to `plain`, `quoted` or `fieldStart`.
        case lineStart
        /// After a separator. Leaves to any other.
        case fieldStart
        /// Inside a field without quotes. Leaves to `fieldStart` or `lineStart`.
        case plain
        /// Inside quotes. Leaves to `quote`.
        case quoted
        /// After a quote inside quotes: the first of two, or the closing one. Leaves to `quoted`, `fieldStart` or `lineStart`.
        case quote
    }

    private let limits: Limits
    /// The bytes up to the end of the header; nil once the separator is known.
    private var header: [UInt8]? = []
    private var search = SeparatorSearch()
    private var separator = CSVFormat.Separator.comma.rawValue
    private var state = State.lineStart
    private var bytesRead = 0
    /// The number of the record that is being read or comes next.
    private var row = 0
    private var field: [UInt8] = []
    private var fields: [String] = []
    private var failure: CSVError?

    package init(limits: Limits) { self.limits = limits }

    /// Reads a whole file.
    package static func rows(_ bytes: [UInt8], limits: Limits) throws(CSVError) -> [CSVRow] {
        var reader = CSVReader(limits: limits)
        var rows: [CSVRow] = []
        try reader.receive(bytes[...], into: &rows)
        try reader.finish(into: &rows)
        return rows
    }

    /// Reads more bytes and appends the records that they complete. After an error, every call throws that error.
    package mutating func receive(
        _ bytes: ArraySlice<UInt8>, into rows: inout [CSVRow]
    ) throws(CSVError) {
        if let failure = self.failure { throw failure }
        do throws(CSVError) {
            for byte in bytes { try self.receive(byte, into: &rows) }
        } catch {
            self.failure = error
            throw error
        }
    }

    /// Ends the file. Appends the last record if it has no line end.
    package mutating func finish(into rows: inout [CSVRow]) throws(CSVError) {
        if let failure = self.failure { throw failure }
        do throws(CSVError) {
            try self.endHeader(into: &rows)
            switch self.state {
            case .lineStart: break
            case .fieldStart, .plain, .quote: try self.endRecord(into: &rows)
            case .quoted: throw .unclosedQuote(row: self.row)
            }
        } catch {
            self.failure = error
            throw error
        }
    }

    private mutating func receive(_ byte: UInt8, into rows: inout [CSVRow]) throws(CSVError) {
        self.bytesRead += 1
        guard self.bytesRead <= self.limits.bytesMax else { throw .tooLarge }
        guard self.header != nil else { return try self.step(byte, into: &rows) }
        try self.receiveHeader(byte, into: &rows)
    }

    // MARK: The header

    private mutating func receiveHeader(_ byte: UInt8, into rows: inout [CSVRow]) throws(CSVError) {
        if CSVByte.isLineEnd(byte), self.header?.isEmpty == true { return }
        self.header?.append(byte)
        if self.header == [0xFF, 0xFE] || self.header == [0xFE, 0xFF] { throw .utf16 }
        if self.header == CSVByte.byteOrderMark, self.bytesRead == 3 {
            self.header = []
            self.search = SeparatorSearch()
            return
        }
        if byte == 0 { throw .nul(row: 0) }
        if self.search.ends(with: byte) {
            try self.endHeader(into: &rows)
        } else if self.header?.count ?? 0 > self.limits.fieldBytesMax {
            throw .fieldTooLong(row: 0)
        }
    }

    /// Reads the header with the separator that was found in it.
    private mutating func endHeader(into rows: inout [CSVRow]) throws(CSVError) {
        guard let header = self.header else { return }
        guard !header.isEmpty else { throw .empty }
        guard let separator = self.search.separator else {
            throw String(validating: header, as: UTF8.self) == nil ? .notUTF8(row: 0) : .oneColumn
        }
        self.header = nil
        self.separator = separator.rawValue
        for byte in header { try self.step(byte, into: &rows) }
    }

    // MARK: Records

    private mutating func step(_ byte: UInt8, into rows: inout [CSVRow]) throws(CSVError) {
        let isLineEnd = CSVByte.isLineEnd(byte)
        switch self.state {
        case .lineStart:
            guard !isLineEnd else { return }
            guard self.row <= self.limits.rowsMax else { throw .tooManyRows }
            try self.beginField(byte)
        case .fieldStart:
            if isLineEnd { try self.endRecord(into: &rows) } else { try self.beginField(byte) }
        case .plain:
            if isLineEnd {
                try self.endRecord(into: &rows)
            } else if byte == self.separator {
                try self.endField()
            } else {
                try self.append(byte)
            }
        case .quoted:
            if byte == CSVByte.quote { self.state = .quote } else { try self.append(byte) }
        case .quote:
            if byte == CSVByte.quote {
                self.state = .quoted
                try self.append(byte)
            } else if isLineEnd {
                try self.endRecord(into: &rows)
            } else if byte == self.separator {
                try self.endField()
            } else {
                throw .textAfterQuote(row: self.row)
            }
        }
    }

    private mutating func beginField(_ byte: UInt8) throws(CSVError) {
        if byte == CSVByte.quote {
            self.state = .quoted
        } else if byte == self.separator {
            try self.endField()
        } else {
            self.state = .plain
            try self.append(byte)
        }
    }

    private mutating func append(_ byte: UInt8) throws(CSVError) {
        guard byte != 0 else { throw .nul(row: self.row) }
        guard self.field.count < self.limits.fieldBytesMax else { throw .fieldTooLong(row: self.row) }
        self.field.append(byte)
    }

    private mutating func endField() throws(CSVError) {
        guard self.fields.count < self.limits.fieldsMax else { throw .tooManyFields(row: self.row) }
        guard let text = String(validating: self.field, as: UTF8.self) else {
            throw .notUTF8(row: self.row)
        }
        self.fields.append(text)
        self.field.removeAll(keepingCapacity: true)
        self.state = .fieldStart
    }

    private mutating func endRecord(into rows: inout [CSVRow]) throws(CSVError) {
        try self.endField()
        rows.append(CSVRow(number: self.row, fields: self.fields))
        self.fields = []
        self.row += 1
        self.state = .lineStart
    }
}
