/* A system that does next to nothing, so that what a step takes is the cost of asking for it. */
#include "broccoli.h"

static int32_t reset(const double *initial, void *state, double *observation)
{
    double *s = state;
    observation[0] = s[0] = initial[0];
    observation[1] = s[1] = 0;
    return BROCCOLI_RUNNING;
}

static int32_t step(void *state, uint32_t action, double *observation)
{
    double *s = state;
    observation[0] = s[0] += action;
    observation[1] = s[1] += 0.1;
    return BROCCOLI_RUNNING;
}

static const char *const observations[] = {"a", "b"};
static const char *const actions[] = {"stay", "count"};
static const double values[] = {0, 1};

static const broccoli_system counter = {
    .abi = BROCCOLI_ABI,
    .state_size = 2 * sizeof(double),
    .observation_count = 2,
    .action_count = 2,
    .initial_count = 1,
    .name = "counter",
    .observation_names = observations,
    .action_names = actions,
    .action_values = values,
    .reset = reset,
    .step = step,
};

const broccoli_system *broccoli_plugin(void) { return &counter; }
