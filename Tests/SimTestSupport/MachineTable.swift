import Foundation

/// A state of a machine, as a table of `Docs/machines` names it.
package protocol MachineState: CaseIterable, Hashable, RawRepresentable, Sendable where RawValue == String {
    associatedtype Machine

    /// Returns a machine in this state.
    func reached() -> Machine
    static func of(_ machine: Machine) -> Self
}

/// An input of a machine, as a table names it.
package protocol MachineInput: CaseIterable, RawRepresentable where RawValue == String {
    associatedtype Machine

    /// Applies the input. Returns false where it cannot come.
    func apply(to machine: inout Machine) -> Bool
}

/// One line of a table: what an input changes.
package struct Transition: Hashable, Sendable {
    package var from: String
    package var input: String
    package var to: String

    /// Every input in every state, as far as it changes the state.
    package static func all<State: MachineState, Input: MachineInput>(
        of states: State.Type, by inputs: Input.Type
    ) -> [Transition] where State.Machine == Input.Machine {
        states.allCases.flatMap { state in
            inputs.allCases.compactMap { input in
                var machine = state.reached()
                guard input.apply(to: &machine), State.of(machine) != state else { return nil }
                return Transition(
                    from: state.rawValue, input: input.rawValue, to: State.of(machine).rawValue)
            }
        }
    }

    package static func table(_ transitions: [Transition]) -> String {
        (["| state | input | next state |", "|---|---|---|"]
            + transitions.map { "| `\($0.from)` | \($0.input) | `\($0.to)` |" }).joined(separator: "\n")
    }
}

/// A page of `Docs/machines`.
package struct MachinePage {
    private let name: String
    private let text: String

    package init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }

    /// Returns what is wrong with the page in the checkout, or nil. With `SWIFTWING_SIM_REGOLD=1` the page is written first.
    package func difference() throws -> String? {
        let file = Checkout.root.appending(path: "Docs/machines/\(self.name).md")
        if ProcessInfo.processInfo.environment["SWIFTWING_SIM_REGOLD"] == "1" {
            try Data(self.text.utf8).write(to: file)
        }
        guard let written = try? Data(contentsOf: file), written == Data(self.text.utf8) else {
            return "Docs/machines/\(self.name).md is not what the code does; SWIFTWING_SIM_REGOLD=1 writes it"
        }
        return nil
    }
}
