/* MuJoCo in timed loops. States are rows of x: qpos, qvel, then qacc (inverse) or forces (forward). */
#include <mujoco/mujoco.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void set(const mjModel *m, mjData *d, const double *x, double *third) {
    memcpy(d->qpos, x, sizeof(double) * (size_t)m->nq);
    memcpy(d->qvel, x + m->nq, sizeof(double) * (size_t)m->nv);
    memcpy(third, x + m->nq + m->nv, sizeof(double) * (size_t)m->nv);
}

double mujoco_inverse(const mjModel *m, mjData *d, const double *x, long mask, long calls, unsigned long seed) {
    const long width = m->nq + 2 * m->nv;
    unsigned long r = seed;
    const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < calls; ++i) {
        r = r * 6364136223846793005ul + 1442695040888963407ul;
        set(m, d, x + (long)((r >> 33) & (unsigned long)mask) * width, d->qacc);
        mj_inverse(m, d);
    }
    return seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

double mujoco_forward(const mjModel *m, mjData *d, const double *x, long mask, long calls, unsigned long seed) {
    const long width = m->nq + 2 * m->nv;
    unsigned long r = seed;
    const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < calls; ++i) {
        r = r * 6364136223846793005ul + 1442695040888963407ul;
        set(m, d, x + (long)((r >> 33) & (unsigned long)mask) * width, d->qfrc_applied);
        mj_forward(m, d);
    }
    return seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}
