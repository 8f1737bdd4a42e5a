#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "CSystem.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/sockios.h>
#endif

static int shim_result(int value) { return value < 0 ? -errno : value; }

int64_t shim_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t shim_thread_processor_nanoseconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

int64_t shim_wall_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int shim_close_on_exec(int fd) {
    int flags = fcntl(fd, F_GETFD);
    return flags < 0 ? -errno : shim_result(fcntl(fd, F_SETFD, flags | FD_CLOEXEC));
}

int shim_set_nonblocking(int fd, int on) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -errno;
    return shim_result(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
}

int shim_descriptor_is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

int shim_duplicate(int fd, int least) { return shim_result(fcntl(fd, F_DUPFD_CLOEXEC, least)); }

int shim_duplicate_onto(int fd, int number) {
#ifdef __linux__
    return shim_result(dup3(fd, number, O_CLOEXEC));
#else
    int result = dup2(fd, number);
    return result < 0 ? -errno : (shim_close_on_exec(result), result);
#endif
}

int shim_close(int fd) { return shim_result(close(fd)); }

int shim_pipe(int *reading, int *writing) {
    int ends[2];
#ifdef __linux__
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
#else
    if (pipe(ends) < 0) return -errno;
    shim_close_on_exec(ends[0]);
    shim_close_on_exec(ends[1]);
#endif
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

intptr_t shim_read(int fd, void *bytes, size_t count) {
    ssize_t done;
    do done = read(fd, bytes, count); while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : done;
}

intptr_t shim_write(int fd, const void *bytes, size_t count) {
    ssize_t done;
    do done = write(fd, bytes, count); while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : done;
}

intptr_t shim_receive(int fd, void *bytes, size_t count) {
    ssize_t done;
    do done = recv(fd, bytes, count, 0); while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : done;
}

intptr_t shim_send(int fd, const void *bytes, size_t count) {
    ssize_t done;
#ifdef MSG_NOSIGNAL
    do done = send(fd, bytes, count, MSG_NOSIGNAL); while (done < 0 && errno == EINTR);
#else
    do done = send(fd, bytes, count, 0); while (done < 0 && errno == EINTR);
#endif
    return done < 0 ? -errno : done;
}

static void shim_socket_flags(int fd) {
#ifdef SO_NOSIGPIPE
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
#endif
    (void)fd;
}

int shim_socket(int family, int type, int protocol) {
#ifdef __linux__
    return shim_result(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
#else
    int fd = socket(family, type, protocol);
    if (fd < 0) return -errno;
    shim_close_on_exec(fd);
    shim_set_nonblocking(fd, 1);
    shim_socket_flags(fd);
    return fd;
#endif
}

int shim_socket_pair(int *first, int *second) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return -errno;
    for (int index = 0; index < 2; index++) {
        shim_close_on_exec(ends[index]);
        shim_set_nonblocking(ends[index], 1);
        shim_socket_flags(ends[index]);
    }
    *first = ends[0];
    *second = ends[1];
    return 0;
}

// Fills an address from a numeric host; returns its length or -EINVAL.
static int shim_address(const char *host, uint16_t port, struct sockaddr_storage *address) {
    memset(address, 0, sizeof *address);
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return (int)sizeof *four;
    }
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        return (int)sizeof *six;
    }
    return -EINVAL;
}

int shim_listen(const char *host, uint16_t port, int backlog) {
    struct sockaddr_storage address;
    int length = shim_address(host, port, &address);
    if (length < 0) return length;
    int fd = shim_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0) return fd;
    int one = 1;
    // For connections in TIME_WAIT only; on Linux and macOS it does not let two listeners share a port.
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, (socklen_t)length) < 0 || listen(fd, backlog) < 0) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int shim_connect(const char *host, uint16_t port) {
    struct sockaddr_storage address;
    int length = shim_address(host, port, &address);
    if (length < 0) return length;
    int fd = shim_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0) return fd;
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)length) < 0 && errno != EINPROGRESS) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int shim_bind_source(int fd, const char *host) {
    struct sockaddr_storage address;
    int length = shim_address(host, 0, &address);
    if (length < 0) return length;
#ifdef IP_BIND_ADDRESS_NO_PORT
    int one = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
#endif
    return shim_result(bind(fd, (struct sockaddr *)&address, (socklen_t)length));
}

int shim_accept(int listener) {
    int fd;
#ifdef __linux__
    do fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); while (fd < 0 && errno == EINTR);
    return shim_result(fd);
