import Foundation
import ScenarioFile
import SimTestSupport
import Testing

@Suite struct ScenarioSectionTests {
    @Test func `every shipped scenario is in one section`() throws {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: Checkout.root.appending(path: "Scenarios").path)
        let shipped = files.filter { $0.hasSuffix(ScenarioFinder.suffix) }
            .map { String($0.dropLast(ScenarioFinder.suffix.count)) }
        #expect(ScenarioSection.allCases.flatMap(\.names).sorted() == shipped.sorted())
    }
}
