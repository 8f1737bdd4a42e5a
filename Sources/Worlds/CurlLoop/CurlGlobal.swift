import CCurl

/// libcurl. A process has one.
package enum CurlGlobal {
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Initializes libcurl. Called before the first pool, best before threads start; further calls do
    /// nothing.
    package static func start() {
        precondition(Self.isReady, "libcurl cannot be initialized")
    }

    /// The file and the folder with the certificates that libcurl trusts on this system unless others are set.
    package static var authorities: (file: String?, folder: String?) {
        guard let facts = unsafe curl_version_info(CURLVERSION_SEVENTH) else { return (nil, nil) }
        return unsafe (
            facts.pointee.cainfo.map { unsafe String(cString: $0) },
            facts.pointee.capath.map { unsafe String(cString: $0) }
        )
    }

    /// The version, for example `libcurl/7.88.1 OpenSSL/3.0.19 …`.
    package static var version: String { unsafe String(cString: curl_version()) }
}
