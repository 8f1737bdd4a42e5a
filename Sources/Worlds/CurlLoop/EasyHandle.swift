import CCurl

/// libcurl's `CURL`, with its error buffer.
@safe struct EasyHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>

    init() {
        guard let raw = unsafe curl_easy_init() else {
            preconditionFailure("libcurl has no memory for a transfer")
        }
        unsafe self.raw = raw
        unsafe self.errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe self.errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        _ = unsafe shim_easy_set_pointer(raw, CURLOPT_ERRORBUFFER, self.errorText)
    }

    deinit {
        unsafe curl_easy_cleanup(self.raw)
        unsafe self.errorText.deallocate()
    }

    /// libcurl's words on the last failure; empty when it had none.
    var message: String { unsafe String(cString: self.errorText) }

    /// False when libcurl refuses the value.
    @discardableResult
    func set(_ option: CURLoption, _ value: Int) -> Bool {
        unsafe shim_easy_set_number(self.raw, option, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: CURLoption, _ value: String?) -> Bool {
        // A text with a zero byte would be cut there: refused.
        if let value, value.utf8.contains(0) { return false }
        return unsafe shim_easy_set_text(self.raw, option, value) == CURLE_OK
    }

    @discardableResult
    func set(_ option: CURLoption, size value: Int) -> Bool {
        unsafe shim_easy_set_size(self.raw, option, curl_off_t(value)) == CURLE_OK
    }

    @discardableResult
    func set(_ option: CURLoption, _ list: borrowing TextList) -> Bool {
        unsafe shim_easy_set_list(self.raw, option, list.raw) == CURLE_OK
    }

    @discardableResult
    @unsafe func set(_ option: CURLoption, pointer: UnsafeRawPointer?) -> Bool {
        unsafe shim_easy_set_pointer(self.raw, option, pointer) == CURLE_OK
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe shim_easy_number(self.raw, info, &value) == CURLE_OK ? value : 0
    }

    func size(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return unsafe shim_easy_size(self.raw, info, &value) == CURLE_OK ? Int64(value) : 0
    }
}

/// libcurl's `curl_slist`. libcurl does not copy lists: one must outlive its use.
@safe struct TextList: ~Copyable {
    private(set) var raw: UnsafeMutablePointer<curl_slist>?

    init() { unsafe self.raw = nil }

    init(_ text: String) {
        unsafe self.raw = nil
        self.append(text)
    }

    deinit { unsafe curl_slist_free_all(self.raw) }

    mutating func append(_ text: String) {
        guard let longer = unsafe curl_slist_append(self.raw, text) else {
            preconditionFailure("libcurl has no memory for a list")
        }
        unsafe self.raw = longer
    }
}
