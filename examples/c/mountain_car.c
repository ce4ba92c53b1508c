/* MountainCar for Broccoli. Built as a plug-in, or with serve.c as a program. */
#include "broccoli.h"

#include <math.h>

static int32_t reply(const double *state, double *observation)
{
    observation[0] = state[0];
    observation[1] = state[1];
    return state[0] >= 0.5 && state[1] >= 0.0 ? BROCCOLI_SATISFIED : BROCCOLI_RUNNING;
}

static int32_t reset(const double *initial, void *state, double *observation)
{
    double *s = state;
    s[0] = initial[0];
    s[1] = initial[1];
    return reply(s, observation);
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static int32_t step(void *state, uint32_t action, double *observation)
{
    double *s = state;
    double direction = action == 0 ? -1.0 : 1.0;
    double velocity = s[1] + (direction * 0.001 + cos(3.0 * s[0]) * -0.0025);
    velocity = clamp(velocity, -0.07, 0.07);
    s[0] = clamp(s[0] + velocity, -1.2, 0.6);
    s[1] = s[0] == -1.2 && velocity < 0.0 ? 0.0 : velocity;
    return reply(s, observation);
}

static const char *const observations[] = {"position", "velocity"};
static const char *const actions[] = {"left", "right"};
static const double values[] = {0.0, 2.0};

static const broccoli_system mountain_car = {
    .abi = BROCCOLI_ABI,
    .state_size = 2 * sizeof(double),
    .observation_count = 2,
    .action_count = 2,
    .initial_count = 2,
    .name = "mountain-car",
    .observation_names = observations,
    .action_names = actions,
    .action_values = values,
    .reset = reset,
    .step = step,
};

const broccoli_system *broccoli_plugin(void) { return &mountain_car; }
