/*
 * One instance of the model: its values, the mode it is in, and what may be done in which mode.
 *
 * A value reference is a place in one row of numbers:
 *
 *     time | states | inputs | parameters | derivatives of the states | further outputs
 *     <----------- known ---------------->   <-------------- unknown -------------->
 *
 * Everything here is static: the one source file that implements an FMI version includes it.
 */
#ifndef KINEGRAPH_FMU_INSTANCE
#define KINEGRAPH_FMU_INSTANCE

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_model_.h"

enum {
    TIME = 0,
    FIRST_STATE = 1,
    FIRST_INPUT = FIRST_STATE + FMU_STATES,
    FIRST_PARAMETER = FIRST_INPUT + FMU_INPUTS,
    KNOWNS = FIRST_PARAMETER + FMU_PARAMETERS,
    FIRST_OUTPUT = KNOWNS + FMU_STATES,
    VARIABLES = FIRST_OUTPUT + FMU_OUTPUTS
};

/* The same numbers in FMI 2 and FMI 3. */
enum Status { STATUS_OK, STATUS_WARNING, STATUS_DISCARD, STATUS_ERROR, STATUS_FATAL };

enum Mode {
    INSTANTIATED = 1,
    INITIALIZATION = 2,
    EVENT = 4,
    CONTINUOUS = 8,
    STEP = 16,
    TERMINATED = 32
};
#define BEFORE_START (INSTANTIATED | INITIALIZATION)
#define RUNNING (EVENT | CONTINUOUS | STEP)

/* All that changes while an instance runs: what getting and setting the state copies. */
typedef struct {
    double known[KNOWNS];
    double unknown[VARIABLES - KNOWNS];
    double tolerance;
    double next_step; /* what the integrator will try; 0 if it has to find out */
    int mode;
    int derivatives_known;
    int outputs_known;
} State;

typedef struct {
    State state;
    int model_exchange;
    int logging;
    char *name;
    void *environment;
    Logger logger;
    double work[9][FMU_STATES]; /* the integrator's: seven slopes, the state at either end of a step */
} Instance;

/* Each FMI version has its own logger. */
static void say(const Instance *instance, int status, const char *message);

static int refuse(const Instance *instance, const char *message)
{
    say(instance, STATUS_ERROR, message);
    return STATUS_ERROR;
}

static int require(const Instance *instance, int modes, const char *message)
{
    return instance->state.mode & modes ? STATUS_OK : refuse(instance, message);
}

static void forget_unknowns(Instance *instance)
{
    instance->state.derivatives_known = 0;
    instance->state.outputs_known = 0;
}

static void start_anew(Instance *instance)
{
    memset(&instance->state, 0, sizeof instance->state);
    memcpy(instance->state.known, START, sizeof START);
    instance->state.tolerance = FMU_TOLERANCE;
    instance->state.mode = INSTANTIATED;
}

static Instance *instance_new(const char *name, const char *token, int model_exchange, int logging, void *environment,
                              Logger logger)
{
    Instance *instance = calloc(1, sizeof *instance);
    if (instance == NULL) {
        return NULL;
    }
    instance->model_exchange = model_exchange;
    instance->logging = logging;
    instance->environment = environment;
    instance->logger = logger;
    name = name ? name : "";
    instance->name = malloc(strlen(name) + 1);
    if (instance->name == NULL) {
        free(instance);
        return NULL;
    }
    strcpy(instance->name, name);
    if (token == NULL || strcmp(token, FMU_TOKEN) != 0) {
        say(instance, STATUS_ERROR, "the token differs: the model description belongs to another FMU");
        free(instance->name);
        free(instance);
        return NULL;
    }
    start_anew(instance);
    return instance;
}

static void instance_free(Instance *instance)
{
    if (instance != NULL) {
        free(instance->name);
        free(instance);
    }
}

/*
 * Quaternions
 *
 * The equations hold for quaternions of unit length. Whoever integrates from outside lets the length drift, so the
 * equations are given e/|e|, and the rate of e is |e| times what they answer: the length then has no influence at all.
 */

static double length_of(const double *e)
{
    return sqrt(e[0]*e[0] + e[1]*e[1] + e[2]*e[2] + e[3]*e[3]);
}

/* Give all quaternions of a state unit length. */
static void normalize(double *states)
{
    int i, k;
    for (i = 0; i < FMU_QUATERNIONS; i++) {
        double *e = states + QUATERNIONS[i];
        const double length = length_of(e);
        for (k = 0; k < 4; k++) {
            e[k] /= length;
        }
    }
}

