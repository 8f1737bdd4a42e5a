/// Why a picture could not be read, made or found. Every description is one sentence for users.
package enum ImagingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There are no bytes.
    case empty
    /// The bytes do not begin with FF D8 FF. Holds up to four of the bytes found instead.
    case notAJPEG(found: [UInt8])
    /// The picture ends before its data does.
    case truncated
    /// The header announces more pixels than `pixelsMax`; nothing was decoded.
    case tooLarge(width: Int, height: Int, pixelsMax: Int)
    /// A kind of JPEG that no phone camera writes: CMYK, 12 bits a sample, lossless, thousands of scans.
    case unsupported(reason: String)
    /// The decoder met something that cannot be. Holds its own words.
    case damaged(reason: String)
    /// The encoder refused a bitmap. Holds its own words.
    case notEncodable(reason: String)
    /// A file or folder could not be read. Holds the system's words.
    case unreadable(path: String, reason: String)
    /// A file is longer than `bytesMax`; it was not read.
    case fileTooLarge(path: String, bytes: Int, bytesMax: Int)
    /// A good file that a limit leaves no room for.
    case passedOver(reason: String)
    /// A folder holds no file named *.jpg or *.jpeg, or none of them is a photo.
    case noPhotographs(folder: String)

    package var description: String {
        switch self {
        case .empty:
            "the file is empty"
        case .notAJPEG(let found):
            "not a JPEG: it begins with \(Self.hexadecimal(found)) instead of FF D8 FF"
        case .truncated:
            "the JPEG is truncated"
        case .tooLarge(let width, let height, let pixelsMax):
            "the picture has \(width) x \(height) pixels; the limit is \(pixelsMax) (pixelsMax)"
        case .unsupported(let reason):
            "an unsupported kind of JPEG: \(reason)"
        case .damaged(let reason):
            "the JPEG is damaged: \(reason)"
        case .notEncodable(let reason):
            "the picture cannot be encoded: \(reason)"
        case .unreadable(let path, let reason):
            "\(path) cannot be read: \(reason)"
        case .fileTooLarge(let path, let bytes, let bytesMax):
            "\(path) has \(bytes) bytes; the limit is \(bytesMax)"
        case .passedOver(let reason):
            "skipped: \(reason)"
        case .noPhotographs(let folder):
            "\(folder) contains no readable photo (*.jpg or *.jpeg)"
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
    }
}
