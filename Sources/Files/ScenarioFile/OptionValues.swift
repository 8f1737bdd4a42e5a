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
