#pragma once
// System calls in a form that is the same on Linux and macOS, so that no Swift file needs to ask which it is on.
// Every call that can fail returns a value of at least 0, or minus errno. Every descriptor made here is close-on-exec,
// every socket non-blocking, and none raises SIGPIPE.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum { SHIM_ADDRESS_BYTES_MAX = 46 };

/// What a process used: processor time, and the largest resident size ever.
struct shim_usage {
    int64_t user_nanoseconds;
    int64_t system_nanoseconds;
    int64_t resident_max_bytes;
};

int64_t shim_monotonic_nanoseconds(void);

int64_t shim_wall_nanoseconds(void);

/// A descriptor that is ready for reading when its moment has come; -ENOSYS on systems that have no such thing.
int shim_timer_open(void);

/// Sets the moment, by the clock of `shim_monotonic_nanoseconds`; 0 for none. A timer that is ready no longer is.
void shim_timer_set(int fd, int64_t moment);

/// Processor time of the calling thread.
int64_t shim_thread_processor_nanoseconds(void);

int shim_close_on_exec(int fd);

int shim_set_nonblocking(int fd, int on);

int shim_descriptor_is_open(int fd);

/// A duplicate numbered `least` or above.
int shim_duplicate(int fd, int least);

/// Makes `number` name what `fd` names; what it named before loses one name.
int shim_duplicate_onto(int fd, int number);

int shim_close(int fd);

int shim_pipe(int *reading, int *writing);

intptr_t shim_read(int fd, void *bytes, size_t count);

intptr_t shim_write(int fd, const void *bytes, size_t count);

intptr_t shim_receive(int fd, void *bytes, size_t count);

/// Never raises SIGPIPE (macOS: SO_NOSIGPIPE is set on every socket made here).
intptr_t shim_send(int fd, const void *bytes, size_t count);

/// A non-blocking socket.
int shim_socket(int family, int type, int protocol);

/// A connected pair of non-blocking local stream sockets.
int shim_socket_pair(int *first, int *second);

/// A non-blocking listening socket. Never SO_REUSEPORT: two servers would share a port unseen.
int shim_listen(const char *host, uint16_t port, int backlog);

/// A socket that has a port and does not listen.
int shim_bind(const char *host, uint16_t port);

/// Starts connecting a new non-blocking socket.
int shim_connect(const char *host, uint16_t port);

/// Starts connecting a new non-blocking socket from a source address; null leaves that to the system.
int shim_connect_from(const char *source, const char *host, uint16_t port);

/// Gives an unconnected socket a source address; its port is chosen at connect, so that ports are not used up.
int shim_bind_source(int fd, const char *host);
/// An error if no socket can have this source address, such as one of another machine.
int shim_check_source(const char *host);

/// Accepts one connection, non-blocking.
int shim_accept(int listener);

int shim_local_port(int fd);

int shim_peer_port(int fd);

int shim_no_delay(int fd);

/// From now on closing this socket resets the connection and throws away what is not sent yet.
int shim_linger_zero(int fd);

/// `bytes` of kernel memory for sending; for tests of back-pressure and of links.
int shim_send_buffer(int fd, int bytes);

int shim_receive_buffer(int fd, int bytes);

/// The pending error of a socket (an errno value, 0 for none), taken away by asking.
int shim_socket_error(int fd);

int shim_shut_down_sending(int fd);

/// Whether the peer has closed its end, or the connection is dead, without reading.
int shim_peer_is_gone(int fd);

/// Whether the connection of a TCP socket that this side has not closed is over in both directions: the peer has reset it. Unlike
/// its error, that stays to be asked for.
int shim_is_reset(int fd);

int shim_shut_down(int fd);

/// Bytes written to the socket that the peer has not acknowledged (Linux) or that are not sent yet (macOS).
int shim_unsent_bytes(int fd);

