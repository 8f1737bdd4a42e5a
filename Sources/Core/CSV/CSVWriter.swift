package import SimBase

/// Writes the records of a CSV file (RFC 4180).
package enum CSVWriter {
    /// Returns the bytes of a whole file. `rows`: the fields of each record, the header first.
    package static func bytes(_ rows: [[String]], _ format: CSVFormat) -> [UInt8] {
        ByteBuilder.bytes { file in
            if format.hasByteOrderMark { file.append(contentsOf: CSVByte.byteOrderMark) }
            for row in rows { Self.append(row, format, to: &file) }
        }
    }

    /// Appends one record with its line end.
    package static func append(_ fields: [String], _ format: CSVFormat, to file: inout ByteBuilder) {
        for (index, field) in fields.enumerated() {
            if index > 0 { file.append(format.separator.rawValue) }
            // Without quotes, a record of one empty field is a blank line, which readers skip.
            let needsQuotes =
                format.quoting == .all || Self.isSpecial(field, format)
                || (fields.count == 1 && field.isEmpty)
            guard needsQuotes else {
                file.append(text: field)
                continue
            }
            file.append(CSVByte.quote)
            for byte in field.utf8 {
                if byte == CSVByte.quote { file.append(CSVByte.quote) }
                file.append(byte)
            }
            file.append(CSVByte.quote)
        }
        file.append(text: format.lineEnd.rawValue)
    }

    private static func isSpecial(_ field: String, _ format: CSVFormat) -> Bool {
        field.utf8.contains { byte in
            byte == format.separator.rawValue || byte == CSVByte.quote || CSVByte.isLineEnd(byte)
        }
    }
}
