import Reports
import RunDriver
import RunJudge

/// `inspect`: one phone's story as text, or which phones are worth it.
enum InspectCommand {
    static let command = Command(
        name: "inspect", usage: "RUNDIR",
        summary: "Prints the timeline of one phone; without --device, lists the phones with problems",
        options: [
            Option(name: "--device", value: "D", help: "number of the phone"),
            .noColor,
        ],
        positionalsMin: 1, positionalsMax: 1, example: "swiftwing-sim inspect Reports/latest --device 7",
        run: { try Self.run($0, $1) })

    private static let phonesMax = 20

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let folder = arguments.positionals[0]
        guard let device = try arguments.number("--device", in: 0...Int(UInt32.max)) else {
            return try Self.list(folder, console)
        }
        let head = try ReportCommand.head(of: folder)
        let count = PhoneTimelineText.write(
            device: UInt32(device), folder: folder, style: console.style
        ) { line in
            guard let columns = console.tableColumns else { return console.out(line) }
            // Below the first field where there is room for it.
            let indent = columns >= 2 * PhoneTimelineText.fieldsColumn ? PhoneTimelineText.fieldsColumn : 20
            console.out(TextFold.lines(line, columns: columns, indent: indent).joined(separator: "\n"))
        }
        guard count > 0 else {
            let phones = head.groups.reduce(0) { $0 + $1.devices }
            throw CommandFailure(
                .badData, "this run has no events of phone \(device)",
                hint: "the phones of the run have the numbers 0 to \(max(0, phones - 1))")
        }
        return .success
    }

    private static func list(_ folder: String, _ console: Console) throws -> ExitCode {
        let run = try ReportCommand.read(folder).run
        let rows = PhoneTimelineText.worst(run, count: Self.phonesMax)
        guard !rows.isEmpty else {
            console.out("no phone had problems")
            return .success
        }
        console.out(
            TextTable.lines(rows, indent: 0, columns: console.tableColumns, isNumeric: true).joined(
                separator: "\n"))
        console.error(
            "help: 'swiftwing-sim inspect \(folder) --device \(rows[1][0])' shows the first one")
        return .success
    }
}