/* How far the lengths are from 1, at worst. */
static double length_error(const double *states)
{
    double worst = 0.0;
    int i;
    for (i = 0; i < FMU_QUATERNIONS; i++) {
        worst = fmax(worst, fabs(length_of(states + QUATERNIONS[i]) - 1.0));
    }
    return worst;
}

/*
 * Loops and constraints
 *
 * The equations hold where loops are closed. Like the length of quaternions, what an integrator leaves open has no
 * influence: states are taken to the nearest closed ones (measured by kinetic energy) before anything is computed.
 */

enum { MOST_CLOSING_STEPS = 40 };
#define CLOSED_ENOUGH 1e-9
#define SINGULAR_PIVOT 1e-11

/* Unit quaternions and closed loops. The answer is false where they cannot be closed, or the position is singular. */
static int settle(double *known)
{
#if FMU_ROWS > 0
    double closed[FMU_STATES], pivots[FMU_ROWS];
    int i, step, regular;
    for (step = 0; step < MOST_CLOSING_STEPS; step++) {
        double change = 0.0;
        normalize(known + FIRST_STATE);
        MODEL(closed)(known, closed, pivots);
        for (i = 0; i < FMU_STATES; i++) {
            const double state = known[FIRST_STATE + i], moved = fabs(closed[i] - state)/(1.0 + fabs(state));
            change = moved <= change ? change : moved;
            known[FIRST_STATE + i] = closed[i];
        }
        if (!isfinite(change)) {
            return 0;
        }
        if (change < CLOSED_ENOUGH) {
            regular = 1;
            for (i = 0; i < FMU_ROWS; i++) {
                regular = regular && pivots[i] > SINGULAR_PIVOT;
            }
            return regular;
        }
    }
    return 0;
#else
    normalize(known + FIRST_STATE);
    return 1;
#endif
}

/* How far states are from where loops are closed, relative to their size. */
static double opening(const double *known)
{
#if FMU_ROWS > 0
    double closed[FMU_STATES], pivots[FMU_ROWS], worst = 0.0;
    int i;
    MODEL(closed)(known, closed, pivots);
    for (i = 0; i < FMU_STATES; i++) {
        worst = fmax(worst, fabs(closed[i] - known[FIRST_STATE + i])/(1.0 + fabs(closed[i])));
    }
    return worst;
#else
    (void)known;
    return 0.0;
#endif
}

/*
 * Start values
 *
 * Those the host sets hold, then those the model declares; the others follow from the loops. A column of the Jacobian
 * follows if enough of it is left after those that follow before it: one nobody gave first, the last of the host's last.
 */

#if FMU_START_ROWS > 0
#define ENOUGH_LEFT 0.05
#define LEAST_LEFT 1e-4
#define ROUNDED_COLUMN 1e-9
#define LONGEST_CLOSING_STEP 0.3
#define START_ROUNDING 1e-3
enum { FREE_START, DECLARED_START, SET_START, POSITIONS = FMU_STATES - FMU_VELOCITIES };

static int is_quaternion(int position)
{
    int i;
    for (i = 0; i < FMU_QUATERNIONS; i++) {
        if (QUATERNIONS[i] == position) {
            return 1;
        }
    }
    return 0;
}

/* How firmly each displacement and each velocity holds. */
static void rank_starts(const double *states, int *displacements, int *velocities)
{
    int position, k, i = 0;
    for (position = 0; position < POSITIONS;) {
        const int quaternion = is_quaternion(position), count = quaternion ? 4 : 1;
        int rank = FREE_START;
        for (k = position; k < position + count; k++) {
            const int one = states[k] != START[FIRST_STATE + k] ? SET_START : DECLARED[k] ? DECLARED_START : FREE_START;
            rank = one > rank ? one : rank;
        }
        for (k = 0; k < (quaternion ? 3 : 1); k++) {
            displacements[i++] = rank;
        }
        position += count;
    }
    for (i = 0; i < FMU_VELOCITIES; i++) {
        k = POSITIONS + i;
        velocities[i] = states[k] != START[FIRST_STATE + k] ? SET_START : DECLARED[k] ? DECLARED_START : FREE_START;
    }
}

