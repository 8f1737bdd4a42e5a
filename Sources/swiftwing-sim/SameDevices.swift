import RunDriver
import RunJudge
import SimBase

/// `--same-devices SALT`: whether the phones of a run against a target have the device ids of an earlier run.
enum SameDevices {
    static let option = Option(
        name: DeviceSalt.option, value: "SALT",
        help:
            "use the device ids of the run with this `device_salt` in its run.json, or of the other shards; up to 16 hexadecimal digits (default: new ids)"
    )

    /// Says to a shard of `--processes` that its device ids are new.
    static let new = Option(name: "--new-devices", value: nil, help: "")

    /// Reads the salt, and draws it where it is not given. Nil without a target: a simulated backend meets the phones of one run.
    static func salt(_ arguments: Arguments, hasTarget: Bool) throws -> DeviceSalt? {
        guard hasTarget else { return nil }
        guard let text = arguments[Self.option.name] else {
            guard !arguments.has(ShardOptions.shard.name) else {
                throw CommandFailure(
                    .usage, "\(ShardOptions.shard.name) with a target requires \(Self.option.name) SALT",
                    hint: "give all shards of the run the same salt, for example of 'openssl rand -hex 8'")
            }
            return DeviceSalt(bits: .random(in: .min ... .max))
        }
        guard let salt = DeviceSalt(text) else {
            throw CommandFailure(
                .usage, "\(Self.option.name) expects up to 16 hexadecimal digits, not '\(text)'")
        }
        return salt
    }
}
