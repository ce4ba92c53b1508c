/* Runs an exported policy: a line of observations in, an action out. Doubles come as their bits. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
typedef int32_t number;
#else
typedef double number;
#endif

int32_t policy(const number x[]);

int main(void)
{
    number x[DIMENSIONS];
    size_t i = 0;

#ifdef FIXED
    while (scanf("%" SCNd32, &x[i]) == 1) {
#else
    uint64_t bits;

    while (scanf("%" SCNx64, &bits) == 1) {
        memcpy(&x[i], &bits, sizeof bits);
#endif
        i++;
        if (i == DIMENSIONS) {
            printf("%" PRId32 "\n", policy(x));
            i = 0;
        }
    }
    return EXIT_SUCCESS;
}