/// Numeric addresses of a host in the resolver's order: at most `count`, of `SHIM_ADDRESS_BYTES_MAX` bytes each with
/// the closing zero. Returns how many, or -1 with the resolver's words in `failure`.
int shim_resolve(const char *host, char *texts, int count, const char **failure);

int shim_decode_exit(int status, int *exit_code, int *signal_number);

int shim_reap(int pid, int block, int *status, struct shim_usage *usage);

struct shim_usage shim_own_usage(void);

int shim_descriptor_limits(uint64_t *soft, uint64_t *hard);

int shim_set_descriptor_limit(uint64_t soft);

int shim_open_descriptors(void);

int shim_ignore_broken_pipe(void);

/// Lets the calling thread receive every signal again: whoever started the process may have had some blocked, and a
/// blocked mask is inherited.
int shim_unblock_signals(void);

/// Blocks SIGINT, SIGTERM and, unless it is ignored, SIGHUP in the calling thread and in those that it starts, and lets
/// every other signal in. To be called once, before any other thread is started. Returns 0 or minus errno.
/// `of_terminal`: 0 blocks SIGTERM alone, and ignores the other two.
int shim_block_interruptions(int of_terminal);

/// Whether the process ignores a signal, as `nohup` has it ignore SIGHUP.
int shim_signal_is_ignored(int number);

/// Waits for one of the signals that `shim_block_interruptions` blocked, and returns its number or minus errno.
int shim_await_interruption(void);

/// A write beyond the limit of a file's size returns EFBIG instead of ending the process.
int shim_ignore_file_size_limit(void);

/// Starts a program. `from[i]` becomes `to[i]` in it; `from` must all be above every `to`. The program starts with
/// no blocked signal and default actions, and in a process group of its own when `own_group` is set, so that a
/// Ctrl-C in the terminal reaches only its parent. Returns 0 or minus errno.
int shim_spawn(
    const char *path, char *const arguments[], char *const environment[], const int *from, const int *to, int count,
    int own_group, int *pid
);

char **shim_environment(void);

/// A thread as one word. Returns 0 or minus errno.
int shim_start_thread(uintptr_t *thread, size_t stack_bytes, void *(*body)(void *), void *context);

void shim_name_thread(const char *name);

/// Lets every thread that has something to do go before the calling one.
void shim_stand_back(void);

/// The calling thread works for a short time, and runs soon after it wakes, before threads that compute for long.
void shim_wake_promptly(void);

/// The calling thread does nothing for so long.
void shim_pause(int milliseconds);

/// Lets threads that are ready on this processor go before the calling one, once.
void shim_yield(void);

void shim_join_thread(uintptr_t thread);

void shim_detach_thread(uintptr_t thread);

/// Sends a signal to one process.
int shim_kill(int pid, int signal_number);

int shim_signal_interrupt(void);
int shim_signal_terminate(void);
int shim_signal_hang_up(void);
int shim_signal_kill(void);

/// The system's words for an errno value, copied into `text`.
void shim_error_text(int code, char *text, size_t bytes);

/// A copy to be given back to `shim_free_text`.
char *shim_copy_text(const char *text);

void shim_free_text(char *text);

int shim_own_process(void);

/// The numeric address of the other end, in `SHIM_ADDRESS_BYTES_MAX` bytes of `text`.
int shim_peer_host(int fd, char *text);

int shim_is_executable(const char *path);

/// Waits until something can be written to the descriptor, or it is found to be broken.
void shim_wait_until_writable(int fd);

/// Gives the numbers 0 to 2 that are closed to something that can neither be read nor written, so that no file which is
/// opened later gets one of them.
void shim_occupy_standard_descriptors(void);

/// How wide the terminal is, 0 where it does not know; minus errno for what is no terminal.
int shim_terminal_columns(int fd);

/// A pthread mutex, for builds under ThreadSanitizer, which understands it.
void *shim_make_lock(void);
void shim_free_lock(void *lock);
void shim_lock(void *lock);
void shim_unlock(void *lock);
