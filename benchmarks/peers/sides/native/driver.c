/* Calls functions of the shape f(const double *x, double *y) from compiled code. */
#include <time.h>

typedef void (*function)(const double *, double *);

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Processor seconds of `calls` calls over the rows of x in random order; `mask` is the number of rows less one. */
double drive(function f, const double *x, double *y, long width, long mask, long calls, unsigned long seed) {
    unsigned long r = seed;
    const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < calls; ++i) {
        r = r * 6364136223846793005ul + 1442695040888963407ul;
        f(x + (long)((r >> 33) & (unsigned long)mask) * width, y);
    }
    return seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* Every row of x to its row of y, so many times. */
void sweep(function f, const double *x, double *y, long width, long height, long rows, long times) {
    for (long k = 0; k < times; ++k)
        for (long i = 0; i < rows; ++i) f(x + i * width, y + i * height);
}

typedef void (*batch)(long, long, void *, void *, void *);

/* A batch's rows from first to last, so many times. */
void sweep_batch(batch f, long first, long last, void *arguments, void *strides, void *results, long times) {
    for (long k = 0; k < times; ++k) f(first, last, arguments, strides, results);
}
