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
#define FMI(name) JOINED(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define FMI(name) fmi3##name
#endif
#ifdef FMI3_Export
#define FMI_EXPORT FMI3_Export
#endif
#define FMI_SNAPSHOT(a, b) FMI(a##FMUState##b)

typedef uint32_t Reference;
typedef bool Boolean;
typedef uint8_t Byte;
typedef const char *Text;

static void say(const Instance *instance, int status, const char *message)
{
    if (instance->logger != NULL && (instance->logging || status >= STATUS_ERROR)) {
        instance->logger(instance->environment, status, "logStatusError", message);
    }
}

#include "fmu_common_.h"

EXPORT const char *FMI(GetVersion)(void)
{
    return "3.0";
}

EXPORT void *FMI(InstantiateModelExchange)(const char *name, const char *token, const char *resources, Boolean visible,
                                           Boolean logging, void *environment, Logger logger)
{
    (void)resources;
    (void)visible;
    return instance_new(name, token, 1, logging, environment, logger);
}

EXPORT void *FMI(InstantiateCoSimulation)(const char *name, const char *token, const char *resources, Boolean visible,
                                          Boolean logging, Boolean event_mode_used, Boolean early_return_allowed,
                                          const Reference intermediate[], size_t intermediate_count, void *environment,
                                          Logger logger, void (*intermediate_update)(void))
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

EXPORT void *FMI(InstantiateScheduledExecution)(const char *name, const char *token, const char *resources,
                                                Boolean visible, Boolean logging, void *environment, Logger logger,
                                                void (*update)(void), void (*lock)(void), void (*unlock)(void))
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

EXPORT int FMI(EnterInitializationMode)(void *i, Boolean tolerance_given, double tolerance, double start,
                                        Boolean stop_given, double stop)
{
    (void)stop_given;
    (void)stop;
    return enter_initialization(i, tolerance_given, tolerance, start);
}

/* values */

EXPORT int FMI(GetFloat64)(void *i, const Reference references[], size_t count, double values[], size_t value_count)
{
    int status = value_count == count ? STATUS_OK : refuse(i, "get: every variable has one value");
    return status == STATUS_OK ? get_values(i, references, count, values) : status;
}

EXPORT int FMI(SetFloat64)(void *i, const Reference references[], size_t count, const double values[],
                           size_t value_count)
{
    int status = value_count == count ? STATUS_OK : refuse(i, "set: every variable has one value");
    return status == STATUS_OK ? set_values(i, references, count, values) : status;
}

/* There are no variables of other types: only an empty list of them can be got or set. */
#define NO_SUCH_TYPE(name, type)                                                                                       \
    EXPORT int FMI(Get##name)(void *i, const Reference references[], size_t count, type values[], size_t value_count)  \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)values;                                                                                                  \
        (void)value_count;                                                                                             \
        return count == 0 ? STATUS_OK : refuse(i, "get: all variables are of type Float64");                           \
    }                                                                                                                  \
    EXPORT int FMI(Set##name)(void *i, const Reference references[], size_t count,                                     \
                              const type values[], size_t value_count)                                                 \
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
NO_SUCH_TYPE(Boolean, Boolean)
NO_SUCH_TYPE(String, Text)

EXPORT int FMI(GetBinary)(void *i, const Reference references[], size_t count, size_t sizes[], const Byte *values[],
                          size_t value_count)
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)value_count;
    return count == 0 ? STATUS_OK : refuse(i, "get: all variables are of type Float64");
}

EXPORT int FMI(SetBinary)(void *i, const Reference references[], size_t count, const size_t sizes[],
                          const Byte *const values[], size_t value_count)
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)value_count;
    return count == 0 ? STATUS_OK : refuse(i, "set: all variables are of type Float64");
}

/* There are no clocks. */
#define NO_CLOCKS(name, first, second)                                                                                 \
    EXPORT int FMI(name)(void *i, const Reference references[], size_t count, first, second)                           \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)one;                                                                                                     \
        (void)two;                                                                                                     \
        return count == 0 ? STATUS_OK : refuse(i, "fmi3" #name ": there are no clocks");                               \
    }
#define NO_CLOCKS_EITHER(name, first)                                                                                  \
    EXPORT int FMI(name)(void *i, const Reference references[], size_t count, first)                                   \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)one;                                                                                                     \
        return count == 0 ? STATUS_OK : refuse(i, "fmi3" #name ": there are no clocks");                               \
    }

