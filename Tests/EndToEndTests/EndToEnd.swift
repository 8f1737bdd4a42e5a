import Testing

/// The real program as a child process, over real sockets. Every suite is an extension of this one: they run one after
/// another, and no test may take longer than a minute.
@Suite(.serialized, .timeLimit(.minutes(1))) enum EndToEnd {}
