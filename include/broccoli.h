/* broccoli.h: the interface of a plug-in, a shared library that Broccoli can search on.
 *
 * A plug-in exports one function, broccoli_plugin(), which returns a description that stays valid as
 * long as the library is loaded. Broccoli then calls reset() and step() with memory of its own:
 *
 *   - The state is `state_size` bytes, aligned to 16, that Broccoli owns, copies and compares as plain
 *     bytes. It must hold everything that the future depends on, and no pointers to anything that
 *     changes. It is filled with zeros before reset().
 *   - reset() and step() must not keep or change anything else: they are called from several threads at
 *     once, each with a state of its own, and must give the same bits for the same arguments.
 *   - They return a verdict, or any negative number for an error, which error() can explain.
 *   - After a verdict other than BROCCOLI_RUNNING the run is over and step() is not called on it.
 *
 * A plug-in runs inside of Broccoli: if it crashes or never returns, so does the search.
 *
 * Licence: MIT or Apache-2.0, at your option.
 */
#ifndef BROCCOLI_H
#define BROCCOLI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Broccoli loads plug-ins of exactly this version. */
#define BROCCOLI_ABI 1

/* Verdicts. */
#define BROCCOLI_RUNNING 0
#define BROCCOLI_SATISFIED 1
#define BROCCOLI_VIOLATED 2

/* With this flag every observation is followed by one more number: step() writes the reward of the step
 * there, for objectives that sum up rewards. reset() may leave it alone. */
#define BROCCOLI_REWARDS 1

typedef struct broccoli_system {
    uint32_t abi;                         /* BROCCOLI_ABI */
    uint32_t state_size;                  /* bytes of a state, at most 256 KiB */
    uint32_t observation_count;           /* dimensions of an observation, at least 1 */
    uint32_t action_count;                /* actions, at least 2 */
    uint32_t initial_count;               /* values of an initial state */
    uint32_t flags;                       /* 0, or BROCCOLI_REWARDS */
    const char *name;                     /* all text is UTF-8 and ends with a zero byte */
    const char *const *observation_names; /* observation_count of them */
    const char *const *action_names;      /* action_count of them */
    const double *action_values;          /* action_count of them */

    /* Writes the state and observation that `initial` (initial_count values) starts from. */
    int32_t (*reset)(const double *initial, void *state, double *observation);

    /* Applies an action, given by its index: changes the state and writes the observation. */
    int32_t (*step)(void *state, uint32_t action, double *observation);

    /* What a negative return value means; may be NULL, and may return NULL. */
    const char *(*error)(int32_t code);
} broccoli_system;

/* The one function that a plug-in exports. It returns NULL if it cannot work. */
const broccoli_system *broccoli_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
