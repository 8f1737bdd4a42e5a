/// By what a client follows a job (Docs/contract.md sections 3.3 and 3.4).
package enum StreamTransport: String, CaseIterable, Hashable, Sendable {
    /// The event stream of the job, unless the answer to its upload names a `websocketUrl` alone.
    case sse
    case websocket

    /// For people.
    package var name: String {
        switch self {
        case .sse: "SSE"
        case .websocket: "WebSocket"
        }
    }
}
