import RunDriver
import RunJudge

/// The tags of `--tag`, which stand beside the target in every report.
enum RunTags {
    static let name = "--tag"
    static let options = [
        Option(
            name: Self.name, value: "KEY=VALUE", isRepeatable: true,
            help: "label the run in every report, for example build=1432")
    ]

    static func read(_ arguments: Arguments) throws -> [RunTag] {
        do throws(RunTag.Problem) {
            return try RunTag.list(parsing: arguments.all(Self.name))
        } catch {
            throw CommandFailure(
                .usage, "\(Self.name) \(error)", hint: "for example \(Self.name) build=1432")
        }
    }

    /// The words that give a run the same tags again.
    static func words(_ arguments: Arguments) -> [String] {
        arguments.all(Self.name).flatMap { [Self.name, $0] }
    }
}
