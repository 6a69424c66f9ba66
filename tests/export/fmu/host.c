/*
 * A host of its own: two models of FMI 3 linked into one program, two instances of each run in turn, their state is
 * kept, serialized and restored. Prints the first state of every instance at the end. Built with sanitizers, which
 * find leaks and whatever is written out of bounds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DECLARE(p)                                                                                                     \
    void *p##fmi3InstantiateCoSimulation(const char *, const char *, const char *, bool, bool, bool, bool,             \
                                         const uint32_t *, size_t, void *, void *, void *);                            \
    void *p##fmi3InstantiateModelExchange(const char *, const char *, const char *, bool, bool, void *, void *);       \
    int p##fmi3EnterInitializationMode(void *, bool, double, double, bool, double);                                    \
    int p##fmi3ExitInitializationMode(void *);                                                                         \
    int p##fmi3DoStep(void *, double, double, bool, bool *, bool *, bool *, double *);                                 \
    int p##fmi3GetFloat64(void *, const uint32_t *, size_t, double *, size_t);                                         \
    int p##fmi3SetFloat64(void *, const uint32_t *, size_t, const double *, size_t);                                   \
    int p##fmi3GetFMUState(void *, void **);                                                                           \
    int p##fmi3SetFMUState(void *, void *);                                                                            \
    int p##fmi3FreeFMUState(void *, void **);                                                                          \
    int p##fmi3SerializedFMUStateSize(void *, void *, size_t *);                                                       \
    int p##fmi3SerializeFMUState(void *, void *, uint8_t *, size_t);                                                   \
    int p##fmi3DeserializeFMUState(void *, const uint8_t *, size_t, void **);                                          \
    int p##fmi3GetContinuousStateDerivatives(void *, double *, size_t);                                                \
    int p##fmi3GetNumberOfContinuousStates(void *, size_t *);                                                          \
    int p##fmi3Terminate(void *);                                                                                      \
    void p##fmi3FreeInstance(void *);

static void check(int wrong, int line)
{
    if (wrong) {
        printf("line %d failed\n", line);
        exit(1);
    }
}

#define DO(call) check((call) != 0, __LINE__)

#define RUN(p, token)                                                                                                  \
    static void p##run(double change)                                                                                  \
    {                                                                                                                  \
        const uint32_t first = 1;                                                                                      \
        void *pair[2], *state = NULL, *copy = NULL, *exchange;                                                         \
        bool event, end, early;                                                                                        \
        double last, value, slopes[64];                                                                                \
        size_t size, count;                                                                                            \
        uint8_t *bytes;                                                                                                \
        int i, step;                                                                                                   \
        check(p##fmi3InstantiateCoSimulation("x", "wrong", "", 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL) != NULL, 0);     \
        for (i = 0; i < 2; i++) {                                                                                      \
            pair[i] = p##fmi3InstantiateCoSimulation("x", token, "", 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL);           \
            check(pair[i] == NULL, __LINE__);                                                                          \
            DO(p##fmi3EnterInitializationMode(pair[i], 1, 1e-9, 0.0, 0, 0.0));                                         \
            DO(p##fmi3GetFloat64(pair[i], &first, 1, &value, 1));                                                      \
            value += i*change;                                                                                         \
            DO(p##fmi3SetFloat64(pair[i], &first, 1, &value, 1));                                                      \
            DO(p##fmi3ExitInitializationMode(pair[i]));                                                                \
        }                                                                                                              \
        for (step = 0; step < 10; step++) {                                                                            \
            for (i = 0; i < 2; i++) {                                                                                  \
                DO(p##fmi3DoStep(pair[i], 0.1*step, 0.1, 0, &event, &end, &early, &last));                             \
            }                                                                                                          \
            if (step == 4) {                                                                                           \
                DO(p##fmi3GetFMUState(pair[0], &state));                                                               \
            }                                                                                                          \
        }                                                                                                              \
        DO(p##fmi3SerializedFMUStateSize(pair[0], state, &size));                                                      \
        bytes = malloc(size);                                                                                          \
        DO(p##fmi3SerializeFMUState(pair[0], state, bytes, size));                                                     \
        check(p##fmi3SerializeFMUState(pair[0], state, bytes, size - 1) == 0, __LINE__);                               \
        DO(p##fmi3DeserializeFMUState(pair[1], bytes, size, &copy));                                                   \
        DO(p##fmi3SetFMUState(pair[0], copy));                                                                         \
        DO(p##fmi3DoStep(pair[0], 0.5, 0.5, 0, &event, &end, &early, &last));                                          \
        for (i = 0; i < 2; i++) {                                                                                      \
            DO(p##fmi3GetFloat64(pair[i], &first, 1, &value, 1));                                                      \
            printf("%.9f\n", value);                                                                                   \
            DO(p##fmi3Terminate(pair[i]));                                                                             \
        }                                                                                                              \
        DO(p##fmi3FreeFMUState(pair[0], &state));                                                                      \
        DO(p##fmi3FreeFMUState(pair[0], &copy));                                                                       \
        free(bytes);                                                                                                   \
        exchange = p##fmi3InstantiateModelExchange("x", token, "", 0, 0, NULL, NULL);                                  \
        DO(p##fmi3GetNumberOfContinuousStates(exchange, &count));                                                      \
        DO(p##fmi3GetContinuousStateDerivatives(exchange, slopes, count));                                             \
        check(p##fmi3GetContinuousStateDerivatives(exchange, slopes, count + 1) == 0, __LINE__);                       \
        p##fmi3FreeInstance(exchange);                                                                                 \
        for (i = 0; i < 2; i++) {                                                                                      \
            p##fmi3FreeInstance(pair[i]);                                                                              \
        }                                                                                                              \
    }

DECLARE(one_)
DECLARE(two_)
RUN(one_, ONE_TOKEN)
RUN(two_, TWO_TOKEN)

int main(void)
{
    one_run(0.3);
    two_run(0.3);
    return 0;
}
