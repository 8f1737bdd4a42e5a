import Testing

/// Code that reads a wire or a file meets arbitrary numbers, names and orders. Times and lengths saturate by
/// their types; what else could end the program there is named here, with the reason why it does not.
@Suite struct ReaderTests {
    private static let readers =
        ["SimBase/Instant", "SimBase/Saturating", "Phone/DurableScan+Soundness"]
        + ["Phone/Answer", "Phone/Answer+ServerWait"]
        + ["Gateway/Recording", "Gateway/RecordingLine", "Gateway/RecordingPlayer", "HTTPServer/Recorder"]
        + ["CurlLoop/ResponseHead+Parsing", "LiveServer/Upstream", "JSON/JSONReader", "JSON/JSONNode"]
        + ["CSV/CSVReader", "CSV/SeparatorSearch", "CSV/LibraryTable"]
        + ["JSON/JSONObjectText", "Talaria/LeanReading"]
        + [
            "LivePhones/JournalFile", "LivePhones/JournalSubject", "LivePhones/StateFolder",
            "LivePhones/StateJournal+Lines",
            "Metrics/Counters",
        ]
        + [
            "JSONNode+Ranges", "ObservationReader", "SeriesLog", "HistogramLog",
            "HistogramCode", "PackedNumbers", "SurgeCode",
            "EvidenceReader", "GaugeCode", "IntervalReader", "LineReader", "PhoneTimeline", "RunHead+JSON",
            "SummaryReader", "PastRun",
            "InputFile",
        ].map { "RunArchive/" + $0 }
        + ["RunHead", "RunLabels", "RunTag", "RunResult+Merge"].map { "RunJudge/" + $0 }

