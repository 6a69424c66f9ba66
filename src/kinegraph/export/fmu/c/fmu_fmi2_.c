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
#define NAMED(name) JOINED(FMI2_FUNCTION_PREFIX, name)
#else
#define NAMED(name) name
#endif

#if defined(FMI2_Export)
#define EXPORT FMI2_Export
#elif defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

typedef void *fmi2Component;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Byte;
typedef const char *fmi2String;
typedef int fmi2Status; /* as enum Status, and 5: pending */
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
    Logger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, fmi2Status);
    void *componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

static void say(const Instance *instance, int status, const char *message)
{
    if (instance->logger != NULL && (instance->logging || status >= STATUS_ERROR)) {
        instance->logger(instance->environment, instance->name, status, "logStatusError", "%s", message);
    }
}

EXPORT const char *NAMED(fmi2GetTypesPlatform)(void)
{
    return "default";
}

EXPORT const char *NAMED(fmi2GetVersion)(void)
{
    return "2.0";
}

EXPORT fmi2Status NAMED(fmi2SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String names[])
{
    (void)count;
    (void)names;
    ((Instance *)c)->logging = on;
    return STATUS_OK;
}

EXPORT fmi2Component NAMED(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                            const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                                            fmi2Boolean logging)
{
    (void)resources;
    (void)visible;
    return instance_new(name, guid, type == fmi2ModelExchange, logging,
                        functions ? functions->componentEnvironment : NULL, functions ? functions->logger : NULL);
}

EXPORT void NAMED(fmi2FreeInstance)(fmi2Component c)
{
    instance_free(c);
}

EXPORT fmi2Status NAMED(fmi2SetupExperiment)(fmi2Component c, fmi2Boolean tolerance_given, fmi2Real tolerance,
                                             fmi2Real start, fmi2Boolean stop_given, fmi2Real stop)
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

EXPORT fmi2Status NAMED(fmi2EnterInitializationMode)(fmi2Component c)
{
    return enter_initialization(c, 0, 0.0, ((Instance *)c)->state.known[TIME]);
}

EXPORT fmi2Status NAMED(fmi2ExitInitializationMode)(fmi2Component c)
{
    return exit_initialization(c);
}

EXPORT fmi2Status NAMED(fmi2Terminate)(fmi2Component c)
{
    ((Instance *)c)->state.mode = TERMINATED;
    return STATUS_OK;
}

EXPORT fmi2Status NAMED(fmi2Reset)(fmi2Component c)
{
    start_anew(c);
    return STATUS_OK;
}

/* values */

EXPORT fmi2Status NAMED(fmi2GetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real value[])
{
    int status = STATUS_OK;
    size_t i;
    for (i = 0; i < count; i++) {
        status = worse(status, get_value(c, vr[i], &value[i]));
    }
    return status;
}

EXPORT fmi2Status NAMED(fmi2SetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                     const fmi2Real value[])
{
    int status = STATUS_OK;
    size_t i;
    for (i = 0; i < count; i++) {
        status = worse(status, set_value(c, vr[i], value[i]));
    }
    return status;
}

