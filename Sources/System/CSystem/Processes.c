// Child processes, threads, signals and locks.
#include "Result.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach/mach.h>
#include <pthread/qos.h>
#endif

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

// The most memory that this program has had, or -1. What the system counts for the process (ru_maxrss) includes what the
// process had before it became this program, which is what its parent had.
static int64_t own_resident_max(void) {
#ifdef __APPLE__
    struct task_vm_info info;
    mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
    if (task_info(mach_task_self(), TASK_VM_INFO, (task_info_t)&info, &count) != KERN_SUCCESS) return -1;
    return (int64_t)info.resident_size_peak;
#else
    FILE *status = fopen("/proc/self/status", "re");
    if (!status) return -1;
    char line[128];
    long long kilobytes = -1;
    while (kilobytes < 0 && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lld kB", &kilobytes) != 1) kilobytes = -1;
    fclose(status);
    return kilobytes < 0 ? -1 : (int64_t)kilobytes * 1024;
#endif
}

struct shim_usage shim_own_usage(void) {
    struct rusage used;
    memset(&used, 0, sizeof used);
    getrusage(RUSAGE_SELF, &used);
    struct shim_usage usage = usage_of(&used);
    const int64_t own = own_resident_max();
    if (own >= 0) usage.resident_max_bytes = own;
    return usage;
}

int shim_ignore_broken_pipe(void) { return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -errno : 0; }

int shim_unblock_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    return -pthread_sigmask(SIG_SETMASK, &none, NULL);
}

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

void shim_pause(int milliseconds) { poll(NULL, 0, milliseconds); }

void shim_yield(void) { sched_yield(); }

void shim_stand_back(void) {
#ifdef __APPLE__
    pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#else
    // On Linux the priority of a process is that of one thread. A refusal changes nothing that matters.
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 10);
#endif
}

int shim_kill(int pid, int signal_number) { return shim_result(kill(pid, signal_number)); }

int shim_signal_interrupt(void) { return SIGINT; }
int shim_signal_terminate(void) { return SIGTERM; }
int shim_signal_hang_up(void) { return SIGHUP; }
int shim_signal_kill(void) { return SIGKILL; }

char *shim_copy_text(const char *text) { return strdup(text); }

void shim_free_text(char *text) { free(text); }

int shim_own_process(void) { return (int)getpid(); }

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

void shim_wake_promptly(void) {
#ifdef __APPLE__
    pthread_set_qos_class_self_np(QOS_CLASS_USER_INITIATED, 0);
#elif defined(SYS_sched_setattr)
    // The kernel's struct sched_attr, which the C library has only of late.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = sizeof attributes};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
    attributes.runtime = 100000;
    // From Linux 6.12 on this is the slice of an ordinary thread; earlier kernels ignore it, and a refusal changes nothing.
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}
