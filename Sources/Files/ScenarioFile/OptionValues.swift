package import Plan
package import SimBase

/// Values of command-line options that are written as in a scenario.
package enum OptionValues {
    /// An invalid value of an option.
    package struct Failure: Error {
        package let message: String
        package let help: String?

        init(_ error: ValueError) {
            self.message = error.message
            self.help = error.help
        }
    }

    /// Parses a duration such as `10s` or zero.
    package static func duration(_ text: String) throws(Failure) -> Interval {
        do throws(ValueError) {
            return try Values.duration(text, max: ScenarioLimit.timeMax)
        } catch { throw Failure(error) }
    }

    /// Parses a rate such as `5/s`.
    package static func arrivalRate(_ text: String) throws(Failure) -> ArrivalRate {
        do throws(ValueError) {
            return try Values.arrivalRate(text)
        } catch { throw Failure(error) }
    }

    /// A text with `${NAME}` and `${NAME:-default}` replaced, as in a scenario. What is wrong is said without the text.
    package static func substituted(
        _ text: String, environment: [String: String]
    ) throws(Failure) -> String {
        let findings = Findings()
        let source = findings.add(SourceText(name: "", isOption: true, text: text))
        let node = Node(
            content: .scalar(text), location: Place(source: source, line: 1, column: 1, length: 1))
        let replaced = Substitution(environment: environment, findings: findings).apply(to: node)
        guard case .scalar(let value) = replaced.content else {
            let error = findings.errors?.diagnostics.first
            throw Failure(ValueError(error?.message ?? "cannot be read", help: error?.help))
        }
        return value
    }

    /// Parses a share such as `25%`.
    package static func share(_ text: String) throws(Failure) -> Odds {
        do throws(ValueError) {
            return try Values.share(text)
        } catch { throw Failure(error) }
    }

    /// `fixed` or `shuffled`.
    package static func ties(_ text: String) throws(Failure) -> Bool {
        do throws(ValueError) {
            return try PlanLoader.ties(text)
        } catch { throw Failure(error) }
    }

    /// Parses an allowed growth such as `10%`, in parts per million.
    package static func growth(_ text: String) throws(Failure) -> Int64 {
        do throws(ValueError) {
            var scanner = try ValueScanner(text)
            let growth = try Values.perMillion(&scanner)
            try scanner.expectEnd()
            guard growth <= Self.growthMax else {
                throw ValueError("the maximum is \(Self.growthMax / 10_000)%")
            }
            return growth
        } catch { throw Failure(error) }
    }

    /// A hundred times as much.
    private static let growthMax: Int64 = 100_000_000
}