#else
    do fd = accept(listener, NULL, NULL); while (fd < 0 && errno == EINTR);
    if (fd < 0) return -errno;
    shim_close_on_exec(fd);
    shim_set_nonblocking(fd, 1);
    shim_socket_flags(fd);
    return fd;
#endif
}

static int shim_port_of(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) return ntohs(((const struct sockaddr_in *)address)->sin_port);
    if (address->ss_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    return -EAFNOSUPPORT;
}

int shim_local_port(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
    return shim_port_of(&address);
}

int shim_peer_port(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
    return shim_port_of(&address);
}

int shim_no_delay(int fd) {
    int one = 1;
    return shim_result(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
}

int shim_linger_zero(int fd) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    return shim_result(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
}

int shim_send_buffer(int fd, int bytes) {
    return shim_result(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes));
}

int shim_receive_buffer(int fd, int bytes) {
    return shim_result(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
}

int shim_socket_error(int fd) {
    int code = 0;
    socklen_t length = sizeof code;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length) < 0) return -errno;
    return code;
}

int shim_shut_down_sending(int fd) { return shim_result(shutdown(fd, SHUT_WR)); }
int shim_shut_down(int fd) { return shim_result(shutdown(fd, SHUT_RDWR)); }

int shim_unsent_bytes(int fd) {
    int count = 0;
#ifdef __linux__
    return ioctl(fd, SIOCOUTQ, &count) < 0 ? -errno : count;
#else
    socklen_t length = sizeof count;
    return getsockopt(fd, SOL_SOCKET, SO_NWRITE, &count, &length) < 0 ? -errno : count;
#endif
}

int shim_resolve(const char *host, char *texts, int count, const char **failure) {
    struct addrinfo hints, *list = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    int code = getaddrinfo(host, NULL, &hints, &list);
    if (code != 0) {
        *failure = gai_strerror(code);
        return -1;
    }
    int found = 0;
    for (struct addrinfo *one = list; one && found < count; one = one->ai_next) {
        const void *raw = NULL;
        if (one->ai_family == AF_INET) raw = &((struct sockaddr_in *)one->ai_addr)->sin_addr;
        if (one->ai_family == AF_INET6) raw = &((struct sockaddr_in6 *)one->ai_addr)->sin6_addr;
        char *text = texts + (size_t)found * SHIM_ADDRESS_BYTES_MAX;
        if (raw && inet_ntop(one->ai_family, raw, text, SHIM_ADDRESS_BYTES_MAX)) found++;
    }
    freeaddrinfo(list);
    return found;
}

// Processes.

int shim_decode_exit(int status, int *exit_code, int *signal_number) {
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    *signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFEXITED(status) || WIFSIGNALED(status);
}

static int64_t nanoseconds(struct timeval time) {
    return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

static struct shim_usage usage_of(const struct rusage *usage) {
    struct shim_usage result;
    result.user_nanoseconds = nanoseconds(usage->ru_utime);
    result.system_nanoseconds = nanoseconds(usage->ru_stime);
#ifdef __APPLE__
    result.resident_max_bytes = usage->ru_maxrss;
#else
    result.resident_max_bytes = (int64_t)usage->ru_maxrss * 1024;
#endif
    return result;
}

int shim_reap(int pid, int block, int *status, struct shim_usage *usage) {
    int result;
    struct rusage used;
    do result = (int)wait4(pid, status, block ? 0 : WNOHANG, &used); while (result < 0 && errno == EINTR);
    if (result > 0) *usage = usage_of(&used);
    return shim_result(result);
}

struct shim_usage shim_own_usage(void) {
    struct rusage used;
    memset(&used, 0, sizeof used);
    getrusage(RUSAGE_SELF, &used);
    return usage_of(&used);
}

int shim_descriptor_limits(uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return 0;
}

int shim_set_descriptor_limit(uint64_t soft) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
    limit.rlim_cur = soft;
    return shim_result(setrlimit(RLIMIT_NOFILE, &limit));
}

int shim_open_descriptors(void) {
    DIR *folder = opendir("/dev/fd");
    if (!folder) return -errno;
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count - 3;  // ".", ".." and the folder itself.
}

int shim_ignore_broken_pipe(void) { return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -errno : 0; }

static int is_among(int number, const int *numbers, int count) {
    for (int index = 0; index < count; index++)
        if (numbers[index] == number) return 1;
    return 0;
}

