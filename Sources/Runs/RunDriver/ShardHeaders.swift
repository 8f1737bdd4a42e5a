import SimBase
package import SystemIO

/// The headers of `--header` on their way to the processes of `--processes`: by a pipe, so that the list of processes has no secret.
package enum ShardHeaders {
    /// Sends the headers to a process that is about to start; a pipe has room for all of them. Returns its end of the pipe.
    static func send(_ headers: [HeaderField]) throws(SystemError) -> Descriptor {
        let pipe = try SystemIO.Pipe()
        let text = headers.map { "\($0.name): \($0.value)\n" }.joined()
        if !text.isEmpty { _ = DescriptorIO.write(pipe.writing.number, Array(text.utf8)[...]) }
        return pipe.takeReading()
    }

    /// Reads the headers that the process that started this one has sent, a line each. To be called once.
    package static func receive() throws(SystemError) -> [UInt8] {
        let pipe = try Descriptor.adopting(ShardDescriptor.headers)
        var bytes: [UInt8] = []
        while case .bytes = DescriptorIO.read(pipe.number, appendingTo: &bytes, limit: 4_096) {}
        return bytes
    }
}
