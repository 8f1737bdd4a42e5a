import CCurl
import SimBase

/// libcurl's `CURL`, with its error buffer.
@safe struct EasyHandle: ~Copyable {
    private(set) var raw: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>

    init() {
        unsafe self.raw = Self.make()
        unsafe self.errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        self.clearMessage()
    }

    /// Takes a new handle instead of this one, which is freed with its buffers and options.
    mutating func renew() {
        unsafe curl_easy_cleanup(self.raw)
        unsafe self.raw = Self.make()
        self.clearMessage()
    }

    @unsafe private static func make() -> UnsafeMutableRawPointer {
        guard let raw = unsafe curl_easy_init() else {
            preconditionFailure("libcurl has no memory for a transfer")
        }
        return unsafe raw
    }

    private func clearMessage() {
        unsafe self.errorText.initialize(to: 0)
        _ = unsafe shim_easy_set_pointer(self.raw, CURLOPT_ERRORBUFFER, self.errorText)
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
        if let value, value.contains(byte: { $0.equal(0) }) { return false }
        guard let value else { return unsafe shim_easy_set_text(self.raw, option, nil) == CURLE_OK }
        // As an argument, a text would become an array first.
        return unsafe value.withCString { unsafe shim_easy_set_text(self.raw, option, $0) } == CURLE_OK
    }

    /// Sets the URL. `target`: the offset of the target of the request in it, if libcurl would send that as it is. For each
    /// request libcurl prints its URL character by character, and a target that is set apart not.
    func set(url: String, target: Int?) -> Bool {
        guard let target else { return self.set(CURLOPT_URL, url) }
        return unsafe url.withCString { unsafe shim_easy_set_url(self.raw, $0, target) } == CURLE_OK
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
    func set(_ option: CURLoption, _ lines: borrowing HeaderLines) -> Bool {
        unsafe shim_easy_set_list(self.raw, option, lines.raw) == CURLE_OK
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

/// The header lines of a request, in one piece of memory. libcurl does not copy them: they must outlive their use.
@safe struct HeaderLines: ~Copyable {
    private var lines = unsafe shim_lines()

    init() {}

    /// Has room for lines of so many bytes, by `size(of:)`.
    init(bytes: Int) {
        guard unsafe shim_lines_make(&self.lines, bytes) != 0 else {
            preconditionFailure("libcurl has no memory for a list")
        }
    }

    deinit {
        var lines = unsafe self.lines
        unsafe shim_lines_free(&lines)
    }

    var raw: UnsafeMutablePointer<curl_slist>? { unsafe self.lines.first }

    static func size(of field: HeaderField) -> Int {
        shim_line_size(field.name.utf8.count + field.value.utf8.count + 2)
    }

    static func size(of line: StaticString) -> Int { shim_line_size(line.utf8CodeUnitCount) }

    /// Adds a header field as libcurl reads it: "Name:" would mean "leave it out", and "Name;" sends it without a value.
    mutating func append(_ field: HeaderField) {
        // As arguments, the texts would become arrays first.
        unsafe field.name.withCString { name in
            unsafe field.value.withCString { value in
                unsafe shim_lines_append_field(
                    &self.lines, name, field.name.utf8.count, value, field.value.utf8.count)
            }
        }
    }

    mutating func append(_ line: StaticString) {
        line.withUTF8Buffer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) {
                unsafe shim_lines_append_text(&self.lines, $0.baseAddress, $0.count)
            }
        }
    }
}
