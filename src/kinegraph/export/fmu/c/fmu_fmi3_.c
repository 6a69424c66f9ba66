/*
 * FMI 3.0: Model Exchange and Co-Simulation.
 *
 * Define FMI3_FUNCTION_PREFIX (for instance MODEL_) to link several models into one program; in a shared library the
 * functions have their plain names.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*Logger)(void *environment, int status, const char *category, const char *message);

#include "fmu_instance_.h"
#include "fmu_integrate_.h"

#ifdef FMI3_FUNCTION_PREFIX
#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define NAMED(name) JOINED(FMI3_FUNCTION_PREFIX, name)
#else
#define NAMED(name) name
#endif

#if defined(FMI3_Export)
#define EXPORT FMI3_Export
#elif defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

typedef void *fmi3Instance;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef double fmi3Float64;
typedef bool fmi3Boolean;
typedef uint8_t fmi3Byte;
typedef const char *fmi3String;
typedef int fmi3Status; /* as enum Status */

static void say(const Instance *instance, int status, const char *message)
{
    if (instance->logger != NULL && (instance->logging || status >= STATUS_ERROR)) {
        instance->logger(instance->environment, status, "logStatusError", message);
    }
}

EXPORT const char *NAMED(fmi3GetVersion)(void)
{
    return "3.0";
}

EXPORT fmi3Status NAMED(fmi3SetDebugLogging)(fmi3Instance i, fmi3Boolean on, size_t count, const fmi3String names[])
{
    (void)count;
    (void)names;
    ((Instance *)i)->logging = on;
    return STATUS_OK;
}

EXPORT fmi3Instance NAMED(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
                                                        fmi3Boolean visible, fmi3Boolean logging, void *environment,
                                                        Logger logger)
{
    (void)resources;
    (void)visible;
    return instance_new(name, token, 1, logging, environment, logger);
}

EXPORT fmi3Instance NAMED(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
                                                       fmi3Boolean visible, fmi3Boolean logging,
                                                       fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed,
                                                       const fmi3ValueReference intermediate[],
                                                       size_t intermediate_count, void *environment, Logger logger,
                                                       void (*intermediate_update)(void))
{
    (void)resources;
    (void)visible;
    (void)event_mode_used;
    (void)early_return_allowed;
    (void)intermediate;
    (void)intermediate_count;
    (void)intermediate_update;
    return instance_new(name, token, 0, logging, environment, logger);
}

EXPORT fmi3Instance NAMED(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
                                                             fmi3Boolean visible, fmi3Boolean logging,
                                                             void *environment, Logger logger, void (*update)(void),
                                                             void (*lock)(void), void (*unlock)(void))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)update;
    (void)lock;
    (void)unlock;
    if (logger != NULL) {
        logger(environment, STATUS_ERROR, "logStatusError", "there is no Scheduled Execution");
    }
    return NULL;
}

EXPORT void NAMED(fmi3FreeInstance)(fmi3Instance i)
{
    instance_free(i);
}

EXPORT fmi3Status NAMED(fmi3EnterInitializationMode)(fmi3Instance i, fmi3Boolean tolerance_given,
                                                     fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean stop_given,
                                                     fmi3Float64 stop)
{
    (void)stop_given;
    (void)stop;
    return enter_initialization(i, tolerance_given, tolerance, start);
}

EXPORT fmi3Status NAMED(fmi3ExitInitializationMode)(fmi3Instance i)
{
    return exit_initialization(i);
}

EXPORT fmi3Status NAMED(fmi3EnterEventMode)(fmi3Instance i)
{
    if (require(i, EVENT | CONTINUOUS, "events belong to Model Exchange, after initialization")) {
        return STATUS_ERROR;
    }
    ((Instance *)i)->state.mode = EVENT;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3Terminate)(fmi3Instance i)
{
    ((Instance *)i)->state.mode = TERMINATED;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3Reset)(fmi3Instance i)
{
    start_anew(i);
    return STATUS_OK;
}

/* values */

EXPORT fmi3Status NAMED(fmi3GetFloat64)(fmi3Instance i, const fmi3ValueReference references[], size_t count,
                                        fmi3Float64 values[], size_t value_count)
{
    int status = value_count == count ? STATUS_OK : refuse(i, "get: every variable has one value");
    size_t k;
    for (k = 0; k < count && status != STATUS_ERROR; k++) {
        status = worse(status, get_value(i, references[k], &values[k]));
    }
    return status;
}

