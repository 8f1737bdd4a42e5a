import Foundation
import Plan
import SimTestSupport
import Testing

@testable import ScenarioFile

/// The smallest scenario there is.
let minimal = """
    scenario: 1
    fleet:
      phones:
        phones: 2
        arrivals: 1/s

    """

func load(_ text: String, set overrides: [String] = [], environment: [String: String] = [:]) throws
    -> Scenario
{
    try ScenarioLoader.load(
        path: "test.scenario", text: text, overrides: overrides, environment: environment)
}

/// The errors of a text; empty when it has none.
func errors(_ text: String, set overrides: [String] = [], environment: [String: String] = [:]) -> [Diagnostic]
{
    do throws(ScenarioErrors) {
        _ = try ScenarioLoader.load(
            path: "test.scenario", text: text, overrides: overrides, environment: environment)
        return []
    } catch {
        return error.diagnostics
    }
}

/// What a reader of the errors sees.
func rendered(_ text: String, set overrides: [String] = [], environment: [String: String] = [:]) -> String {
    do throws(ScenarioErrors) {
        _ = try ScenarioLoader.load(
            path: "test.scenario", text: text, overrides: overrides, environment: environment)
        return "no errors"
    } catch {
        return error.render(color: false)
    }
}

/// The package's folder.
let packageFolder = Checkout.root.path