NO_CLOCKS_EITHER(GetClock, Boolean one[])
NO_CLOCKS_EITHER(SetClock, const Boolean one[])
NO_CLOCKS(GetIntervalDecimal, double one[], int two[])
NO_CLOCKS_EITHER(GetShiftDecimal, double one[])
NO_CLOCKS(GetShiftFraction, uint64_t one[], uint64_t two[])
NO_CLOCKS_EITHER(SetIntervalDecimal, const double one[])
NO_CLOCKS(SetIntervalFraction, const uint64_t one[], const uint64_t two[])
NO_CLOCKS_EITHER(SetShiftDecimal, const double one[])
NO_CLOCKS(SetShiftFraction, const uint64_t one[], const uint64_t two[])

EXPORT int FMI(GetIntervalFraction)(void *i, const Reference references[], size_t count, uint64_t counters[],
                                    uint64_t resolutions[], int qualifiers[])
{
    (void)references;
    (void)counters;
    (void)resolutions;
    (void)qualifiers;
    return count == 0 ? STATUS_OK : refuse(i, "fmi3GetIntervalFraction: there are no clocks");
}

EXPORT int FMI(ActivateModelPartition)(void *i, Reference clock, double time)
{
    (void)clock;
    (void)time;
    return refuse(i, "there is no Scheduled Execution");
}

EXPORT int FMI(GetNumberOfVariableDependencies)(void *i, Reference reference, size_t *count)
{
    (void)reference;
    *count = 0;
    return refuse(i, "dependencies do not change: the model description states them");
}

EXPORT int FMI(GetVariableDependencies)(void *i, Reference dependent, size_t elements_of_dependent[],
                                        Reference independents[], size_t elements_of_independents[], int kinds[],
                                        size_t count)
{
    (void)dependent;
    (void)elements_of_dependent;
    (void)independents;
    (void)elements_of_independents;
    (void)kinds;
    (void)count;
    return refuse(i, "dependencies do not change: the model description states them");
}

EXPORT int FMI(DeserializeFMUState)(void *i, const Byte bytes[], size_t size, void **snapshot)
{
    return deserialize(i, bytes, size, snapshot);
}

EXPORT int FMI(GetDirectionalDerivative)(void *i, const Reference unknowns[], size_t unknown_count,
                                         const Reference knowns[], size_t known_count, const double seeds[],
                                         size_t seed_count, double sensitivities[], size_t sensitivity_count)
{
    if (seed_count != known_count || sensitivity_count != unknown_count) {
        return refuse(i, "directional derivative: every variable has one value");
    }
    return get_directional(i, unknowns, unknown_count, knowns, known_count, seeds, sensitivities);
}

EXPORT int FMI(GetAdjointDerivative)(void *i, const Reference unknowns[], size_t unknown_count,
                                     const Reference knowns[], size_t known_count, const double seeds[],
                                     size_t seed_count, double sensitivities[], size_t sensitivity_count)
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

EXPORT int FMI(EnterConfigurationMode)(void *i)
{
    return refuse(i, "there are no structural parameters to configure");
}

EXPORT int FMI(ExitConfigurationMode)(void *i)
{
    return refuse(i, "there are no structural parameters to configure");
}

EXPORT int FMI(EvaluateDiscreteStates)(void *i)
{
    (void)i;
    return STATUS_OK;
}

EXPORT int FMI(UpdateDiscreteStates)(void *i, Boolean *need_update, Boolean *terminate, Boolean *nominals_changed,
                                     Boolean *values_changed, Boolean *next_event_known, double *next_event)
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

EXPORT int FMI(GetContinuousStateDerivatives)(void *i, double values[], size_t count)
{
    return get_derivatives(i, values, count);
}

EXPORT int FMI(GetNumberOfEventIndicators)(void *i, size_t *count)
{
    (void)i;
    *count = 0;
    return STATUS_OK;
}

EXPORT int FMI(GetNumberOfContinuousStates)(void *i, size_t *count)
{
    (void)i;
    *count = FMU_STATES;
    return STATUS_OK;
}

/* Co-Simulation */

EXPORT int FMI(EnterStepMode)(void *i)
{
    return require(i, STEP, "Co-Simulation is always in its step mode after initialization: there are no events");
}

EXPORT int FMI(GetOutputDerivatives)(void *i, const Reference references[], size_t count, const int32_t orders[],
                                     double values[], size_t value_count)
{
    (void)references;
    (void)orders;
    (void)values;
    (void)value_count;
    return count == 0 ? STATUS_OK : refuse(i, "derivatives of outputs are variables of their own");
}

EXPORT int FMI(DoStep)(void *i, double from, double length, Boolean no_state_before, Boolean *event_needed,
                       Boolean *terminate, Boolean *early_return, double *last_time)
{
    const int status = do_step(i, from, length);
    (void)no_state_before;
    *event_needed = false;
    *terminate = false;
    *early_return = false;
    *last_time = ((Instance *)i)->state.known[TIME];
    return status;
}