/* Positions after a displacement; quaternions turn about their own axes. */
static void displace(double *states, const double *d)
{
    int position = 0, i = 0;
    while (position < POSITIONS) {
        if (is_quaternion(position)) {
            double *e = states + position;
            const double a = d[i]/2, b = d[i + 1]/2, c = d[i + 2]/2, w = e[0], x = e[1], y = e[2], z = e[3];
            e[0] = w - x*a - y*b - z*c;
            e[1] = x + w*a + y*c - z*b;
            e[2] = y + w*b + z*a - x*c;
            e[3] = z + w*c + x*b - y*a;
            position += 4;
            i += 3;
        } else {
            states[position++] += d[i++];
        }
    }
    normalize(states);
}

/* The column that follows next, and in which row most of it is left; none is left if that is zero. */
static double next_follower(double (*rows)[FMU_VELOCITIES], const int *used, const double *sizes, const int *taken,
                            const int *ranks, int *column, int *row)
{
    static const double LEFT[] = {ENOUGH_LEFT, LEAST_LEFT, LEAST_LEFT, LEAST_LEFT, ROUNDED_COLUMN};
    static const int RANKS[] = {FREE_START, FREE_START, DECLARED_START, SET_START, SET_START};
    int attempt, i, k;
    for (attempt = 0; attempt < 5; attempt++) {
        for (i = FMU_VELOCITIES - 1; i >= 0; i--) {
            double most = 0.0;
            if (taken[i] || ranks[i] > RANKS[attempt]) {
                continue;
            }
            for (k = 0; k < FMU_START_ROWS; k++) {
                if (!used[k] && fabs(rows[k][i]) > most) {
                    most = fabs(rows[k][i]);
                    *row = k;
                }
            }
            if (most > LEFT[attempt]*sizes[i]) {
                *column = i;
                return most;
            }
        }
    }
    return 0.0;
}

/* The change of those that follow that takes away what rows miss; the answer is how firm the firmest of them was. */
static int follow(double (*rows)[FMU_VELOCITIES], double *missed, const int *wanted, const int *ranks, double *change)
{
    double sizes[FMU_VELOCITIES] = {0.0}, largest = 0.0;
    int used[FMU_START_ROWS], taken[FMU_VELOCITIES] = {0}, of[FMU_START_ROWS], i, k, column = 0, row = 0, firmest = 0;
    memset(change, 0, FMU_VELOCITIES*sizeof *change);
    for (k = 0; k < FMU_START_ROWS; k++) {
        double size = 0.0;
        used[k] = !wanted[k];
        of[k] = -1;
        for (i = 0; i < FMU_VELOCITIES; i++) {
            size = fmax(size, fabs(rows[k][i]));
        }
        for (i = 0; i < FMU_VELOCITIES && size > 0.0; i++) {
            rows[k][i] /= size;
            sizes[i] = used[k] ? sizes[i] : fmax(sizes[i], fabs(rows[k][i]));
        }
        missed[k] = size > 0.0 ? missed[k]/size : 0.0;
    }
    for (i = 0; i < FMU_VELOCITIES; i++) {
        largest = fmax(largest, sizes[i]);
    }
    for (i = 0; i < FMU_VELOCITIES; i++) {
        sizes[i] = fmax(sizes[i], ROUNDED_COLUMN*largest);
    }
    while (next_follower(rows, used, sizes, taken, ranks, &column, &row) > 0.0) {
        used[row] = taken[column] = 1;
        of[row] = column;
        firmest = ranks[column] > firmest ? ranks[column] : firmest;
        for (k = 0; k < FMU_START_ROWS; k++) {
            const double part = rows[k][column]/rows[row][column];
            if (k == row || !wanted[k] || part == 0.0) {
                continue;
            }
            for (i = 0; i < FMU_VELOCITIES; i++) {
                rows[k][i] -= part*rows[row][i];
            }
            rows[k][column] = 0.0;
            missed[k] -= part*missed[row];
        }
    }
    for (k = 0; k < FMU_START_ROWS; k++) {
        if (of[k] >= 0) {
            change[of[k]] = -missed[k]/rows[k][of[k]];
        }
    }
    return firmest;
}

