// Places three buffers, and prints the plan and its proof.
//
//   cc plan.c $(pkg-config --cflags --libs plimsoll) -o plan

#include <plimsoll.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) != PLIMSOLL_OK) {                                                               \
            fprintf(stderr, "plan: %s\n", plimsoll_error());                                       \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(void) {
    // `a` is live throughout; `b` and `c` are never live at the same step and may share bytes.
    const uint64_t sizes[] = {4, 4, 4}, lower[] = {0, 0, 2}, upper[] = {4, 2, 4};
    uint64_t offsets[3];
    char witness[200];
    plimsoll_instance instance;
    plimsoll_solution solution;
    plimsoll_summary summary;

    TRY(plimsoll_instance_new(&instance));
    TRY(plimsoll_instance_add(instance, 3, sizes, lower, upper, NULL));
    TRY(plimsoll_solve(instance, NULL, &solution));
    TRY(plimsoll_solution_summary(solution, &summary));
    TRY(plimsoll_solution_offsets(solution, 3, offsets));
    TRY(plimsoll_solution_witness(solution, sizeof witness, witness, NULL));
    printf("peak %llu, at least %llu: %s\n", (unsigned long long)summary.peak,
           (unsigned long long)summary.lower_bound, witness);
    for (int i = 0; i < 3; i++)
        printf("buffer %d at %llu\n", i, (unsigned long long)offsets[i]);
    TRY(plimsoll_solution_free(solution));
    TRY(plimsoll_instance_free(instance));
    return 0;
}
