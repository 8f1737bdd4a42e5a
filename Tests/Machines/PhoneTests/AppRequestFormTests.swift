import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

@Suite struct AppRequestFormTests {
    private static func request(_ target: String, _ body: AppRequest.Body = .none) -> AppRequest {
        AppRequest(
            id: RequestID(1), operation: .upload, scan: ScanNumber(1), attempt: 1, method: "GET",
            target: target,
            headers: [], body: body)
    }

    @Test(
        "a path, or an address of the backend, is requested from the backend, and no other address is",
        arguments: [
            ("/v3/jobs/scans/1/stream?a=b", "/v3/jobs/scans/1/stream?a=b"),
            ("http://talaria.test/v3/jobs", "/v3/jobs"),
            ("http://talaria.test", nil), ("http://talaria.test.evil/v3", nil), ("//evil/v3", nil),
            ("http://talaria.test//evil/v3", nil), ("https://talaria.test/v3", nil), ("v3/jobs", nil),
            ("", nil),
        ] as [(String, String?)])
    func path(_ target: String, _ path: String?) {
        #expect(Self.request(target).path(onServer: "http://talaria.test") == path)
    }

    @Test("JSON has a content type of its own; a multipart upload has that of its boundary")
    func contentType() throws {
        let scan = ScanNumber(1)
        #expect(Self.request("/", .document(scan, .json)).contentType == "application/json")
        for body in [AppRequest.Body.none, .photos(scan, count: 1), .document(scan, .file)] {
            #expect(Self.request("/", body).contentType == nil)
        }
    }

    @Test("a part names its field, its file and its type")
    func parts() {
        #expect(
            UploadPart.file.head(boundary: "b")
                == "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"library.csv\"\r\n"
                + "Content-Type: text/csv\r\n\r\n")
        let photo = UploadPart.photo(.contract)
        #expect(photo.name == "photos[]")
        #expect(photo.contentType == "image/jpeg")
    }
}