EXPORT fmi3Status NAMED(fmi3SetFloat64)(fmi3Instance i, const fmi3ValueReference references[], size_t count,
                                        const fmi3Float64 values[], size_t value_count)
{
    int status = value_count == count ? STATUS_OK : refuse(i, "set: every variable has one value");
    size_t k;
    for (k = 0; k < count && status != STATUS_ERROR; k++) {
        status = worse(status, set_value(i, references[k], values[k]));
    }
    return status;
}

/* There are no variables of other types: only an empty list of them can be got or set. */
#define NO_SUCH_TYPE(name, type)                                                                                       \
    EXPORT fmi3Status NAMED(fmi3Get##name)(fmi3Instance i, const fmi3ValueReference references[], size_t count,        \
                                           type values[], size_t value_count)                                          \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)values;                                                                                                  \
        (void)value_count;                                                                                             \
        return count == 0 ? STATUS_OK : refuse(i, "get: all variables are of type Float64");                           \
    }                                                                                                                  \
    EXPORT fmi3Status NAMED(fmi3Set##name)(fmi3Instance i, const fmi3ValueReference references[], size_t count,        \
                                           const type values[], size_t value_count)                                    \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)values;                                                                                                  \
        (void)value_count;                                                                                             \
        return count == 0 ? STATUS_OK : refuse(i, "set: all variables are of type Float64");                           \
    }

NO_SUCH_TYPE(Float32, float)
NO_SUCH_TYPE(Int8, int8_t)
NO_SUCH_TYPE(UInt8, uint8_t)
NO_SUCH_TYPE(Int16, int16_t)
NO_SUCH_TYPE(UInt16, uint16_t)
NO_SUCH_TYPE(Int32, int32_t)
NO_SUCH_TYPE(UInt32, uint32_t)
NO_SUCH_TYPE(Int64, int64_t)
NO_SUCH_TYPE(UInt64, uint64_t)
NO_SUCH_TYPE(Boolean, fmi3Boolean)
NO_SUCH_TYPE(String, fmi3String)

EXPORT fmi3Status NAMED(fmi3GetBinary)(fmi3Instance i, const fmi3ValueReference references[], size_t count,
                                       size_t sizes[], const fmi3Byte *values[], size_t value_count)
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)value_count;
    return count == 0 ? STATUS_OK : refuse(i, "get: all variables are of type Float64");
}

EXPORT fmi3Status NAMED(fmi3SetBinary)(fmi3Instance i, const fmi3ValueReference references[], size_t count,
                                       const size_t sizes[], const fmi3Byte *const values[], size_t value_count)
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)value_count;
    return count == 0 ? STATUS_OK : refuse(i, "set: all variables are of type Float64");
}

/* There are no clocks. */
#define NO_CLOCKS(name, first, second)                                                                                 \
    EXPORT fmi3Status NAMED(name)(fmi3Instance i, const fmi3ValueReference references[], size_t count, first, second)  \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)one;                                                                                                     \
        (void)two;                                                                                                     \
        return count == 0 ? STATUS_OK : refuse(i, #name ": there are no clocks");                                      \
    }
#define NO_CLOCKS_EITHER(name, first)                                                                                  \
    EXPORT fmi3Status NAMED(name)(fmi3Instance i, const fmi3ValueReference references[], size_t count, first)          \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)one;                                                                                                     \
        return count == 0 ? STATUS_OK : refuse(i, #name ": there are no clocks");                                      \
    }

NO_CLOCKS_EITHER(fmi3GetClock, fmi3Boolean one[])
NO_CLOCKS_EITHER(fmi3SetClock, const fmi3Boolean one[])
NO_CLOCKS(fmi3GetIntervalDecimal, fmi3Float64 one[], int two[])
NO_CLOCKS_EITHER(fmi3GetShiftDecimal, fmi3Float64 one[])
NO_CLOCKS(fmi3GetShiftFraction, uint64_t one[], uint64_t two[])
NO_CLOCKS_EITHER(fmi3SetIntervalDecimal, const fmi3Float64 one[])
NO_CLOCKS(fmi3SetIntervalFraction, const uint64_t one[], const uint64_t two[])
NO_CLOCKS_EITHER(fmi3SetShiftDecimal, const fmi3Float64 one[])
NO_CLOCKS(fmi3SetShiftFraction, const uint64_t one[], const uint64_t two[])

