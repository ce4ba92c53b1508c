/* A cart on rails, to be replaced by your simulator. Build: cc -O2 -shared -fPIC -o @NAME@.so @NAME@.c -lm */
#include "broccoli.h"

#include <math.h>

typedef struct {
    double position, speed;
} cart;

static int32_t reply(const cart *c, double *observation)
{
    observation[0] = c->position;
    observation[1] = c->speed;
    return fabs(c->position - 5) <= 0.5 && fabs(c->speed) <= 0.1 ? BROCCOLI_SATISFIED : BROCCOLI_RUNNING;
}

static int32_t reset(const double *initial, void *state, double *observation)
{
    cart *c = state;
    c->position = initial[0];
    c->speed = 0;
    return reply(c, observation);
}

static int32_t step(void *state, uint32_t action, double *observation)
{
    cart *c = state;
    c->speed += action == 0 ? -0.1 : 0.1;
    c->position += c->speed;
    return reply(c, observation);
}

static const char *const observations[] = {"position", "speed"};
static const char *const actions[] = {"back", "forth"};
static const double values[] = {-0.1, 0.1};

static const broccoli_system description = {
    .abi = BROCCOLI_ABI,
    .state_size = sizeof(cart),
    .observation_count = 2,
    .action_count = 2,
    .initial_count = 1,
    /* .flags = BROCCOLI_REWARDS, if step() also writes a reward, to observation[2]; for kind = "return" */
    .name = "@NAME@",
    .observation_names = observations,
    .action_names = actions,
    .action_values = values,
    .reset = reset,
    .step = step,
};

const broccoli_system *broccoli_plugin(void) { return &description; }
