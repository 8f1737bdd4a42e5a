import Histories
import Ledger
import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

@Suite struct FirstUploadsTests {
    private func limited(_ answers: [(device: UInt32, operation: Talaria.Operation, status: Int)]) -> [UInt32]
    {
        var uploads = FirstUploads()
        for answer in answers {
            uploads.receive(
                Observation(
                    at: .zero, device: DeviceNumber(answer.device), scan: ScanNumber(1),
                    what: .phone(
                        .replied(answer.operation, attempt: 1, status: answer.status, took: .milliseconds(1)))
                ))
        }
        return uploads.limited.map(\.raw).sorted()
    }

    @Test func `only a phone whose first upload was answered 429 has ids that were used up before`() {
        #expect(self.limited([(1, .upload, 429), (2, .upload, 202), (1, .upload, 429)]) == [1])
        #expect(self.limited([(1, .upload, 202), (1, .upload, 429)]) == [], "its own uploads are counted")
        #expect(self.limited([(1, .upload, 503), (1, .upload, 429)]) == [])
        #expect(self.limited([(1, .results, 429), (1, .stream, 429), (1, .upload, 202)]) == [])
    }
}
