/*
 * The integrator of Co-Simulation: the Runge-Kutta method of Dormand and Prince, order 5, whose steps are as long as
 * the estimated error of each state stays below tolerance*(|state| + 0.01). Inputs keep their values during a
 * communication step; the step found last is where the next communication step begins.
 */
#ifndef KINEGRAPH_FMU_INTEGRATE
#define KINEGRAPH_FMU_INTEGRATE

#include "fmu_instance_.h"

enum { STAGES = 6, MOST_STEPS = 1000000 };

static double tolerated(const Instance *instance, double one, double other)
{
    return instance->state.tolerance*(fmax(fabs(one), fabs(other)) + 0.01) + 1e-14;
}

static void slope_at(Instance *instance, double time, const double *states, double *slope)
{
    instance->state.known[TIME] = time;
    memcpy(instance->state.known + FIRST_STATE, states, FMU_STATES*sizeof *states);
    evaluate_slopes(instance->state.known, slope);
}

/* end = y + h * (the first `count` slopes, weighted). */
static void combine(const double *weights, int count, double h, double (*slopes)[FMU_STATES], const double *y,
                    double *end)
{
    int i, stage;
    for (i = 0; i < FMU_STATES; i++) {
        double sum = 0.0;
        for (stage = 0; stage < count; stage++) {
            sum += weights[stage]*slopes[stage][i];
        }
        end[i] = y[i] + h*sum;
    }
}

/* The state at the end of a step with unit quaternions and closed loops. */
static int settle_end(Instance *instance, double time, double *end)
{
    double *known = instance->state.known;
    int good;
    known[TIME] = time;
    memcpy(known + FIRST_STATE, end, FMU_STATES*sizeof *end);
    good = settle(known);
    memcpy(end, known + FIRST_STATE, FMU_STATES*sizeof *end);
    return good;
}

/* All slopes of a step from y (whose slope is the first) and the state at its end; the error in units of what is
   tolerated, infinite where a slope is not finite. */
static double attempt(Instance *instance, double time, double h, double (*slopes)[FMU_STATES], const double *y,
                      double *end)
{
    double error[FMU_STATES], zero[FMU_STATES] = {0.0}, sum = 0.0;
    size_t i;
    int stage;
    for (stage = 1; stage <= STAGES; stage++) {
        combine(STAGE_WEIGHTS[stage], stage, h, slopes, y, end);
        if (stage == STAGES && !settle_end(instance, time + h, end)) {
            return HUGE_VAL;
        }
        slope_at(instance, time + STAGE_TIMES[stage]*h, end, slopes[stage]);
        if (!all_finite(slopes[stage], FMU_STATES)) {
            return HUGE_VAL;
        }
    }
    combine(ERROR_WEIGHTS, STAGES + 1, h, slopes, zero, error);
    for (i = 0; i < FMU_STATES; i++) {
        const double one = error[i]/tolerated(instance, y[i], end[i]);
        sum += one*one;
    }
    return sqrt(sum/FMU_STATES);
}

/* A first step: a hundredth of the time in which the state would change by its own size. */
static double first_step(const Instance *instance, const double *y, const double *slope, double longest)
{
    double size = 0.0, speed = 0.0;
    size_t i;
    for (i = 0; i < FMU_STATES; i++) {
        const double scale = tolerated(instance, y[i], y[i]);
        size += (y[i]/scale)*(y[i]/scale);
        speed += (slope[i]/scale)*(slope[i]/scale);
    }
    if (size < 1e-10 || speed < 1e-10) {
        return fmin(1e-4, longest);
    }
    return fmin(0.01*sqrt(size/speed), longest);
}

static double next_length(double h, double error)
{
    return h*fmin(5.0, fmax(0.2, 0.9*pow(fmax(error, 1e-10), -0.2)));
}

/* Integrate to `end`. On failure the state is what it was before, and the answer is STATUS_DISCARD. */
static int integrate(Instance *instance, double end)
{
    double (*slopes)[FMU_STATES] = instance->work;
    double *y = instance->work[STAGES + 1], *next = instance->work[STAGES + 2];
    const State before = instance->state;
    double time = before.known[TIME], h = before.next_step;
    long steps = 0;
    memcpy(y, before.known + FIRST_STATE, FMU_STATES*sizeof *y);
    slope_at(instance, time, y, slopes[0]);
    if (!(h > 0.0)) {
        h = first_step(instance, y, slopes[0], end - time);
    }
    while (time < end) {
        const int last = time + 1.01*h >= end;
        const double length = last ? end - time : h;
        const double error = attempt(instance, time, length, slopes, y, next);
        if (error <= 1.0) {
            time = last ? end : time + length;
            memcpy(y, next, FMU_STATES*sizeof *y);
            memcpy(slopes[0], slopes[STAGES], sizeof slopes[0]);
            h = last ? fmax(h, next_length(length, error)) : next_length(length, error);
        } else {
            h = error < HUGE_VAL ? next_length(length, error) : 0.1*length;
        }
        if (!(h > 1e-14*fmax(1.0, fabs(time))) || ++steps > MOST_STEPS) {
            instance->state = before;
            say(instance, STATUS_DISCARD, "the integrator cannot go on: its steps became too short or too many");
            return STATUS_DISCARD;
        }
    }
    memcpy(instance->state.known + FIRST_STATE, y, FMU_STATES*sizeof *y);
    instance->state.known[TIME] = end;
    instance->state.next_step = h;
    forget_unknowns(instance);
    return STATUS_OK;
}

/* One communication step. */
static int do_step(Instance *instance, double from, double length)
{
    const double now = instance->state.known[TIME];
    if (require(instance, STEP, "a step needs Co-Simulation, and the initialization done")) {
        return STATUS_ERROR;
    }
    if (!(length >= 0.0) || !isfinite(length)) {
        return refuse(instance, "the length of a step must be a positive number");
    }
    if (!(fabs(from - now) <= 1e-9*fmax(1.0, fabs(now)))) {
        return refuse(instance, "a step must begin where the last one ended");
    }
    return integrate(instance, from + length);
}

#endif
