/*
 * What FMI 2.0 and FMI 3.0 have in common: the functions of both that differ in their names' version alone.
 *
 * The including file defines, before it includes this one:
 *   FMI(name)        the exported function of this name, such as fmi3Reset
 *   FMI_EXPORT       what its users may define to export functions their own way, if they have
 *   FMI_SNAPSHOT(a, b)  the name of a function on saved states: FMUstate or FMUState in the middle
 *   Reference, Boolean, Byte  the types of value references, truth values and bytes
 * and the functions `say` and those of fmu_instance_.h and fmu_integrate_.h.
 */

#if defined(FMI_EXPORT)
#define EXPORT FMI_EXPORT
#elif defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

EXPORT int FMI(SetDebugLogging)(void *c, Boolean on, size_t count, const char *const names[])
{
    (void)count;
    (void)names;
    ((Instance *)c)->logging = on;
    return STATUS_OK;
}

EXPORT void FMI(FreeInstance)(void *c)
{
    instance_free(c);
}

EXPORT int FMI(ExitInitializationMode)(void *c)
{
    return exit_initialization(c);
}

EXPORT int FMI(Terminate)(void *c)
{
    ((Instance *)c)->state.mode = TERMINATED;
    return STATUS_OK;
}

EXPORT int FMI(Reset)(void *c)
{
    start_anew(c);
    return STATUS_OK;
}

/* values */

static int get_values(void *c, const Reference references[], size_t count, double values[])
{
    int status = STATUS_OK;
    size_t k;
    for (k = 0; k < count; k++) {
        status = worse(status, get_value(c, references[k], &values[k]));
    }
    return status;
}

static int set_values(void *c, const Reference references[], size_t count, const double values[])
{
    int status = STATUS_OK;
    size_t k;
    for (k = 0; k < count; k++) {
        status = worse(status, set_value(c, references[k], values[k]));
    }
    return status;
}

static int get_directional(void *c, const Reference unknowns[], size_t unknown_count, const Reference knowns[],
                           size_t known_count, const double seeds[], double sensitivities[])
{
    Direction direction = {{0.0}, {0.0}};
    int status = STATUS_OK;
    size_t k;
    for (k = 0; k < known_count; k++) {
        status = worse(status, seed(c, &direction, knowns[k], seeds[k]));
    }
    differentiate(c, &direction);
    for (k = 0; k < unknown_count; k++) {
        status = worse(status, sensitivity(c, &direction, unknowns[k], &sensitivities[k]));
    }
    return status;
}

/* saved states */

EXPORT int FMI_SNAPSHOT(Get, )(void *c, void **snapshot)
{
    return take_snapshot(c, snapshot);
}

EXPORT int FMI_SNAPSHOT(Set, )(void *c, void *snapshot)
{
    return put_snapshot(c, snapshot);
}

EXPORT int FMI_SNAPSHOT(Free, )(void *c, void **snapshot)
{
    (void)c;
    free(*snapshot);
    *snapshot = NULL;
    return STATUS_OK;
}

EXPORT int FMI_SNAPSHOT(Serialized, Size)(void *c, void *snapshot, size_t *size)
{
    (void)c;
    (void)snapshot;
    *size = SERIALIZED_SIZE;
    return STATUS_OK;
}

EXPORT int FMI_SNAPSHOT(Serialize, )(void *c, void *snapshot, Byte bytes[], size_t size)
{
    return serialize(c, snapshot, bytes, size);
}

/* Model Exchange */

EXPORT int FMI(EnterEventMode)(void *c)
{
    if (require(c, EVENT | CONTINUOUS, "events belong to Model Exchange, after initialization")) {
        return STATUS_ERROR;
    }
    ((Instance *)c)->state.mode = EVENT;
    return STATUS_OK;
}

EXPORT int FMI(EnterContinuousTimeMode)(void *c)
{
    if (require(c, EVENT, "continuous time is entered from the event mode")) {
        return STATUS_ERROR;
    }
    ((Instance *)c)->state.mode = CONTINUOUS;
    return STATUS_OK;
}

EXPORT int FMI(CompletedIntegratorStep)(void *c, Boolean no_state_before, Boolean *enter_event_mode, Boolean *terminate)
{
    (void)no_state_before;
    *enter_event_mode = needs_event(c) != 0;
    *terminate = 0;
    return STATUS_OK;
}

EXPORT int FMI(SetTime)(void *c, double time)
{
    if (require(c, EVENT | CONTINUOUS, "the time is set in Model Exchange only, after initialization")) {
        return STATUS_ERROR;
    }
    return set_time(c, time);
}

EXPORT int FMI(SetContinuousStates)(void *c, const double states[], size_t count)
{
    if (require(c, EVENT | CONTINUOUS, "states are set in Model Exchange only, after initialization")) {
        return STATUS_ERROR;
    }
    return set_states(c, states, count);
}

EXPORT int FMI(GetContinuousStates)(void *c, double states[], size_t count)
{
    return get_states(c, states, count);
}

EXPORT int FMI(GetNominalsOfContinuousStates)(void *c, double nominals[], size_t count)
{
    size_t k;
    (void)c;
    for (k = 0; k < count; k++) {
        nominals[k] = 1.0;
    }
    return STATUS_OK;
}

EXPORT int FMI(GetEventIndicators)(void *c, double values[], size_t count)
{
    (void)values;
    return count == 0 ? STATUS_OK : refuse(c, "there are no event indicators");
}
