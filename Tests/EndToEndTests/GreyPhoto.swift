import Foundation

/// A folder with one photo that is as small as a photo can be: 64 x 48 pixels of one grey. A phone prepares it in no
/// time, and an upload of it has no long deadline.
enum GreyPhoto {
    /// Writes a scenario whose phones take `photos: grey`; answers its path.
    static func scenario(_ text: String, in scratch: Scratch) throws -> String {
        for folder in ["Images/grey", "Scenarios"] {
            try FileManager.default.createDirectory(
                at: scratch.folder.appending(path: folder), withIntermediateDirectories: true)
        }
        _ = try scratch.file("Images/grey/grey.jpg", Data(Self.jpeg))
        return try scratch.file("Scenarios/grey.scenario", Data(text.utf8)).path
    }

    /// Baseline JPEG (ITU-T T.81): 48 blocks of two bits, "no difference" and "end of block".
    private static let jpeg: [UInt8] = {
        let oneCode: [UInt8] = [1] + [UInt8](repeating: 0, count: 16)
        var bytes: [UInt8] = [0xFF, 0xD8]
        bytes += GreyPhoto.segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))  // Quantization.
        bytes += GreyPhoto.segment(0xC0, [8, 0, 48, 0, 64, 1, 1, 0x11, 0])  // The size, and one component.
        bytes += GreyPhoto.segment(0xC4, [0x00] + oneCode)  // For DC,
        bytes += GreyPhoto.segment(0xC4, [0x10] + oneCode)  // and for AC.
        bytes += GreyPhoto.segment(0xDA, [1, 1, 0x00, 0, 63, 0])
        return bytes + [UInt8](repeating: 0, count: 12) + [0xFF, 0xD9]
    }()

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }
}
