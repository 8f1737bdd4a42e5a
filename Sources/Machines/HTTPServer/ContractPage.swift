import OriginServer
import SimBase
import Talaria

/// `/openapi.yaml`: the contract that the simulated backend follows, as an OpenAPI document.
enum ContractPage {
    static let path = "/openapi.yaml"

    static let reply = OriginReply(
        status: 200, headers: [HeaderField("Content-Type", OpenAPIDocument.contentType)],
        body: Array(OpenAPIDocument.text.utf8))
}
