// Clocks, descriptors, pipes and limits.
#include "Result.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/timerfd.h>
#endif

int64_t shim_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef __linux__
int shim_timer_open(void) { return shim_result(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)); }

void shim_timer_set(int fd, int64_t moment) {
    struct itimerspec time = {.it_value = {.tv_sec = moment / 1000000000, .tv_nsec = moment % 1000000000}};
    timerfd_settime(fd, TFD_TIMER_ABSTIME, &time, NULL);
}
#else
int shim_timer_open(void) { return -ENOSYS; }

void shim_timer_set(int fd, int64_t moment) {
    (void)fd;
    (void)moment;
}
#endif

int64_t shim_thread_processor_nanoseconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

int64_t shim_wall_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    // Nanoseconds of 64 bits end in 1677 and 2262.
    const int64_t most = 9000000000;
    if (now.tv_sec > most) return most * 1000000000;
    if (now.tv_sec < -most) return -most * 1000000000;
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

void shim_error_text(int code, char *text, size_t bytes) {
#ifdef __linux__
    const char *words = strerror_r(code, text, bytes);  // The GNU one, which may leave `text` alone.
    if (words != text) strncpy(text, words, bytes - 1), text[bytes - 1] = 0;
#else
    strerror_r(code, text, bytes);
#endif
}

int shim_is_executable(const char *path) { return access(path, X_OK) == 0; }

int shim_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) < 0 ? -errno : size.ws_col;
}

void shim_wait_until_writable(int fd) {
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    poll(&entry, 1, -1);
}

void shim_occupy_standard_descriptors(void) {
    for (int number = 0; number <= 2; number++) {
        if (fcntl(number, F_GETFD) < 0) (void)open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
    }
}