    /// Code that would end the program on the wrong input.
    private nonisolated(unsafe) static let risks: [(what: String, pattern: Regex<Substring>)] = [
        ("a check that ends the program", #/\b(?:precondition|preconditionFailure|fatalError|assert)\(/#),
        ("a value that must be there", #/\btry!|\bas!|[\w\)\]]!(?![=\w])/#),
        ("a product or a shift that may not fit", #/ (?:\*|<<|\*=|<<=) /#),
        ("a place before the end, of what may be empty", #/- 1\]/#),
        ("a number of any size", #/\.integer\b(?!\(self|\(Self)|\.scaled\(/#),
    ]

    /// A sum or a difference of two things neither of which is a constant.
    private nonisolated(unsafe) static let sum = #/[\w\)\]] (?:\+|-|\+=|-=) (?!\d)[\w\(\[.]/#
    /// What counts or places bytes that are in memory, as no number that was read does; texts; constants in front.
    private nonisolated(unsafe) static let ofMemory =
        #/\.count\b|Index\b|\b(?:offset|position|start|room|count|last|remaining)\b|[bB]ytes\b|"|[ (\[]\d[\d_]* (?:\+|-) /#

    /// A `count` that something is added to is not a property of a collection.
    private nonisolated(unsafe) static let total = #/\.count (?:\+=|-=) (?!\d)/#

    /// File, code, and why it does no harm.
    private static let allowed: [(file: String, code: String, why: String)] = [
        ("Wire/", "precondition(", "of limits that this program sets, of a status that was checked"),
        (
            "Wire/", "preconditionFailure(\"only bytes",
            "of a driver that passes over bytes by the reader's word"
        ),
        ("Wire/ASCII", "end - 1]", "the end is behind the start"),
        ("Wire/HTTPDate", "", "of years with four digits"),
        ("Wire/RequestHead", "high << 4 | low", "of nibbles"),
        ("Wire/ResponseReader", "status * 10", "of three digits"),
        ("Wire/ResponseReader", "<< 4", "of at most 15 digits"),
        ("Wire/", "min(most, ", "of at most ten times a limit"),
        (
            "Wire/SSEReader", "name << 8",
            "of a name of at most five bytes; bits that are pushed out are no error"
        ),
        ("Wire/SSEWriter", "assert(", "in debug builds alone"),
        ("Wire/WebSocket/WebSocketConnection", "now + self.patience", "moments saturate"),
        ("SimBase/Instant", "static func *", "the declaration of a product that saturates"),
        ("Gateway/Recording.swift", "steps.count - 1]", "the first and the last step were looked at"),
        ("Gateway/RecordingPlayer", "(1 << (4 * UInt64(count)))", "of fewer than eight digits"),
        ("CurlLoop/", "$0 * 10", "of three digits"),
        ("CurlLoop/ResponseHead+Parsing", "bytes[end - 1]", "the end is behind the start"),
        ("JSON/JSONReader", "text += rest", "of bytes"),
        ("JSON/JSONReader", "text + rest", "of bytes"),
        ("JSON/JSONReader", "<< 10", "of ten bits"),
        ("JSON/JSONNode", "range.upperBound - pointAt - 1", "the point is in the range"),
        ("JSON/JSONNode", "self.integer(Int.self)", "the declaration of a number within a range"),
        ("JSON/JSONObjectText", "entries[index - 1]", "the index is above 0"),
        ("Talaria/LeanReading", "self.prefix + key", "of texts"),
        ("Talaria/LeanReading", ".integer", "its readers compare, bound or show it"),
        ("Gateway/Recording.swift", "\"recording\"", "a comparison"),
        ("Gateway/RecordingLine", ".integer", "an identity, or brought into range on the next lines"),
        ("LivePhones/StateJournal+Lines", ".integer", "brought into range by isSound and StateFolder"),
        ("RunArchive/ObservationReader", ".integer", "an identity, or brought into range by FieldValue"),
        ("RunArchive/EvidenceReader", ".integer(UInt32.self)", "an identity"),
        ("RunArchive/EvidenceReader", ".integer", "a comparison, or brought into range on the next lines"),
        ("RunArchive/SeriesLog", ".integer(count", "a number that is written"),
        ("RunArchive/SeriesLog", "$0.integer($1)", "a number that is written"),
        ("LivePhones/JournalSubject", "value * 10", "of at most eleven digits in 64 bits"),
        ("LivePhones/StateFolder", "all(in: self.path) + locations", "of lists"),
        ("LivePhones/StateFolder", "precondition(threads", "of a number that this program sets"),
        ("RunArchive/JSONNode+Ranges", "self.scaled", "where numbers are brought into range"),
        ("RunArchive/SeriesLog", "numbers[", "the histogram is held to them by its counts"),
        ("RunArchive/HistogramCode", "countsLength * 9", "a limit"),
        ("RunArchive/PackedNumbers", "countMax * Self", "of a limit of this program"),
        ("RunArchive/HistogramCode", "<< 8 | UInt32", "of four bytes"),
        ("RunArchive/PackedNumbers", "number << 1", "bits that are pushed out are no error"),
        ("RunArchive/PackedNumbers", "UInt64(7 * index)", "of nine bytes"),
        ("RunArchive/GaugeCode", "3 * GaugeSeries", "of a limit of this program"),
        (
            "RunArchive/GaugeCode", "$0.to - $0.from",
            "intervals saturate, and no sample has less at most than at least"
        ),
        ("RunArchive/GaugeCode", "least + more", "of numbers of 32 bits"),
        ("RunArchive/SurgeCode", "* Self.columns", "of a limit of this program"),
        ("RunArchive/SurgeCode", "count * $0", "of places in memory"),
        ("RunArchive/SurgeCode", "+= columns[0][index]", "of a bounded number of bounded numbers"),
        ("RunArchive/SurgeCode", "numbers += windows", "of lists"),
        ("RunArchive/PhoneTimeline", "device * 10", "below 400 million"),
        ("RunArchive/RunHead+JSON", "\"seed\"", "a seed has all 64 bits"),
        ("RunArchive/RunHead+JSON", "\"settle_ns\"", "written, not read"),
        ("RunArchive/HistogramLog", "lines += line", "of texts"),
        ("RunArchive/RunHead+JSON", "\"started_ms\"", "brought into range on the same line"),
        ("RunArchive/RunHead+JSON", "\"devices\"", "brought into range on the next line"),
        ("RunArchive/RunHead+JSON", "\"schema\"", "a comparison"),
        ("RunArchive/RunHead+JSON", "$0 + $1.devices", "of a bounded number of bounded numbers"),
        ("RunArchive/PastRun", "\"schema\"", "a comparison"),
        ("RunArchive/PastRun", "\"exit\"", "a comparison"),
        ("RunArchive/SummaryReader", "\"exit\"", "a code that is looked up"),
        ("RunArchive/SummaryReader", ".integer(UInt32.self)", "a number that is shown"),
        ("RunArchive/SummaryReader", "Int64(memory) * 1_024", "of a count"),
        ("Wire/RetryAfter", "date - secondsSince1970", "of years with four digits and a clock"),
        ("Wire/SSEWriter", "(end + (isPair", "of places in a text"),
        ("Wire/ResponseWriter", "Int.bitWidth - count", "of a number of bits"),
        ("SimBase/Instant", "static func", "the declarations of sums that saturate"),
        (
            "Phone/Answer+ServerWait", "min(.seconds(date - seconds)",
            "of years with four digits; intervals saturate"
        ),
        ("Gateway/Recording.swift", "$0 += piece", "of bytes"),
        ("Gateway/Recording.swift", "line.at - self.began", "moments saturate"),
        ("Gateway/RecordingLine", "Instant.zero", "moments saturate"),
        ("Gateway/RecordingPlayer", "self.wallClockAtZero +", "of milliseconds below a 106th of what fits"),
        ("Gateway/RecordingPlayer", "playing.began +", "moments saturate"),
        ("HTTPServer/Recorder", "told += self.held", "of bytes"),
        ("LiveServer/Upstream", "self.setup.base +", "of texts"),
        ("LiveServer/Upstream", "fields + self.setup.headers", "of lists"),
        ("RunArchive/SeriesLog", "lines += line", "of bytes"),
        ("RunArchive/HistogramCode", "whole + packed", "of bytes"),
        ("RunArchive/HistogramCode", "HDRLayout.countsLength - index", "of a place in the counts"),
        ("RunArchive/HistogramCode", "index += Int(-number)", "the line before keeps it within the counts"),
        ("RunArchive/IntervalReader", "(entry.length - length)", "intervals saturate"),
        ("RunJudge/RunLabels", "base.tags + new.tags", "of lists"),
        ("RunArchive/LineReader", "self.passed +", "of places in a file"),
        ("RunJudge/RunLabels", "plain[..<scheme.upperBound] +", "of texts"),
        ("RunJudge/RunResult+Merge", "mine + others", "of lists"),
        ("RunJudge/RunResult+Merge", "length - max(", "intervals saturate"),
        ("RunJudge/RunResult+Merge", "mine.processor + others.processor", "intervals saturate"),
        ("RunJudge/RunHead", "first", "of a bounded number of bounded numbers"),
        ("RunJudge/RunResult+Merge", "self.examples + other.examples", "of lists"),
        ("RunJudge/RunResult+Merge", "self.violations +=", "of at most a thousand shards, each below 2^50"),
        ("RunJudge/RunResult+Merge", "self.expected +=", "of at most a thousand shards, each below 2^50"),
        ("RunJudge/RunResult+Merge", "+= other.", "of lists"),
    ]

    private static func risk(in code: String) -> String? {
        // Constants cannot overflow without the compiler's word.
        let bare = code.replacing(#/\$\d/#, with: "x").replacing(
            #/\b[\d_]+ (?:\*|<<) [\d_]+(?: \* [\d_]+)*/#, with: "1")
        if let risk = Self.risks.first(where: { bare.firstMatch(of: $0.pattern) != nil }) { return risk.what }
        let isSum = bare.firstMatch(of: Self.sum) != nil && bare.firstMatch(of: Self.ofMemory) == nil
        return isSum || bare.firstMatch(of: Self.total) != nil ? "a sum that may not fit" : nil
    }

    @Test func `what reads has nothing that the wrong input can end the program with`() {
        let wire = SourceTree.files(in: "Sources/Core/Wire", ending: ".swift")
        let others = SourceTree.files(in: "Sources", ending: ".swift").filter { file in
            Self.readers.contains { file.inTarget == "\($0).swift" }
        }
        #expect(others.count == Self.readers.count, "a reader was renamed: say so here")
        var used: Set<Int> = []
        for file in wire + others {
            for (number, text) in file.code {
                guard let risk = Self.risk(in: text) else { continue }
                let index = Self.allowed.firstIndex { allowed in
                    file.inTarget?.hasPrefix(allowed.file) == true
                        && (allowed.code.isEmpty || text.contains(allowed.code))
                }
                if let index { used.insert(index) }
                #expect(index != nil, "\(file.path):\(number): \(risk): \(text)")
            }
        }
        for (index, allowed) in Self.allowed.enumerated() where !used.contains(index) {
            Issue.record("\(allowed.file): nothing like `\(allowed.code)` is there any more")
        }
    }

    @Test func `a report makes no whole number of one that may not fit`() {
        let folders = ["Sources/Reports", "Sources/Files/RunArchive"]
        for file in folders.flatMap({ SourceTree.files(in: $0, ending: ".swift") }) {
            for (number, text) in file.code where text.firstMatch(of: #/\bInt(?:64)?\(.*\.rounded\(/#) != nil
            {
                Issue.record(
                    "\(file.path):\(number): say `nearest:`, which ends at the ends of the range: \(text)")
            }
        }
    }

    @Test(arguments: [
        "let wait = Interval(nanoseconds: count * 1_000_000_000)",
        "precondition(ASCII.isToken(name), \"a field name is a token\")",
        "case .end: track.exchanges[track.exchanges.count - 1].asked(at: now, into: &lines)",
        "func number(_ part: String, _ name: String) -> Int { value?[part]?[name]?.integer ?? 0 }",
        "$0 * 1_000_000", "self.fields.first!.name", "let x = try! read()",
        "self.violations += other.violations", "let end = began + took", "row.count += others.count",
    ]) func `it sees what has ended the program before`(code: String) {
        #expect(Self.risk(in: code) != nil)
    }

    @Test(arguments: [
        "static let bytesMax = 16 << 20", "Interval.hours(24 * 365 * 30)",
        "guard a != b, !isEmpty else { return }",
        "let sum = left.addingSaturating(right)", "let end = position + length.count", "place += 1",
    ]) func `it passes over what cannot`(code: String) {
        #expect(Self.risk(in: code) == nil)
    }
}
