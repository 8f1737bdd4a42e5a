import JSON
import Ledger
import Observations
import Reports
import RunArchive
import RunDriver
import RunJudge
import ScenarioFile
import SimBase
import Talaria

/// `inspect`: one phone's story as text, or which phones are worth it.
enum InspectCommand {
    static let command = Command(
        name: "inspect", usage: "RUNDIR",
        summary: "Prints the timeline of one phone; without --phone, lists the phones with problems",
        options: [
            Option(name: "--phone", formerName: "--device", value: "D", help: "number of the phone"),
            Option(
                name: "--scan", value: "N",
                help:
                    "with --phone: show this scan from both sides; ! marks a violation, ~ the longest silence"
            ),
            Option(
                name: "--hung", value: nil, help: "list the scans that had not finished at the end of the run"
            ),
            Option(
                name: "--slower-than", value: "D",
                help: "list the scans that took at least D, or had not finished after D"),
            JSONOutput.option, .noColor,
        ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim inspect Reports/latest --phone 7",
        run: { try Self.run($0, $1) })

    private static let phonesMax = 20

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let folder = arguments.positionals[0]
        let inJSON = arguments.has(JSONOutput.name)
        let scan = try arguments.number("--scan", in: 1...UInt32.max)
        let least = try arguments.parsed("--slower-than", OptionValues.duration)
        if arguments.has("--hung") || least != nil {
            for other in ["--phone", "--scan"] where arguments.has(other) {
                throw CommandFailure(
                    .usage,
                    "\(other) shows one phone, and \(least == nil ? "--hung" : "--slower-than") lists scans")
            }
            return try Self.listScans(
                folder, slowerThan: least, isHung: arguments.has("--hung"), inJSON: inJSON, console)
        }
        guard let device = try arguments.number("--phone", in: 0...Int(UInt32.max)) else {
            guard scan == nil else {
                throw CommandFailure(
                    .usage, "--scan requires --phone", hint: "for example --phone 7 --scan 2")
            }
            return try Self.list(folder, inJSON: inJSON, console)
        }
        let log = try Self.log(of: DeviceNumber(UInt32(device)), in: folder)
        if let scan {
            return try Self.tell(
                ScanNumber(scan), of: DeviceNumber(UInt32(device)), log, inJSON: inJSON, console)
        }
        let head = try ReportCommand.head(of: folder)
        return try Self.tell(device, head, log, inJSON: inJSON, console)
    }

    /// The folder with the log of a phone.
    private static func log(of device: DeviceNumber, in folder: String) throws -> String {
        _ = try ReportCommand.head(of: folder)
        let log = RunFolder.logs(of: folder, device: device).first ?? folder
        guard RunDirectory.holdsLogs(log) else {
            throw CommandFailure(
                .badData, "\(log) has no \(RunDirectory.FileName.events)",
                hint:
                    "the log of a phone stays in the folder that its shard or worker has written: inspect that one"
            )
        }
        return log
    }

    private static func tell(
        _ device: Int, _ head: RunHead, _ folder: String, inJSON: Bool, _ console: Console
    ) throws -> ExitCode {
        if inJSON {
            let events = PhoneTimelineText.events(device: UInt32(device), folder: folder)
            if events.isEmpty { throw Self.noEvents(of: device, head) }
            JSONOutput.print(InspectJSON.events(events, of: UInt32(device)), console)
            return .success
        }
        let count = PhoneTimelineText.write(
            device: UInt32(device), WorkNoun(head.journey(of: DeviceNumber(UInt32(device)))), folder: folder,
            style: console.style
        ) { line in
            guard let columns = console.tableColumns else { return console.out(line) }
            // Below the first field where there is room for it.
            let indent = columns >= 2 * PhoneTimelineText.fieldsColumn ? PhoneTimelineText.fieldsColumn : 20
            console.out(TextFold.lines(line, columns: columns, indent: indent).joined(separator: "\n"))
        }
        guard count > 0 else { throw Self.noEvents(of: device, head) }
        if let lines = PhoneLog.progressLimit(of: DeviceNumber(UInt32(device)), folder: folder) {
            console.error(
                "swiftwing-sim: \(RunDirectory.FileName.progress) has no more than \(lines) pings and progress events of a phone; "
                    + "later ones are not shown")
        }
        return .success
    }

