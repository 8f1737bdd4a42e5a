/// The numbers of an upload of a library file (Docs/contract.md sections 3.2 and 7, C27 and C34).
package enum ImportLimits {
    /// The part of the multipart body.
    package static let part = "file"
    /// 8 MB are 8 MiB.
    package static let fileBytesMax = 8 << 20
    /// The file with what multipart adds.
    package static let bodyBytesMax = Self.fileBytesMax + 65_536
    /// The code of a job whose file cannot be read (Docs/contract.md section 3.3).
    package static let unreadableCode = "E_CSV_PARSE_FAILED"
}
