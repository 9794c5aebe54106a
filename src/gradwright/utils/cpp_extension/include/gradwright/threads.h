// gradwright/threads.h: loops whose parts run side by side. Part of runtime.cpp.
#pragma once

#include <gradwright/extension.h>

#include <pthread.h>
#if defined(__linux__)
#  include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace gradwright {
namespace detail {

// How many threads a loop may run in: what OMP_NUM_THREADS says, or else the CPUs that this process may use.
static int64_t most_threads() {
    const char *set = std::getenv("OMP_NUM_THREADS");
    if (set && std::atoi(set) > 0) return std::atoi(set);
#if defined(__linux__)
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
#endif
    return std::max<int64_t>(1, std::thread::hardware_concurrency());
}

// A loop in parts. Whoever is free takes the next.
struct Work {
    void (*body)(void *, int64_t, int64_t);
    void *state;
    int64_t n, parts;
    std::atomic<int64_t> next{0};
    std::mutex failing;
    std::exception_ptr error;

    void run() {
        for (int64_t k; (k = next++) < parts;) {
            try {
                body(state, n * k / parts, n * (k + 1) / parts);
            } catch (...) {
                std::lock_guard<std::mutex> lock(failing);
                if (!error) error = std::current_exception();
                next = parts;
            }
        }
    }
};

// Threads that wait for work. They are started when it first comes and stay until the process ends.
class Pool {
    std::mutex mutex;
    std::condition_variable begun, ended;
    Work *work = nullptr;
    int64_t threads = 0, count = 0, inside = 0;

    void wait() {
        std::unique_lock<std::mutex> lock(mutex);
        for (int64_t seen = 0;; seen = count) {
            begun.wait(lock, [&] { return count != seen; });
            if (!work) continue;
            Work *mine = work;
            ++inside;
            lock.unlock();
            mine->run();
            lock.lock();
            if (--inside == 0) ended.notify_one();
        }
    }

  public:
    std::atomic<bool> busy{false};

    void run(Work &mine, int64_t helpers) {
        std::unique_lock<std::mutex> lock(mutex);
        try {
            for (; threads < helpers; ++threads) std::thread(&Pool::wait, this).detach();
        } catch (const std::system_error &) {  // no more threads to be had
        }
        work = &mine;
        ++count;
        lock.unlock();
        begun.notify_all();
        mine.run();
        lock.lock();
        work = nullptr;
        ended.wait(lock, [&] { return inside == 0; });
    }
};

// Never freed: threads wait in it. A forked child has none of them, and starts its own.
static std::atomic<Pool *> pool{nullptr};

static Pool &the_pool() {
    if (!pool) {
        static const int once = pthread_atfork(nullptr, nullptr, [] { pool = nullptr; });
        (void) once;
        Pool *none = nullptr, *made = new Pool;
        if (!pool.compare_exchange_strong(none, made)) delete made;
    }
    return *pool;
}

void parallel(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *state) {
    if (n <= 0) return;
    static const int64_t most = most_threads();
    if (n <= grain) return body(state, 0, n);
    const int64_t count = std::min(most, n / std::max<int64_t>(1, grain) + 1);
    Work work{body, state, n, count > 1 ? 4 * count : 1};
    PyThreadState *python = PyGILState_Check() ? PyEval_SaveThread() : nullptr;
    Pool &here = the_pool();
    if (count > 1 && !here.busy.exchange(true)) {
        here.run(work, count - 1);
        here.busy = false;
    } else {
        work.run();  // others have the threads, perhaps the loop around this one
    }
    if (python) PyEval_RestoreThread(python);
    if (work.error) std::rethrow_exception(work.error);
}

}  // namespace detail
}  // namespace gradwright