int shim_spawn(
    const char *path, char *const arguments[], char *const environment[], const int *from, const int *to, int count,
    int own_group, int *pid
) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code) return -code;
    if ((code = posix_spawnattr_init(&attributes))) {
        posix_spawn_file_actions_destroy(&actions);
        return -code;
    }
    int last = 2;
    for (int index = 0; !code && index < count; index++) {
        code = posix_spawn_file_actions_adddup2(&actions, from[index], to[index]);
        if (to[index] > last) last = to[index];
    }
    // What this process itself inherited without close-on-exec, from a shell or a test runner, goes no further.
#if defined(__APPLE__)
    for (int number = 0; !code && number <= 2; number++)
        if (!is_among(number, to, count)) code = posix_spawn_file_actions_addinherit_np(&actions, number);
#else
    for (int number = 3; !code && number < last; number++)
        if (!is_among(number, to, count)) code = posix_spawn_file_actions_addclose(&actions, number);
#if __GLIBC_PREREQ(2, 34)
    if (!code) code = posix_spawn_file_actions_addclosefrom_np(&actions, last + 1);
#endif
#endif
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    pid_t started = 0;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (own_group) flags |= POSIX_SPAWN_SETPGROUP;
#ifdef POSIX_SPAWN_CLOEXEC_DEFAULT
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    if (!code) code = posix_spawnattr_setsigmask(&attributes, &none);
    if (!code) code = posix_spawnattr_setsigdefault(&attributes, &usual);
    if (!code) code = posix_spawnattr_setpgroup(&attributes, 0);
    if (!code) code = posix_spawnattr_setflags(&attributes, flags);
    if (!code) code = posix_spawn(&started, path, &actions, &attributes, arguments, environment);
    *pid = (int)started;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

extern char **environ;

char **shim_environment(void) { return environ; }

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a thread is handed to Swift as one word");

int shim_start_thread(uintptr_t *thread, size_t stack_bytes, void *(*body)(void *), void *context) {
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code) return -code;
    pthread_t started;
    code = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (!code) code = pthread_create(&started, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    if (!code) *thread = (uintptr_t)started;
    return -code;
}

void shim_join_thread(uintptr_t thread) { pthread_join((pthread_t)thread, NULL); }

void shim_detach_thread(uintptr_t thread) { pthread_detach((pthread_t)thread); }

void shim_name_thread(const char *name) {
#ifdef __APPLE__
    pthread_setname_np(name);
#else
    pthread_setname_np(pthread_self(), name);  // At most 15 characters, or it is refused.
#endif
}

int shim_kill(int pid, int signal_number) { return shim_result(kill(pid, signal_number)); }

int shim_signal_interrupt(void) { return SIGINT; }
int shim_signal_terminate(void) { return SIGTERM; }
int shim_signal_hang_up(void) { return SIGHUP; }
int shim_signal_kill(void) { return SIGKILL; }

void shim_error_text(int code, char *text, size_t bytes) {
#ifdef __linux__
    const char *words = strerror_r(code, text, bytes);  // The GNU one, which may leave `text` alone.
    if (words != text) strncpy(text, words, bytes - 1), text[bytes - 1] = 0;
#else
    strerror_r(code, text, bytes);
#endif
}

char *shim_copy_text(const char *text) { return strdup(text); }

void shim_free_text(char *text) { free(text); }

int shim_own_process(void) { return (int)getpid(); }

int shim_peer_host(int fd, char *text) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
    const void *raw = NULL;
    if (address.ss_family == AF_INET) raw = &((struct sockaddr_in *)&address)->sin_addr;
    if (address.ss_family == AF_INET6) raw = &((struct sockaddr_in6 *)&address)->sin6_addr;
    if (!raw) return -EAFNOSUPPORT;
    return inet_ntop(address.ss_family, raw, text, SHIM_ADDRESS_BYTES_MAX) ? 0 : -errno;
}

int shim_is_executable(const char *path) { return access(path, X_OK) == 0; }

void *shim_make_lock(void) {
    pthread_mutex_t *lock = malloc(sizeof *lock);
    if (!lock || pthread_mutex_init(lock, NULL)) abort();
    return lock;
}

void shim_free_lock(void *lock) {
    pthread_mutex_destroy(lock);
    free(lock);
}

void shim_lock(void *lock) { pthread_mutex_lock(lock); }

void shim_unlock(void *lock) { pthread_mutex_unlock(lock); }
