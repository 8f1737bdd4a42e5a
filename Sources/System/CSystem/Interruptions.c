// Ctrl-C and its like, awaited by one thread instead of caught in whichever runs.
#include "Result.h"

#include <pthread.h>
#include <signal.h>

static sigset_t interruptions;

int shim_signal_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int shim_block_interruptions(int of_terminal) {
    sigemptyset(&interruptions);
    sigaddset(&interruptions, SIGTERM);
    if (!of_terminal) {
        if (signal(SIGINT, SIG_IGN) == SIG_ERR || signal(SIGHUP, SIG_IGN) == SIG_ERR) return -errno;
        if (signal(SIGTERM, SIG_DFL) == SIG_ERR) return -errno;
        return -pthread_sigmask(SIG_SETMASK, &interruptions, NULL);
    }
    sigaddset(&interruptions, SIGINT);
    // `nohup` asks for this one to be ignored. A shell ignores SIGINT for the background jobs of a script, and whoever
    // sends one to such a job means it.
    if (!shim_signal_is_ignored(SIGHUP)) sigaddset(&interruptions, SIGHUP);
    // An ignored signal is awaited in vain on some systems.
    if (signal(SIGINT, SIG_DFL) == SIG_ERR || signal(SIGTERM, SIG_DFL) == SIG_ERR) return -errno;
    return -pthread_sigmask(SIG_SETMASK, &interruptions, NULL);
}

int shim_await_interruption(void) {
    int number = 0;
    const int code = sigwait(&interruptions, &number);
    return code ? -code : number;
}

int shim_ignore_file_size_limit(void) { return signal(SIGXFSZ, SIG_IGN) == SIG_ERR ? -errno : 0; }
