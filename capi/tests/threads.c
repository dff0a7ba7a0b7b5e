// Many threads solve, change and free instances and solutions at the same time.

#include <plimsoll.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8, ROUNDS = 200 };

static plimsoll_instance shared;

static void *work(void *argument) {
    const uint64_t sizes[] = {4, 6, 2}, lower[] = {0, 1, 2}, upper[] = {2, 3, 4};
    intptr_t failures = 0;
    (void)argument;
    for (int round = 0; round < ROUNDS; round++) {
        plimsoll_instance own;
        plimsoll_solution solution;
        plimsoll_summary summary;
        failures += plimsoll_instance_new(&own) != PLIMSOLL_OK;
        failures += plimsoll_instance_add(own, 3, sizes, lower, upper, NULL) != PLIMSOLL_OK;
        failures += plimsoll_instance_set_capacity(shared, 10 + (uint64_t)round) != PLIMSOLL_OK;
        for (int which = 0; which < 2; which++) {
            failures += plimsoll_solve(which ? own : shared, NULL, &solution) != PLIMSOLL_OK;
            failures += plimsoll_solution_summary(solution, &summary) != PLIMSOLL_OK;
            failures += summary.peak != 10;
            failures += plimsoll_solution_free(solution) != PLIMSOLL_OK;
        }
        failures += plimsoll_instance_free(own) != PLIMSOLL_OK;
    }
    return (void *)failures;
}

int main(void) {
    const uint64_t sizes[] = {4, 6, 2}, lower[] = {0, 1, 2}, upper[] = {2, 3, 4};
    pthread_t threads[THREADS];
    intptr_t failures = 0;
    plimsoll_instance_new(&shared);
    plimsoll_instance_add(shared, 3, sizes, lower, upper, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failures += (intptr_t)result;
    }
    plimsoll_instance_free(shared);
    if (failures != 0)
        fprintf(stderr, "%ld failures; %s\n", (long)failures, plimsoll_error());
    return failures != 0;
}