/* Closes loops so that start values hold. False if they do not close so; `contradict` if the host set too many. */
static int settle_start(double *known, int *contradict)
{
    double rows[FMU_START_ROWS][FMU_VELOCITIES], missed[FMU_START_ROWS], rates[FMU_START_ROWS], d[FMU_VELOCITIES];
    double *states = known + FIRST_STATE;
    int displacements[FMU_VELOCITIES], velocities[FMU_VELOCITIES], every[FMU_START_ROWS], i, step;
    rank_starts(states, displacements, velocities);
    for (step = 0; step < MOST_CLOSING_STEPS; step++) {
        double size = 0.0;
        MODEL(rows)(known, missed, (double *)rows, rates);
        *contradict |= follow(rows, missed, BY_POSITION, displacements, d) == SET_START;
        for (i = 0; i < FMU_VELOCITIES; i++) {
            size = fabs(d[i]) <= size ? size : fabs(d[i]);
        }
        if (!isfinite(size) || *contradict) {
            return 0;
        }
        for (i = 0; i < FMU_VELOCITIES; i++) {
            d[i] *= size > LONGEST_CLOSING_STEP ? LONGEST_CLOSING_STEP/size : 1.0;
        }
        displace(states, d);
        if (size < 1e-13) {
            break;
        }
    }
    for (i = 0; i < FMU_START_ROWS; i++) {
        every[i] = 1;
    }
    MODEL(rows)(known, missed, (double *)rows, rates);
    *contradict |= follow(rows, rates, every, velocities, d) == SET_START;
    for (i = 0; i < FMU_VELOCITIES; i++) {
        states[POSITIONS + i] += d[i];
    }
    return !*contradict;
}

/* Where values that the host set stay but for rounding. */
static int kept_starts(const double *known, const double *given)
{
    int i;
    for (i = FIRST_STATE; i < FIRST_STATE + FMU_STATES; i++) {
        if (given[i] != START[i] && !(fabs(known[i] - given[i]) <= START_ROUNDING*(1.0 + fabs(given[i])))) {
            return 0;
        }
    }
    return 1;
}

/* Closed loops at the start. Where the host sets more than is free, all are taken to the nearest that fit: it may have
   rounded them. The answer is what is wrong, in words, or NULL. */
static const char *start_closed(double *known)
{
    double given[KNOWNS];
    int contradict = 0;
    memcpy(given, known, sizeof given);
    if (opening(known) < 1e-12) {
        return settle(known) ? NULL : "loops are in a singular position with these start values";
    }
    if (!settle_start(known, &contradict)) {
        memcpy(known, given, sizeof given);
    }
    if (!settle(known)) {
        return "loops cannot be closed near these start values, or are in a singular position there";
    }
    if (!kept_starts(known, given)) {
        return "start values that were set contradict the loops: set those of independent coordinates alone";
    }
    return NULL;
}
#else
static const char *start_closed(double *known)
{
    return settle(known) ? NULL : "loops cannot be closed near these start values, or are in a singular position there";
}
#endif

/* The part of a direction of the knowns along which loops stay closed. */
static void keep_closed(const double *known, double *along)
{
#if FMU_ROWS > 0
    double closed[FMU_STATES];
    int step;
    for (step = 0; step < 2; step++) { /* velocities follow positions in the second step */
        MODEL(closed_tangent)(known, along, closed);
        memcpy(along + FIRST_STATE, closed, sizeof closed);
    }
#else
    (void)known;
    (void)along;
#endif
}

/* The derivatives of the states, whatever the length of quaternions and however open loops are. */
static void evaluate_slopes(const double *known, double *slopes)
{
    double unit[KNOWNS];
    int i, k;
    memcpy(unit, known, sizeof unit);
    if (!settle(unit)) {
        slopes[0] = NAN;
        return;
    }
    MODEL(derivatives)(unit, slopes);
    for (i = 0; i < FMU_QUATERNIONS; i++) {
        const double length = length_of(known + FIRST_STATE + QUATERNIONS[i]);
        for (k = 0; k < 4; k++) {
            slopes[QUATERNIONS[i] + k] *= length;
        }
    }
}

static void evaluate_rest(const double *known, double *values)
{
    double unit[KNOWNS];
    memcpy(unit, known, sizeof unit);
    settle(unit);
    MODEL(outputs)(unit, values);
}

/* values */

static int all_finite(const double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return 0;
        }
    }
    return 1;
}

static int compute_derivatives(Instance *instance)
{
    State *state = &instance->state;
    if (!state->derivatives_known) {
        evaluate_slopes(state->known, state->unknown);
        if (!all_finite(state->unknown, FMU_STATES)) {
            say(instance, STATUS_DISCARD, "the derivatives are not finite here, loops do not close or are in a singular position: "
                "look at states, inputs, parameters");
            return STATUS_DISCARD;
        }
        state->derivatives_known = 1;
    }
    return STATUS_OK;
}

