/* Threads that share the parts of a loop. They are started when they are first needed, wait a moment for the next loop
   before they sleep, and stay until the process ends. A forked child has none of them, and starts its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef void (*loop_t)(char **, long);
enum { SPINS = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static atomic_long round_ = 0, next = 0, left = 0, inside = 0, sleeping = 0;
static atomic_int busy = 0;
static _Atomic(loop_t) loop;
static char **_Atomic table;
static atomic_long parts = 0;
static long threads = 0, most = 0;

static void pause_(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  sched_yield();
#endif
}

static void work(void) {
  loop_t f = loop;
  char **P = table;
  long n = parts, k, done = 0;
  while ((k = atomic_fetch_add(&next, 1)) < n) { f(P, k); done++; }
  if (done) atomic_fetch_sub(&left, done);
}

static void *wait_(void *seen_) {
  long seen = (long) seen_;
  for (;;) {
    for (int k = 0; k < SPINS && round_ == seen; k++) pause_();
    if (round_ == seen) {
      pthread_mutex_lock(&mutex);
      sleeping++;
      while (round_ == seen) pthread_cond_wait(&begun, &mutex);
      sleeping--;
      pthread_mutex_unlock(&mutex);
    }
    seen = round_;
    inside++;
    if (round_ == seen && left > 0) work();
    inside--;
  }
  return 0;
}

static void forked(void) {
  pthread_mutex_init(&mutex, 0);
  pthread_cond_init(&begun, 0);
  threads = 0; inside = 0; sleeping = 0; busy = 0; left = 0;
}

/* How many threads a loop may run in: what OMP_NUM_THREADS says, or else the CPUs that this process may use. */
static long most_threads(void) {
  const char *set = getenv("OMP_NUM_THREADS");
  if (set && atoi(set) > 0) return atoi(set);
#if defined(__linux__)
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) return CPU_COUNT(&cpus);
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? n : 1;
}

static void start(void) {
  pthread_attr_t attributes;
  pthread_t one;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (; threads < most - 1; threads++)
    if (pthread_create(&one, &attributes, wait_, (void *) (long) round_)) break;
  pthread_attr_destroy(&attributes);
}

/* All parts of a loop, whoever is free taking the next. Alone if others have the threads. */
void gradwright_parallel(loop_t f, char **P, long n) {
  if (!most) {
    most = most_threads();
    if (most > 1) pthread_atfork(0, 0, forked);
  }
  int alone = most < 2 || atomic_exchange(&busy, 1);
  if (!alone) {
    if (threads < most - 1) start();
    for (int k = 0; inside && k < SPINS; k++) pause_();  /* a thread may not have seen yet that nothing is left */
    if (inside) { alone = 1; busy = 0; }                 /* other programs have its processor: who knows how long */
  }
  if (alone) {
    for (long k = 0; k < n; k++) f(P, k);
    return;
  }
  loop = f; table = P; parts = n; next = 0; left = n;
  pthread_mutex_lock(&mutex);
  round_++;
  if (sleeping) pthread_cond_broadcast(&begun);
  pthread_mutex_unlock(&mutex);
  work();
  for (int k = 0; left > 0; k++) { if (k < SPINS) pause_(); else sched_yield(); }
  busy = 0;
}
