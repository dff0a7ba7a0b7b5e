// Solves instances from standard input, and prints one line per instance: status, peak, bound, offsets.
//
// An instance is a line `buffers rules capacity`, then a line `size lower upper alignment` per buffer, then a
// line `kind a b c` per rule: `f` fixes buffer a at b, `g` adds the gap [b, c) to buffer a, `s` separates a
// and b, `x` excludes them. The last line of the output is the shortest time that the calls for one instance
// took, in seconds.

#include <inttypes.h>
#include <math.h>
#include <plimsoll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) != PLIMSOLL_OK) {                                                               \
            fprintf(stderr, "line %d: %s\n", __LINE__, plimsoll_error());                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
    double shortest = INFINITY;
    size_t count, rules;
    uint64_t capacity;
    while (scanf("%zu %zu %" SCNu64, &count, &rules, &capacity) == 3) {
        uint64_t *rows = calloc(5 * count + 1, sizeof *rows), *offsets = rows + 4 * count;
        for (size_t i = 0; i < count; i++)
            for (size_t column = 0; column < 4; column++)
                if (scanf("%" SCNu64, &rows[column * count + i]) != 1)
                    return 2;
        double start = now();
        plimsoll_instance instance;
        plimsoll_solution solution;
        plimsoll_summary summary;
        TRY(plimsoll_instance_new(&instance));
        TRY(plimsoll_instance_add(instance, count, rows, rows + count, rows + 2 * count, rows + 3 * count));
        for (size_t i = 0; i < rules; i++) {
            char kind;
            uint64_t a, b, c;
            if (scanf(" %c %" SCNu64 " %" SCNu64 " %" SCNu64, &kind, &a, &b, &c) != 4)
                return 2;
            if (kind == 'f')
                TRY(plimsoll_instance_fix(instance, a, b));
            else if (kind == 'g')
                TRY(plimsoll_instance_add_gap(instance, a, b, c));
            else if (kind == 's')
                TRY(plimsoll_instance_separate(instance, a, b));
            else
                TRY(plimsoll_instance_exclude(instance, a, b));
        }
        TRY(plimsoll_instance_set_capacity(instance, capacity));
        TRY(plimsoll_solve(instance, NULL, &solution));
        TRY(plimsoll_solution_summary(solution, &summary));
        bool has_layout = plimsoll_solution_offsets(solution, count, offsets) == PLIMSOLL_OK;
        TRY(plimsoll_solution_free(solution));
        TRY(plimsoll_instance_free(instance));
        shortest = fmin(shortest, now() - start);
        printf("%d %" PRIu64 " %" PRIu64, (int)summary.status, summary.peak, summary.lower_bound);
        for (size_t i = 0; has_layout && i < count; i++)
            printf(" %" PRIu64, offsets[i]);
        printf("\n");
        free(rows);
    }
    printf("%.9f\n", shortest);
    return 0;
}