static int compute_outputs(Instance *instance)
{
    State *state = &instance->state;
    if (!state->outputs_known) {
        evaluate_rest(state->known, state->unknown + FMU_STATES);
        state->outputs_known = 1;
    }
    return STATUS_OK;
}

static int get_value(Instance *instance, size_t reference, double *value)
{
    int status = STATUS_OK;
    if (reference >= VARIABLES) {
        return refuse(instance, "get: there is no variable with this value reference");
    }
    if (reference < KNOWNS) {
        *value = instance->state.known[reference];
        return STATUS_OK;
    }
    status = reference < FIRST_OUTPUT ? compute_derivatives(instance) : compute_outputs(instance);
    *value = instance->state.unknown[reference - KNOWNS];
    return status;
}

static int set_value(Instance *instance, size_t reference, double value)
{
    const int mode = instance->state.mode;
    if (reference >= KNOWNS || reference == TIME) {
        return refuse(instance, "set: only states, inputs and parameters can be set");
    }
    if (reference < FIRST_INPUT && !(mode & BEFORE_START)) {
        return refuse(instance, "set: states can be set one by one only before the initialization ends");
    }
    if (reference >= FIRST_PARAMETER && !(mode & (BEFORE_START | EVENT | STEP))) {
        return refuse(instance, "set: parameters can be set before the start, at events and between steps");
    }
    if (!(mode & (BEFORE_START | RUNNING))) {
        return refuse(instance, "set: the instance has been terminated");
    }
    instance->state.known[reference] = value;
    forget_unknowns(instance);
    return STATUS_OK;
}

static int worse(int one, int other)
{
    return one > other ? one : other;
}

static int get_derivatives(Instance *instance, double *values, size_t count)
{
    const int status = compute_derivatives(instance);
    if (count != FMU_STATES) {
        return refuse(instance, "derivatives: there is one for every continuous state");
    }
    memcpy(values, instance->state.unknown, count * sizeof *values);
    return status;
}

static int get_states(const Instance *instance, double *values, size_t count)
{
    if (count != FMU_STATES) {
        return refuse(instance, "the number of continuous states is another");
    }
    memcpy(values, instance->state.known + FIRST_STATE, count * sizeof *values);
    return STATUS_OK;
}

static int set_states(Instance *instance, const double *values, size_t count)
{
    if (count != FMU_STATES) {
        return refuse(instance, "the number of continuous states is another");
    }
    memcpy(instance->state.known + FIRST_STATE, values, count * sizeof *values);
    forget_unknowns(instance);
    return STATUS_OK;
}

static int set_time(Instance *instance, double time)
{
    instance->state.known[TIME] = time;
    forget_unknowns(instance);
    return STATUS_OK;
}

/* directional derivatives */

typedef struct {
    double along[KNOWNS];
    double found[VARIABLES - KNOWNS];
} Direction;

static int seed(const Instance *instance, Direction *direction, size_t reference, double value)
{
    if (reference >= KNOWNS) {
        return refuse(instance, "directional derivative: knowns are time, states, inputs and parameters");
    }
    direction->along[reference] += value;
    return STATUS_OK;
}

/* The derivative of what evaluate_slopes and evaluate_rest compute: a change of e along e itself does nothing but
   lengthen its rate. */
static void differentiate(const Instance *instance, Direction *direction)
{
    double unit[KNOWNS], along[KNOWNS], slopes[FMU_STATES], *found = direction->found;
    double lengths[FMU_QUATERNIONS + 1], radial[FMU_QUATERNIONS + 1];
    int i, k;
    memcpy(unit, instance->state.known, sizeof unit);
    memcpy(along, direction->along, sizeof along);
    settle(unit);
    for (i = 0; i < FMU_QUATERNIONS; i++) {
        const int first = FIRST_STATE + QUATERNIONS[i];
        lengths[i] = length_of(instance->state.known + first);
        radial[i] = 0.0;
        for (k = first; k < first + 4; k++) {
            radial[i] += unit[k]*along[k];
        }
        for (k = first; k < first + 4; k++) {
            along[k] = (along[k] - unit[k]*radial[i])/lengths[i];
        }
    }
    keep_closed(unit, along);
    MODEL(tangent)(unit, along, found, found + FMU_STATES);
    MODEL(derivatives)(unit, slopes);
    for (i = 0; i < FMU_QUATERNIONS; i++) {
        for (k = QUATERNIONS[i]; k < QUATERNIONS[i] + 4; k++) {
            found[k] = lengths[i]*found[k] + radial[i]*slopes[k];
        }
    }
}

