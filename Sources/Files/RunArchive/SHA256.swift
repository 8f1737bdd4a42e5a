internal import COpenSSL
import SimBase

/// SHA-256 (FIPS 180-4), by libcrypto.
package enum SHA256 {
    /// The 32 bytes of the digest.
    package static func digest(of message: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
            let isMade = unsafe EVP_Digest(
                message, message.count, digest.baseAddress, nil, EVP_sha256(), nil)
            precondition(isMade == 1, "libcrypto has no SHA-256")
            count = 32
        }
    }

    package static func hexadecimal(of message: [UInt8]) -> String {
        Self.digest(of: message).map { Hexadecimal.text(UInt64($0), digits: 2) }.joined()
    }
}