EXPORT fmi3Status NAMED(fmi3GetIntervalFraction)(fmi3Instance i, const fmi3ValueReference references[], size_t count,
                                                 uint64_t counters[], uint64_t resolutions[], int qualifiers[])
{
    (void)references;
    (void)counters;
    (void)resolutions;
    (void)qualifiers;
    return count == 0 ? STATUS_OK : refuse(i, "fmi3GetIntervalFraction: there are no clocks");
}

EXPORT fmi3Status NAMED(fmi3ActivateModelPartition)(fmi3Instance i, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock;
    (void)time;
    return refuse(i, "there is no Scheduled Execution");
}

EXPORT fmi3Status NAMED(fmi3GetNumberOfVariableDependencies)(fmi3Instance i, fmi3ValueReference reference,
                                                             size_t *count)
{
    (void)reference;
    *count = 0;
    return refuse(i, "dependencies do not change: the model description states them");
}

EXPORT fmi3Status NAMED(fmi3GetVariableDependencies)(fmi3Instance i, fmi3ValueReference dependent,
                                                     size_t elements_of_dependent[], fmi3ValueReference independents[],
                                                     size_t elements_of_independents[], int kinds[], size_t count)
{
    (void)dependent;
    (void)elements_of_dependent;
    (void)independents;
    (void)elements_of_independents;
    (void)kinds;
    (void)count;
    return refuse(i, "dependencies do not change: the model description states them");
}

/* state */

EXPORT fmi3Status NAMED(fmi3GetFMUState)(fmi3Instance i, fmi3FMUState *snapshot)
{
    return take_snapshot(i, snapshot);
}

EXPORT fmi3Status NAMED(fmi3SetFMUState)(fmi3Instance i, fmi3FMUState snapshot)
{
    return put_snapshot(i, snapshot);
}

EXPORT fmi3Status NAMED(fmi3FreeFMUState)(fmi3Instance i, fmi3FMUState *snapshot)
{
    (void)i;
    free(*snapshot);
    *snapshot = NULL;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3SerializedFMUStateSize)(fmi3Instance i, fmi3FMUState snapshot, size_t *size)
{
    (void)i;
    (void)snapshot;
    *size = SERIALIZED_SIZE;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3SerializeFMUState)(fmi3Instance i, fmi3FMUState snapshot, fmi3Byte bytes[], size_t size)
{
    return serialize(i, snapshot, bytes, size);
}

EXPORT fmi3Status NAMED(fmi3DeserializeFMUState)(fmi3Instance i, const fmi3Byte bytes[], size_t size,
                                                 fmi3FMUState *snapshot)
{
    return deserialize(i, bytes, size, snapshot);
}

EXPORT fmi3Status NAMED(fmi3GetDirectionalDerivative)(fmi3Instance i, const fmi3ValueReference unknowns[],
                                                      size_t unknown_count, const fmi3ValueReference knowns[],
                                                      size_t known_count, const fmi3Float64 seeds[], size_t seed_count,
                                                      fmi3Float64 sensitivities[], size_t sensitivity_count)
{
    Direction direction = {{0.0}, {0.0}};
    int status = STATUS_OK;
    size_t k;
    if (seed_count != known_count || sensitivity_count != unknown_count) {
        return refuse(i, "directional derivative: every variable has one value");
    }
    for (k = 0; k < known_count; k++) {
        status = worse(status, seed(i, &direction, knowns[k], seeds[k]));
    }
    differentiate(i, &direction);
    for (k = 0; k < unknown_count; k++) {
        status = worse(status, sensitivity(i, &direction, unknowns[k], &sensitivities[k]));
    }
    return status;
}

EXPORT fmi3Status NAMED(fmi3GetAdjointDerivative)(fmi3Instance i, const fmi3ValueReference unknowns[],
                                                  size_t unknown_count, const fmi3ValueReference knowns[],
                                                  size_t known_count, const fmi3Float64 seeds[], size_t seed_count,
                                                  fmi3Float64 sensitivities[], size_t sensitivity_count)
{
    (void)unknowns;
    (void)unknown_count;
    (void)knowns;
    (void)known_count;
    (void)seeds;
    (void)seed_count;
    (void)sensitivities;
    (void)sensitivity_count;
    return refuse(i, "there are directional derivatives, no adjoint ones");
}

/* modes */

EXPORT fmi3Status NAMED(fmi3EnterConfigurationMode)(fmi3Instance i)
{
    return refuse(i, "there are no structural parameters to configure");
}