    private static func noEvents(of device: Int, _ head: RunHead) -> CommandFailure {
        let phones = head.groups.reduce(0) { $0 + $1.devices }
        return CommandFailure(
            .badData, "this run has no events of phone \(device)",
            hint: "the phones of the run have the numbers 0 to \(max(0, phones - 1))")
    }

    private static func tell(
        _ scan: ScanNumber, of device: DeviceNumber, _ folder: String, inJSON: Bool, _ console: Console
    ) throws -> ExitCode {
        let run = try ReportCommand.read(folder).run
        let observations = PhoneLog.story(of: device, folder: folder, faults: run.head.faults)
        let journey = run.result.journey(of: device)
        let noun = WorkNoun(journey)
        let story = ScanStory(
            observations, journey, device: device, scan: scan, faults: run.head.faults,
            violations: run.result.verdicts.flatMap(\.examples), end: .zero + run.result.length)
        guard !story.lines.isEmpty else {
            let scans = Set(observations.map(\.scan)).filter { $0 != .none }.sorted().map { String($0.raw) }
            throw CommandFailure(
                .badData, "this run has no events of \(noun.one) \(scan.raw) of phone \(device.raw)",
                hint: scans.isEmpty
                    ? "the phone has no \(noun.many)"
                    : "the phone has the \(noun.many) \(scans.joined(separator: ", "))")
        }
        guard !inJSON else {
            JSONOutput.print(InspectJSON.story(story, device, scan), console)
            return .success
        }
        let books = story.books.map { "; \($0)" } ?? ""
        console.out("phone \(device.raw), \(noun.one) \(scan.raw): \(story.outcome)\(books)")
        let columns = console.tableColumns ?? ScanStoryText.columnsDefault
        for line in ScanStoryText.lines(story, columns: columns) {
            console.out(console.style.isASCII ? Printable.ascii(line) : line)
        }
        return .success
    }

    private static let scansMax = 100
    private static let scansInJSONMax = 100_000
    private static let phonesInJSONMax = 100_000

    private static func listScans(
        _ folder: String, slowerThan least: Interval?, isHung: Bool, inJSON: Bool, _ console: Console
    ) throws -> ExitCode {
        let run = try ReportCommand.read(folder).run
        let end = Instant.zero + run.result.length
        let found = SlowScans.read(
            RunFolder.logs(of: folder), run.head, slowerThan: least, end: end
        ).filter { !isHung || $0.to == nil }
        guard !inJSON else {
            JSONOutput.print(
                InspectJSON.scans(found, count: Self.scansInJSONMax, run.head, end: end), console)
            return .success
        }
        let noun = run.result.noun
        guard let first = found.first else {
            console.out(
                isHung
                    ? "every \(noun.one) had finished"
                    : "no \(noun.one) took \(Figures.length(least ?? .zero, short: true)) or longer")
            return .success
        }
        let rows = SlowScans.table(found.prefix(Self.scansMax), run.head, end: end)
        console.out(
            TextTable.lines(rows, indent: 0, columns: console.tableColumns, isNumeric: true)
                .joined(separator: "\n"))
        if found.count > Self.scansMax {
            console.out("and \(Figures.count(found.count - Self.scansMax, noun)) more")
        }
        console.error(
            "help: 'swiftwing-sim inspect \(folder) --phone \(first.device.raw) --scan \(first.number.raw)' shows the first one"
        )
        return .success
    }

    private static func list(_ folder: String, inJSON: Bool, _ console: Console) throws -> ExitCode {
        let run = try ReportCommand.read(folder).run
        guard !inJSON else {
            JSONOutput.print(InspectJSON.phones(run, count: Self.phonesInJSONMax), console)
            return .success
        }
        let rows = PhoneTimelineText.worst(run, count: Self.phonesMax)
        guard !rows.isEmpty else {
            console.out("no phone had problems")
            return .success
        }
        console.out(
            TextTable.lines(rows, indent: 0, columns: console.tableColumns, isNumeric: true).joined(
                separator: "\n"))
        console.outFolded(PhoneTimelineText.order(run, count: Self.phonesMax))
        console.error(
            "help: 'swiftwing-sim inspect \(folder) --phone \(rows[1][0])' shows the first one")
        return .success
    }
}
