/* CartPole for Broccoli. Built as a plug-in, or with serve.c as a program. */
#include "broccoli.h"

#include <math.h>
#include <string.h>

static int32_t reply(const double *state, double *observation)
{
    static const double pi = 3.14159265358979323846;
    memcpy(observation, state, 4 * sizeof(double));
    int fallen = fabs(state[0]) > 2.4 || fabs(state[2]) > 12.0 * 2.0 * pi / 360.0;
    return fallen ? BROCCOLI_VIOLATED : BROCCOLI_RUNNING;
}

static int32_t reset(const double *initial, void *state, double *observation)
{
    memcpy(state, initial, 4 * sizeof(double));
    return reply(state, observation);
}

static int32_t step(void *state, uint32_t action, double *observation)
{
    double *s = state;
    double x_dot = s[1], theta = s[2], theta_dot = s[3];
    double force = action == 1 ? 10.0 : -10.0;
    double sine = sin(theta), cosine = cos(theta);
    double temp = (force + 0.05 * (theta_dot * theta_dot) * sine) / 1.1;
    double theta_acc =
        (9.8 * sine - cosine * temp) / (0.5 * (4.0 / 3.0 - 0.1 * (cosine * cosine) / 1.1));
    double x_acc = temp - 0.05 * theta_acc * cosine / 1.1;
    s[0] += 0.02 * x_dot;
    s[1] = x_dot + 0.02 * x_acc;
    s[2] = theta + 0.02 * theta_dot;
    s[3] = theta_dot + 0.02 * theta_acc;
    return reply(s, observation);
}

static const char *const observations[] = {"x", "x_dot", "theta", "theta_dot"};
static const char *const actions[] = {"left", "right"};
static const double values[] = {0.0, 1.0};

static const broccoli_system cartpole = {
    .abi = BROCCOLI_ABI,
    .state_size = 4 * sizeof(double),
    .observation_count = 4,
    .action_count = 2,
    .initial_count = 4,
    .name = "cartpole",
    .observation_names = observations,
    .action_names = actions,
    .action_values = values,
    .reset = reset,
    .step = step,
};

const broccoli_system *broccoli_plugin(void) { return &cartpole; }