static int sensitivity(const Instance *instance, const Direction *direction, size_t reference, double *value)
{
    if (reference >= VARIABLES) {
        return refuse(instance, "directional derivative: there is no variable with this value reference");
    }
    *value = reference < KNOWNS ? direction->along[reference] : direction->found[reference - KNOWNS];
    return isfinite(*value) ? STATUS_OK : STATUS_DISCARD;
}

/* modes */

static int enter_initialization(Instance *instance, int tolerance_given, double tolerance, double start)
{
    if (require(instance, INSTANTIATED, "initialization can be entered once, right after instantiation or a reset")) {
        return STATUS_ERROR;
    }
    if (tolerance_given && !(tolerance > 0.0 && tolerance < 1.0)) {
        return refuse(instance, "the tolerance must be between 0 and 1");
    }
    if (tolerance_given) {
        instance->state.tolerance = tolerance;
    }
    instance->state.mode = INITIALIZATION;
    return set_time(instance, start);
}

static int exit_initialization(Instance *instance)
{
    const char *problem;
    if (require(instance, INITIALIZATION, "initialization cannot be left before it is entered")) {
        return STATUS_ERROR;
    }
    normalize(instance->state.known + FIRST_STATE);
    forget_unknowns(instance);
    if (!all_finite(instance->state.known, KNOWNS)) {
        return refuse(instance, "a start value is not finite, or the four numbers of a quaternion are all zero");
    }
    problem = start_closed(instance->state.known);
    if (problem != NULL) {
        return refuse(instance, problem);
    }
    instance->state.mode = instance->model_exchange ? EVENT : STEP;
    return STATUS_OK;
}

/* Whether an event should bring quaternions back to unit length and close loops: hosts integrate all states alike. */
static int needs_event(const Instance *instance)
{
    return length_error(instance->state.known + FIRST_STATE) > FMU_QUATERNION_SLACK
        || opening(instance->state.known) > FMU_CLOSING_SLACK;
}

/* What happens at an event: states are brought back, nothing else changes. True if states did. */
static int handle_event(Instance *instance)
{
    const int changed = needs_event(instance);
    if (changed) {
        settle(instance->state.known);
        forget_unknowns(instance);
    }
    return changed;
}

/* snapshots of the state */

static int take_snapshot(const Instance *instance, void **snapshot)
{
    if (*snapshot == NULL) {
        *snapshot = malloc(sizeof(State));
    }
    if (*snapshot == NULL) {
        return refuse(instance, "no memory is left for a copy of the state");
    }
    memcpy(*snapshot, &instance->state, sizeof(State));
    return STATUS_OK;
}

static int put_snapshot(Instance *instance, const void *snapshot)
{
    if (snapshot == NULL) {
        return refuse(instance, "set state: there is no state");
    }
    memcpy(&instance->state, snapshot, sizeof(State));
    return STATUS_OK;
}

/* Serialized: the token, then the numbers as they lie in memory. */
enum { TOKEN_SIZE = sizeof FMU_TOKEN, SERIALIZED_SIZE = TOKEN_SIZE + sizeof(State) };

static int serialize(const Instance *instance, const void *snapshot, void *bytes, size_t size)
{
    if (snapshot == NULL || size < SERIALIZED_SIZE) {
        return refuse(instance, "serialize: there is no state, or too little room for it");
    }
    memcpy(bytes, FMU_TOKEN, TOKEN_SIZE);
    memcpy((char *)bytes + TOKEN_SIZE, snapshot, sizeof(State));
    return STATUS_OK;
}

static int deserialize(const Instance *instance, const void *bytes, size_t size, void **snapshot)
{
    if (size < SERIALIZED_SIZE || memcmp(bytes, FMU_TOKEN, TOKEN_SIZE) != 0) {
        return refuse(instance, "deserialize: these bytes are no state of this model");
    }
    if (take_snapshot(instance, snapshot)) {
        return STATUS_ERROR;
    }
    memcpy(*snapshot, (const char *)bytes + TOKEN_SIZE, sizeof(State));
    return STATUS_OK;
}

#endif
