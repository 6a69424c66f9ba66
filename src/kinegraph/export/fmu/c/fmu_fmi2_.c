/*
 * FMI 2.0: Model Exchange and Co-Simulation.
 *
 * Define FMI2_FUNCTION_PREFIX (for instance MODEL_) to link several models into one program; in a shared library the
 * functions have their plain names.
 */
#include <stddef.h>

typedef void (*Logger)(void *environment, const char *name, int status, const char *category, const char *text, ...);

#include "fmu_instance_.h"
#include "fmu_integrate_.h"

#ifdef FMI2_FUNCTION_PREFIX
#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define FMI(name) JOINED(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define FMI(name) fmi2##name
#endif
#ifdef FMI2_Export
#define FMI_EXPORT FMI2_Export
#endif
#define FMI_SNAPSHOT(a, b) FMI(a##FMUstate##b)

typedef unsigned int Reference;
typedef int Boolean;
typedef char Byte;
typedef const char *Text;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
    Logger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, int);
    void *componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    Boolean newDiscreteStatesNeeded;
    Boolean terminateSimulation;
    Boolean nominalsOfContinuousStatesChanged;
    Boolean valuesOfContinuousStatesChanged;
    Boolean nextEventTimeDefined;
    double nextEventTime;
} fmi2EventInfo;

static void say(const Instance *instance, int status, const char *message)
{
    if (instance->logger != NULL && (instance->logging || status >= STATUS_ERROR)) {
        instance->logger(instance->environment, instance->name, status, "logStatusError", "%s", message);
    }
}

#include "fmu_common_.h"

EXPORT const char *FMI(GetTypesPlatform)(void)
{
    return "default";
}

EXPORT const char *FMI(GetVersion)(void)
{
    return "2.0";
}

EXPORT void *FMI(Instantiate)(const char *name, fmi2Type type, const char *guid, const char *resources,
                              const fmi2CallbackFunctions *functions, Boolean visible, Boolean logging)
{
    (void)resources;
    (void)visible;
    return instance_new(name, guid, type == fmi2ModelExchange, logging,
                        functions ? functions->componentEnvironment : NULL, functions ? functions->logger : NULL);
}

EXPORT int FMI(SetupExperiment)(void *c, Boolean tolerance_given, double tolerance, double start, Boolean stop_given,
                                double stop)
{
    Instance *instance = c;
    (void)stop_given;
    (void)stop;
    if (require(instance, INSTANTIATED, "the experiment is set up before initialization")) {
        return STATUS_ERROR;
    }
    if (tolerance_given && !(tolerance > 0.0 && tolerance < 1.0)) {
        return refuse(instance, "the tolerance must be between 0 and 1");
    }
    if (tolerance_given) {
        instance->state.tolerance = tolerance;
    }
    return set_time(instance, start);
}

EXPORT int FMI(EnterInitializationMode)(void *c)
{
    return enter_initialization(c, 0, 0.0, ((Instance *)c)->state.known[TIME]);
}

/* values */

EXPORT int FMI(GetReal)(void *c, const Reference vr[], size_t count, double value[])
{
    return get_values(c, vr, count, value);
}

EXPORT int FMI(SetReal)(void *c, const Reference vr[], size_t count, const double value[])
{
    return set_values(c, vr, count, value);
}

/* There are no variables of other types: only an empty list of them can be got or set. */
#define NO_SUCH_TYPE(function, constness, type)                                                                        \
    EXPORT int FMI(function)(void *c, const Reference vr[], size_t count, constness type value[])                      \
    {                                                                                                                  \
        (void)vr;                                                                                                      \
        (void)value;                                                                                                   \
        return count == 0 ? STATUS_OK : refuse(c, "fmi2" #function ": all variables are of type Real");                \
    }

NO_SUCH_TYPE(GetInteger, , int)
NO_SUCH_TYPE(GetBoolean, , Boolean)
NO_SUCH_TYPE(GetString, , Text)
NO_SUCH_TYPE(SetInteger, const, int)
NO_SUCH_TYPE(SetBoolean, const, Boolean)
NO_SUCH_TYPE(SetString, const, Text)

EXPORT int FMI(DeSerializeFMUstate)(void *c, const Byte bytes[], size_t size, void **snapshot)
{
    return deserialize(c, bytes, size, snapshot);
}

EXPORT int FMI(GetDirectionalDerivative)(void *c, const Reference unknowns[], size_t unknown_count,
                                         const Reference knowns[], size_t known_count, const double seeds[],
                                         double sensitivities[])
{
    return get_directional(c, unknowns, unknown_count, knowns, known_count, seeds, sensitivities);
}

/* Model Exchange */

EXPORT int FMI(NewDiscreteStates)(void *c, fmi2EventInfo *info)
{
    if (require(c, EVENT, "new discrete states belong to the event mode")) {
        return STATUS_ERROR;
    }
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = handle_event(c);
    return STATUS_OK;
}

EXPORT int FMI(GetDerivatives)(void *c, double values[], size_t count)
{
    return get_derivatives(c, values, count);
}

/* Co-Simulation */

EXPORT int FMI(SetRealInputDerivatives)(void *c, const Reference vr[], size_t count, const int order[],
                                        const double value[])
{
    (void)vr;
    (void)order;
    (void)value;
    return count == 0 ? STATUS_OK : refuse(c, "inputs keep their values during a step; they have no derivatives");
}

EXPORT int FMI(GetRealOutputDerivatives)(void *c, const Reference vr[], size_t count, const int order[], double value[])
{
    (void)vr;
    (void)order;
    (void)value;
    return count == 0 ? STATUS_OK : refuse(c, "derivatives of outputs are variables of their own");
}

EXPORT int FMI(DoStep)(void *c, double from, double length, Boolean no_state_before)
{
    (void)no_state_before;
    return do_step(c, from, length);
}

EXPORT int FMI(CancelStep)(void *c)
{
    return refuse(c, "a step is done when its call returns; there is nothing to cancel");
}

EXPORT int FMI(GetStatus)(void *c, fmi2StatusKind kind, int *value)
{
    (void)c;
    (void)kind;
    *value = STATUS_OK;
    return STATUS_DISCARD;
}

EXPORT int FMI(GetRealStatus)(void *c, fmi2StatusKind kind, double *value)
{
    *value = ((Instance *)c)->state.known[TIME];
    return kind == fmi2LastSuccessfulTime ? STATUS_OK : STATUS_DISCARD;
}

EXPORT int FMI(GetIntegerStatus)(void *c, fmi2StatusKind kind, int *value)
{
    (void)c;
    (void)kind;
    *value = 0;
    return STATUS_DISCARD;
}

EXPORT int FMI(GetBooleanStatus)(void *c, fmi2StatusKind kind, Boolean *value)
{
    (void)c;
    *value = 0;
    return kind == fmi2Terminated ? STATUS_OK : STATUS_DISCARD;
}

EXPORT int FMI(GetStringStatus)(void *c, fmi2StatusKind kind, const char **value)
{
    (void)c;
    (void)kind;
    *value = "";
    return STATUS_DISCARD;
}
