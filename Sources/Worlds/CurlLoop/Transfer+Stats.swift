import CCurl
import SimBase

extension Transfer {
    /// The statistics. Read before the handle is reused.
    var stats: TransferStats {
        let port = self.easy.number(CURLINFO_LOCAL_PORT)
        return TransferStats(
            scheduled: self.request?.scheduled, started: self.started, sent: self.sent, replied: self.replied,
            nameLookup: self.length(CURLINFO_NAMELOOKUP_TIME_T),
            connect: self.length(CURLINFO_CONNECT_TIME_T),
            appConnect: self.length(CURLINFO_APPCONNECT_TIME_T),
            bytesSent: self.easy.size(CURLINFO_SIZE_UPLOAD_T),
            bytesReceived: self.easy.size(CURLINFO_SIZE_DOWNLOAD_T),
            isNewConnection: self.lent == nil && self.easy.number(CURLINFO_NUM_CONNECTS) > 0,
            localPort: port > 0 ? UInt16(truncatingIfNeeded: port) : nil,
            httpVersion: self.httpVersion)
    }

    private func length(_ info: CURLINFO) -> Interval { .microseconds(self.easy.size(info)) }

    private var httpVersion: Int {
        switch self.easy.number(CURLINFO_HTTP_VERSION) {
        case CURL_HTTP_VERSION_1_0: 10
        case CURL_HTTP_VERSION_1_1: 11
        case CURL_HTTP_VERSION_2_0: 20
        case CURL_HTTP_VERSION_3: 30
        default: 0
        }
    }
}
