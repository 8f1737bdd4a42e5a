import RunDriver
import RunJudge

/// `doctor`: whether this machine can run phones, and how many.
enum DoctorCommand {
    static let command = Command(
        name: "doctor", usage: "",
        summary:
            "Checks this machine (file descriptors, ports, libraries, clock) and how many phones it can run",
        options: [JSONOutput.option], positionalsMin: 0, positionalsMax: 0, example: "swiftwing-sim doctor",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let machine = try MachineFacts.measured()
        if arguments.has(JSONOutput.name) {
            JSONOutput.print(machine.json, console)
        } else {
            console.out(
                TextTable.lines(machine.rows, indent: 0, columns: console.tableColumns)
                    .joined(separator: "\n"))
        }
        let complaints = machine.complaints
        for complaint in complaints { console.error("swiftwing-sim: \(complaint)") }
        return complaints.isEmpty ? .success : .impossible
    }
}