/* There are no variables of other types: only an empty list of them can be got or set. */
#define NO_SUCH_TYPE(function, constness, type)                                                                        \
    EXPORT fmi2Status NAMED(function)(fmi2Component c, const fmi2ValueReference vr[], size_t count,                    \
                                      constness type value[])                                                          \
    {                                                                                                                  \
        (void)vr;                                                                                                      \
        (void)value;                                                                                                   \
        return count == 0 ? STATUS_OK : refuse(c, #function ": all variables are of type Real");                       \
    }

NO_SUCH_TYPE(fmi2GetInteger, , fmi2Integer)
NO_SUCH_TYPE(fmi2GetBoolean, , fmi2Boolean)
NO_SUCH_TYPE(fmi2GetString, , fmi2String)
NO_SUCH_TYPE(fmi2SetInteger, const, fmi2Integer)
NO_SUCH_TYPE(fmi2SetBoolean, const, fmi2Boolean)
NO_SUCH_TYPE(fmi2SetString, const, fmi2String)

/* state */

EXPORT fmi2Status NAMED(fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *snapshot)
{
    return take_snapshot(c, snapshot);
}

EXPORT fmi2Status NAMED(fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate snapshot)
{
    return put_snapshot(c, snapshot);
}

EXPORT fmi2Status NAMED(fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *snapshot)
{
    (void)c;
    free(*snapshot);
    *snapshot = NULL;
    return STATUS_OK;
}

EXPORT fmi2Status NAMED(fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate snapshot, size_t *size)
{
    (void)c;
    (void)snapshot;
    *size = SERIALIZED_SIZE;
    return STATUS_OK;
}

EXPORT fmi2Status NAMED(fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate snapshot, fmi2Byte bytes[], size_t size)
{
    return serialize(c, snapshot, bytes, size);
}

EXPORT fmi2Status NAMED(fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                                 fmi2FMUstate *snapshot)
{
    return deserialize(c, bytes, size, snapshot);
}

EXPORT fmi2Status NAMED(fmi2GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknowns[],
                                                      size_t unknown_count, const fmi2ValueReference knowns[],
                                                      size_t known_count, const fmi2Real seeds[],
                                                      fmi2Real sensitivities[])
{
    Direction direction = {{0.0}, {0.0}};
    int status = STATUS_OK;
    size_t i;
    for (i = 0; i < known_count; i++) {
        status = worse(status, seed(c, &direction, knowns[i], seeds[i]));
    }
    differentiate(c, &direction);
    for (i = 0; i < unknown_count; i++) {
        status = worse(status, sensitivity(c, &direction, unknowns[i], &sensitivities[i]));
    }
    return status;
}

/* Model Exchange */

EXPORT fmi2Status NAMED(fmi2EnterEventMode)(fmi2Component c)
{
    if (require(c, EVENT | CONTINUOUS, "events belong to Model Exchange, after initialization")) {
        return STATUS_ERROR;
    }
    ((Instance *)c)->state.mode = EVENT;
    return STATUS_OK;
}

EXPORT fmi2Status NAMED(fmi2NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    if (require(c, EVENT, "new discrete states belong to the event mode")) {
        return STATUS_ERROR;
    }
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = handle_event(c);
    return STATUS_OK;
}

EXPORT fmi2Status NAMED(fmi2EnterContinuousTimeMode)(fmi2Component c)
{
    if (require(c, EVENT, "continuous time is entered from the event mode")) {
        return STATUS_ERROR;
    }
    ((Instance *)c)->state.mode = CONTINUOUS;
    return STATUS_OK;
}

EXPORT fmi2Status NAMED(fmi2CompletedIntegratorStep)(fmi2Component c, fmi2Boolean no_state_before,
                                                     fmi2Boolean *enter_event_mode, fmi2Boolean *terminate)
{
    (void)no_state_before;
    *enter_event_mode = needs_event(c);
    *terminate = 0;
    return STATUS_OK;
}

EXPORT fmi2Status NAMED(fmi2SetTime)(fmi2Component c, fmi2Real time)
{
    if (require(c, EVENT | CONTINUOUS, "the time is set in Model Exchange only, after initialization")) {
        return STATUS_ERROR;
    }
    return set_time(c, time);
}

EXPORT fmi2Status NAMED(fmi2SetContinuousStates)(fmi2Component c, const fmi2Real states[], size_t count)
{
    if (require(c, CONTINUOUS | EVENT, "states are set in Model Exchange only, after initialization")) {
        return STATUS_ERROR;
    }
    return set_states(c, states, count);
}

EXPORT fmi2Status NAMED(fmi2GetDerivatives)(fmi2Component c, fmi2Real values[], size_t count)
{
    return get_derivatives(c, values, count);
}

EXPORT fmi2Status NAMED(fmi2GetEventIndicators)(fmi2Component c, fmi2Real values[], size_t count)
{
    (void)values;
    return count == 0 ? STATUS_OK : refuse(c, "there are no event indicators");
}

EXPORT fmi2Status NAMED(fmi2GetContinuousStates)(fmi2Component c, fmi2Real states[], size_t count)
{
    return get_states(c, states, count);
}

EXPORT fmi2Status NAMED(fmi2GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real nominals[], size_t count)
{
    size_t i;
    (void)c;
    for (i = 0; i < count; i++) {
        nominals[i] = 1.0;
    }
    return STATUS_OK;
}

/* Co-Simulation */

EXPORT fmi2Status NAMED(fmi2SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                                     const fmi2Integer order[], const fmi2Real value[])
{
    (void)vr;
    (void)order;
    (void)value;
    return count == 0 ? STATUS_OK : refuse(c, "inputs keep their values during a step; they have no derivatives");
}

EXPORT fmi2Status NAMED(fmi2GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                                      const fmi2Integer order[], fmi2Real value[])
{
    (void)vr;
    (void)order;
    (void)value;
    return count == 0 ? STATUS_OK : refuse(c, "derivatives of outputs are variables of their own");
}

EXPORT fmi2Status NAMED(fmi2DoStep)(fmi2Component c, fmi2Real from, fmi2Real length, fmi2Boolean no_state_before)
{
    (void)no_state_before;
    return do_step(c, from, length);
}

EXPORT fmi2Status NAMED(fmi2CancelStep)(fmi2Component c)
{
    return refuse(c, "a step is done when its call returns; there is nothing to cancel");
}

EXPORT fmi2Status NAMED(fmi2GetStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Status *value)
{
    (void)c;
    (void)kind;
    *value = STATUS_OK;
    return STATUS_DISCARD;
}

EXPORT fmi2Status NAMED(fmi2GetRealStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Real *value)
{
    *value = ((Instance *)c)->state.known[TIME];
    return kind == fmi2LastSuccessfulTime ? STATUS_OK : STATUS_DISCARD;
}

EXPORT fmi2Status NAMED(fmi2GetIntegerStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value)
{
    (void)c;
    (void)kind;
    *value = 0;
    return STATUS_DISCARD;
}

EXPORT fmi2Status NAMED(fmi2GetBooleanStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)c;
    *value = 0;
    return kind == fmi2Terminated ? STATUS_OK : STATUS_DISCARD;
}

EXPORT fmi2Status NAMED(fmi2GetStringStatus)(fmi2Component c, fmi2StatusKind kind, fmi2String *value)
{
    (void)c;
    (void)kind;
    *value = "";
    return STATUS_DISCARD;
}