EXPORT fmi3Status NAMED(fmi3ExitConfigurationMode)(fmi3Instance i)
{
    return refuse(i, "there are no structural parameters to configure");
}

EXPORT fmi3Status NAMED(fmi3EvaluateDiscreteStates)(fmi3Instance i)
{
    (void)i;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3UpdateDiscreteStates)(fmi3Instance i, fmi3Boolean *need_update, fmi3Boolean *terminate,
                                                  fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                                  fmi3Boolean *next_event_known, fmi3Float64 *next_event)
{
    if (require(i, EVENT, "discrete states are updated in the event mode")) {
        return STATUS_ERROR;
    }
    *need_update = false;
    *terminate = false;
    *nominals_changed = false;
    *values_changed = handle_event(i) != 0;
    *next_event_known = false;
    *next_event = 0.0;
    return STATUS_OK;
}

/* Model Exchange */

EXPORT fmi3Status NAMED(fmi3EnterContinuousTimeMode)(fmi3Instance i)
{
    if (require(i, EVENT, "continuous time is entered from the event mode")) {
        return STATUS_ERROR;
    }
    ((Instance *)i)->state.mode = CONTINUOUS;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3CompletedIntegratorStep)(fmi3Instance i, fmi3Boolean no_state_before,
                                                     fmi3Boolean *enter_event_mode, fmi3Boolean *terminate)
{
    (void)no_state_before;
    *enter_event_mode = needs_event(i) != 0;
    *terminate = false;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3SetTime)(fmi3Instance i, fmi3Float64 time)
{
    if (require(i, EVENT | CONTINUOUS, "the time is set in Model Exchange only, after initialization")) {
        return STATUS_ERROR;
    }
    return set_time(i, time);
}

EXPORT fmi3Status NAMED(fmi3SetContinuousStates)(fmi3Instance i, const fmi3Float64 states[], size_t count)
{
    if (require(i, EVENT | CONTINUOUS, "states are set in Model Exchange only, after initialization")) {
        return STATUS_ERROR;
    }
    return set_states(i, states, count);
}

EXPORT fmi3Status NAMED(fmi3GetContinuousStateDerivatives)(fmi3Instance i, fmi3Float64 values[], size_t count)
{
    return get_derivatives(i, values, count);
}

EXPORT fmi3Status NAMED(fmi3GetEventIndicators)(fmi3Instance i, fmi3Float64 values[], size_t count)
{
    (void)values;
    return count == 0 ? STATUS_OK : refuse(i, "there are no event indicators");
}

EXPORT fmi3Status NAMED(fmi3GetContinuousStates)(fmi3Instance i, fmi3Float64 states[], size_t count)
{
    return get_states(i, states, count);
}

EXPORT fmi3Status NAMED(fmi3GetNominalsOfContinuousStates)(fmi3Instance i, fmi3Float64 nominals[], size_t count)
{
    size_t k;
    (void)i;
    for (k = 0; k < count; k++) {
        nominals[k] = 1.0;
    }
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3GetNumberOfEventIndicators)(fmi3Instance i, size_t *count)
{
    (void)i;
    *count = 0;
    return STATUS_OK;
}

EXPORT fmi3Status NAMED(fmi3GetNumberOfContinuousStates)(fmi3Instance i, size_t *count)
{
    (void)i;
    *count = FMU_STATES;
    return STATUS_OK;
}

/* Co-Simulation */

EXPORT fmi3Status NAMED(fmi3EnterStepMode)(fmi3Instance i)
{
    return require(i, STEP, "Co-Simulation is always in its step mode after initialization: there are no events");
}

EXPORT fmi3Status NAMED(fmi3GetOutputDerivatives)(fmi3Instance i, const fmi3ValueReference references[], size_t count,
                                                  const int32_t orders[], fmi3Float64 values[], size_t value_count)
{
    (void)references;
    (void)orders;
    (void)values;
    (void)value_count;
    return count == 0 ? STATUS_OK : refuse(i, "derivatives of outputs are variables of their own");
}

EXPORT fmi3Status NAMED(fmi3DoStep)(fmi3Instance i, fmi3Float64 from, fmi3Float64 length, fmi3Boolean no_state_before,
                                    fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                                    fmi3Float64 *last_time)
{
    const int status = do_step(i, from, length);
    (void)no_state_before;
    *event_needed = false;
    *terminate = false;
    *early_return = false;
    *last_time = ((Instance *)i)->state.known[TIME];
    return status;
}
