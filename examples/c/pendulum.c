/* Pendulum for Broccoli. Built as a plug-in, or with serve.c as a program. */
#include "broccoli.h"

#include <math.h>

static int32_t reply(const double *state, double *observation)
{
    observation[0] = state[0];
    observation[1] = state[1];
    return fabs(state[0]) <= 0.1 && fabs(state[1]) <= 0.1 ? BROCCOLI_SATISFIED : BROCCOLI_RUNNING;
}

static int32_t reset(const double *initial, void *state, double *observation)
{
    double *s = state;
    s[0] = initial[0];
    s[1] = initial[1];
    return reply(s, observation);
}

static int32_t step(void *state, uint32_t action, double *observation)
{
    double *s = state;
    double torque = action == 0 ? -2.0 : 2.0;
    double acceleration = 3.0 * 10.0 / 2.0 * sin(s[0]) + 3.0 * torque;
    double velocity = s[1] + acceleration * 0.05;
    s[1] = velocity < -8.0 ? -8.0 : velocity > 8.0 ? 8.0 : velocity;
    s[0] += s[1] * 0.05;
    return reply(s, observation);
}

static const char *const observations[] = {"angle", "velocity"};
static const char *const actions[] = {"-2", "+2"};
static const double values[] = {-2.0, 2.0};

static const broccoli_system pendulum = {
    .abi = BROCCOLI_ABI,
    .state_size = 2 * sizeof(double),
    .observation_count = 2,
    .action_count = 2,
    .initial_count = 2,
    .name = "pendulum",
    .observation_names = observations,
    .action_names = actions,
    .action_values = values,
    .reset = reset,
    .step = step,
};

const broccoli_system *broccoli_plugin(void) { return &pendulum; }
