import Histories
import Ledger
import Observations
import SimBase
import Talaria

// The requests of a history as they are on the wire, in the contract's form.

extension History {
    /// In their order.
    var forms: [RequestForm] {
        self.observations.compactMap { seen in
            guard case .phone(.requestSent(let operation, let attempt, let job, let index)) = seen.what,
                // v3, which these phones speak, does not have it.
                operation != .refresh
            else { return nil }
            return Self.form(seen, operation, attempt, job ?? "none", after: index)
        }
    }

    /// What such a phone calls itself.
    static func identity(of device: DeviceNumber) -> String {
        "1B4E28BA-2FA1-41D2-883F-0016D3CCA" + Hexadecimal.text(UInt64(device.raw), digits: 3)
    }

    private static func form(
        _ seen: Observation, _ operation: Talaria.Operation, _ attempt: UInt32, _ job: String,
        after index: String?
    ) -> RequestForm {
        let trace = TraceContext(
            run: 1, device: seen.device, scan: seen.scan, operation: operation, attempt: attempt)
        var form = RequestForm(
            device: seen.device, scan: seen.scan, operation: operation, attempt: attempt, at: seen.at,
            method: "GET", target: "/v3/jobs/scans/\(job)",
            headers: [
                HeaderField(HeaderName.deviceID, Self.identity(of: seen.device)),
                HeaderField(TraceContext.headerName, trace.headerValue),
            ], tokens: [.own], body: .none)
        if let index { form.headers.append(HeaderField(HeaderName.lastEventID, index)) }
        switch operation {
        case .upload:
            form.method = "POST"
            form.target = "/v3/jobs/scans"
            form.tokens = []
            form.headers.append(HeaderField("Content-Type", "multipart/form-data; boundary=x"))
            form.body = .photos(field: "photos[]", type: "image/jpeg", of: seen.scan, count: 1)
        case .stream:
            form.target += "/stream"
            form.headers.append(HeaderField("Accept", "text/event-stream"))
        case .results: form.target += "/results?format=lite"
        case .cleanup:
            form.method = "DELETE"
            form.target += "/cleanup"
        case .status: break
        case .cancel: form.method = "DELETE"
        case .refresh: break
        }
        return form
    }
}
