import SimTestSupport
import SystemIO
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct FileTests {
    private let folder: String

    init() throws { self.folder = try FileTree.makeTemporaryFolder(named: "system-io") }

    private func at(_ name: String) -> String { "\(self.folder)/\(name)" }

    private func content(_ name: String) throws -> String {
        String(decoding: try File.contents(of: self.at(name), bytesMax: 100), as: UTF8.self)
    }

    @Test func `a mode says what an existing file means`() throws {
        let path = self.at("notes")
        #expect(throws: SystemError.self) { try File(path, .read) }
        #expect(throws: SystemError.self) { try File(path, .write) }
        try File.write(Array("one".utf8), to: path, .create)
        let taken = #expect(throws: SystemError.self) { try File(path, .create) }
        #expect(taken?.code == SystemCode.exists)
        #expect(taken?.reason == "File exists")
        let file = try File(path, .append)
        #expect(file.size > 0)
        try file.write(Array(" two".utf8))
        #expect(try self.content("notes") == "one two")
        try file.truncate(to: 3)
        #expect(try self.content("notes") == "one")
        try File.write(Array("new".utf8), to: path, .replace)
        #expect(try self.content("notes") == "new")
    }

    @Test func `a read returns what was asked for, and less only at the end`() throws {
        try File.write(Array("0123456789".utf8), to: self.at("digits"), .create)
        let file = try File(self.at("digits"), .read)
        var bytes: [UInt8] = []
        #expect(try file.read(appendingTo: &bytes, limit: 4) == 4)
        #expect(try file.read(appendingTo: &bytes, limit: 40) == 6)
        #expect(try file.read(appendingTo: &bytes, limit: 40) == 0)
        #expect(bytes == Array("0123456789".utf8))
    }

    @Test func `what is no file, or too large, is refused before it is opened`() throws {
        let pipe = self.at("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero", self.folder] {
            #expect(throws: File.Unreadable.notAFile(path)) { try File.contents(of: path, bytesMax: 9) }
        }
        try File.write(Array("0123456789".utf8), to: self.at("digits"), .create)
        let digits = self.at("digits")
        #expect(throws: File.Unreadable.tooLarge(digits, bytes: 10, bytesMax: 9)) {
            try File.contents(of: digits, bytesMax: 9)
        }
        #expect(try File.contents(of: digits, bytesMax: 10).count == 10)
        let missing = SystemError(call: "stat \(self.at("none"))", code: ENOENT)
        #expect(throws: File.Unreadable.failed(self.at("none"), missing)) {
            try File.contents(of: self.at("none"), bytesMax: 9)
        }
    }

    @Test func `a file is saved whole, or what was there stays`() throws {
        try File.save(Array("old".utf8), to: self.at("report"))
        try File.save(Array("new".utf8), to: self.at("report"))
        #expect(try self.content("report") == "new")
        try FileTree.makeFolder(self.at("folder"))
        #expect(throws: SystemError.self) { try File.save([1], to: self.at("folder")) }
        #expect(throws: SystemError.self) { try File.save([1], to: self.at("nowhere/report")) }
        try File.save([1], to: "/dev/null")
        #expect(try FileTree.names(inFolder: self.folder).sorted() == ["folder", "report"])
    }

    @Test func `a full disk is an error of the write`() throws {
        let error = #expect(throws: SystemError.self) { try File.write([1], to: "/dev/full", .write) }
        #expect(error?.reason == "No space left on device")
    }

    @Test func `folders are made with those above them`() throws {
        try FileTree.makeFolder(self.at("a/b/c"))
        try FileTree.makeFolder(self.at("a/b"))
        #expect(try FileTree.names(inFolder: self.at("a")) == ["b"])
        #expect(throws: SystemError.self) { try FileTree.makeNewFolder(self.at("a")) }
        try File.write([], to: self.at("file"), .create)
        func reason(_ path: String) -> String? {
            #expect(throws: SystemError.self) { try FileTree.makeFolder(path) }?.reason
        }
        #expect(reason(self.at("file")) == "File exists")
        #expect(reason(self.at("file/below")) == "Not a directory")
        #expect(throws: SystemError.self) { try FileTree.names(inFolder: self.at("file")) }
    }

    @Test func `a link leads to what it names, or to nothing`() throws {
        try FileTree.link(self.at("latest"), to: "run")
        #expect(!FileTree.exists(self.at("latest")))
        try FileTree.makeNewFolder(self.at("run"))
        #expect(FileTree.exists(self.at("latest")))
        #expect(FileTree.kind(of: self.at("latest")) == .other)
        try FileTree.remove(self.at("latest"))
        #expect(!FileTree.exists(self.at("latest")))
        FileTree.removeFolder(self.at("run"))
        #expect(!FileTree.exists(self.at("run")))
    }
}
