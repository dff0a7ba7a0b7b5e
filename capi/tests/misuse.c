// Tests that every misuse returns a code and a message, and that no misuse causes a crash. Prints the line of
// the first failure.

#include <plimsoll.h>
#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s (last error: %s)\n", __LINE__, #condition,                \
                    plimsoll_error());                                                             \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

#define REFUSED(call, code, part)                                                                  \
    do {                                                                                           \
        EXPECT((call) == (code));                                                                  \
        EXPECT(strstr(plimsoll_error(), part) != NULL);                                            \
    } while (0)

struct seen {
    int calls;
    uint64_t peak, bound;
};

static bool stop_at_once(void *user, uint64_t peak, uint64_t bound) {
    struct seen *seen = user;
    seen->calls++;
    seen->peak = peak;
    seen->bound = bound;
    // A progress callback may call the library.
    return plimsoll_version() == NULL;
}

// Numbers that the library cannot represent are refused by the call that passes them, and the instance remains
// usable. Numbers that it can represent, however large, are not.
static int large_numbers(void) {
    const uint64_t most = INT64_MAX, large = most + 1, zero = 0, one = 1, last = UINT64_MAX, before = last - 1;
    const uint64_t pair[] = {most / 2, most / 2 + 2}, zeros[] = {0, 0}, ones[] = {1, 1};
    uint64_t offsets[2], peak;
    plimsoll_instance instance;
    plimsoll_solution solution;
    plimsoll_summary summary;
    plimsoll_options options;

    EXPECT(plimsoll_instance_new(&instance) == PLIMSOLL_OK);
    REFUSED(plimsoll_instance_add(instance, 1, &large, &zero, &one, NULL), PLIMSOLL_INVALID_ARGUMENT,
            "buffer 0: the size is 9223372036854775808 bytes; expected at most 9223372036854775807");
    REFUSED(plimsoll_instance_add(instance, 1, &last, &zero, &one, NULL), PLIMSOLL_INVALID_ARGUMENT, "the size");
    REFUSED(plimsoll_instance_add(instance, 1, &one, &zero, &one, &large), PLIMSOLL_INVALID_ARGUMENT,
            "buffer 0: the alignment is 9223372036854775808 bytes");
    REFUSED(plimsoll_instance_add(instance, 1, &one, &zero, &one, &last), PLIMSOLL_INVALID_ARGUMENT,
            "the alignment");
    REFUSED(plimsoll_instance_add(instance, 2, pair, zeros, ones, NULL), PLIMSOLL_INVALID_INSTANCE,
            "buffer 1: all buffers, aligned and laid end to end above the highest fixed one, need "
            "9223372036854775808 bytes");
    REFUSED(plimsoll_instance_add(instance, 1, &most, &zero, &one, pair), PLIMSOLL_INVALID_INSTANCE, "buffer 0");
    REFUSED(plimsoll_instance_add(instance, SIZE_MAX, &one, &zero, &one, NULL), PLIMSOLL_INVALID_ARGUMENT,
            "'count' is");

    // Two buffers of 4 and 6 bytes. One of them is live during all steps that exist.
    const uint64_t sizes[] = {4, 6}, upper[] = {last, last}, lower[] = {0, before};
    EXPECT(plimsoll_instance_add(instance, 2, sizes, lower, upper, NULL) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_add_gap(instance, 0, 1, before) == PLIMSOLL_OK);
    REFUSED(plimsoll_instance_add_gap(instance, 1, before, last), PLIMSOLL_INVALID_ARGUMENT, "no live step");
    REFUSED(plimsoll_instance_fix(instance, 0, last), PLIMSOLL_INVALID_ARGUMENT,
            "buffer 0: the offset is 18446744073709551615 bytes");
    REFUSED(plimsoll_instance_fix(instance, 0, large), PLIMSOLL_INVALID_ARGUMENT, "the offset");
    REFUSED(plimsoll_instance_fix(instance, 0, most), PLIMSOLL_INVALID_INSTANCE,
            "need 9223372036854775821 bytes");
    REFUSED(plimsoll_instance_fix(instance, 0, most - 13), PLIMSOLL_INVALID_INSTANCE, "buffer 0");
    REFUSED(plimsoll_instance_above(instance, 1, 0, large), PLIMSOLL_INVALID_ARGUMENT,
            "buffer 1: the distance is 9223372036854775808 bytes");
    REFUSED(plimsoll_instance_above(instance, 1, 0, last), PLIMSOLL_INVALID_ARGUMENT, "the distance");

    // No capacity is too large.
    const uint64_t capacities[] = {0, most, large, before, last};
    for (int i = 0; i < 5; i++) {
        EXPECT(plimsoll_instance_set_capacity(instance, capacities[i]) == PLIMSOLL_OK);
        EXPECT(plimsoll_solve(instance, NULL, &solution) == PLIMSOLL_OK);
        EXPECT(plimsoll_solution_summary(solution, &summary) == PLIMSOLL_OK);
        EXPECT(summary.lower_bound == 10);
        EXPECT(summary.status == (i == 0 ? PLIMSOLL_INFEASIBLE : PLIMSOLL_OPTIMAL));
        EXPECT(plimsoll_solution_free(solution) == PLIMSOLL_OK);
    }
    offsets[0] = last;
    offsets[1] = 0;
    REFUSED(plimsoll_check(instance, 2, offsets, &peak), PLIMSOLL_INVALID_LAYOUT, "18446744073709551615");
    EXPECT(peak == UINT64_MAX);

    // The highest offset that is allowed, and a lower one in its place. After that, more bytes are allowed.
    EXPECT(plimsoll_instance_fix(instance, 0, most - 14) == PLIMSOLL_OK);
    REFUSED(plimsoll_instance_add(instance, 1, &one, &zero, &one, NULL), PLIMSOLL_INVALID_INSTANCE, "buffer 2");
    EXPECT(plimsoll_options_init(&options) == PLIMSOLL_OK);
    options.time_limit = 1e18;
    options.seed = options.node_limit = before;
    EXPECT(plimsoll_solve(instance, &options, &solution) == PLIMSOLL_OK);
    EXPECT(plimsoll_solution_summary(solution, &summary) == PLIMSOLL_OK);
    EXPECT(summary.status == PLIMSOLL_OPTIMAL && summary.peak == most - 10);
    EXPECT(plimsoll_solution_free(solution) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_fix(instance, 0, 4) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_add(instance, 1, &one, &zero, &one, NULL) == PLIMSOLL_OK);

    // A buffer of size 0 needs no bytes, even if it is aligned.
    EXPECT(plimsoll_instance_add(instance, 1, &zero, &last, &last, &most) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_fix(instance, 3, most) == PLIMSOLL_OK);
    EXPECT(plimsoll_solve(instance, NULL, &solution) == PLIMSOLL_OK);
    EXPECT(plimsoll_solution_summary(solution, &summary) == PLIMSOLL_OK);
    EXPECT(summary.status == PLIMSOLL_OPTIMAL && summary.peak == 14);
    EXPECT(plimsoll_solution_free(solution) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_free(instance) == PLIMSOLL_OK);
    return 0;
}

int main(void) {
    const uint64_t sizes[] = {4, 6, 2}, lower[] = {0, 1, 2}, upper[] = {2, 3, 4}, zeros[] = {0, 0, 0};
    uint64_t offsets[3] = {0, 4, 0}, peak = 0;
    size_t length = 0;
    char text[200];
    plimsoll_instance instance = {0}, other = {0};
    plimsoll_solution solution = {0};
    plimsoll_summary summary;
    plimsoll_options options;

    EXPECT(strcmp(plimsoll_error(), "") == 0);
    EXPECT(strchr(plimsoll_version(), '.') != NULL);

    // Null pointers are refused.
    REFUSED(plimsoll_instance_new(NULL), PLIMSOLL_INVALID_ARGUMENT, "'instance' is null");
    REFUSED(plimsoll_options_init(NULL), PLIMSOLL_INVALID_ARGUMENT, "'options' is null");
    EXPECT(plimsoll_instance_new(&instance) == PLIMSOLL_OK && instance.handle != 0);
    REFUSED(plimsoll_instance_add(instance, 3, NULL, lower, upper, NULL), PLIMSOLL_INVALID_ARGUMENT,
            "'sizes' is null, but count is 3");
    REFUSED(plimsoll_solve(instance, NULL, NULL), PLIMSOLL_INVALID_ARGUMENT, "'solution' is null");

    // Invalid handles are refused.
    REFUSED(plimsoll_instance_add(other, 3, sizes, lower, upper, NULL), PLIMSOLL_INVALID_HANDLE,
            "instance 0");
    REFUSED(plimsoll_solution_summary(solution, &summary), PLIMSOLL_INVALID_HANDLE, "solution 0");
    solution.handle = instance.handle;
    REFUSED(plimsoll_solution_free(solution), PLIMSOLL_INVALID_HANDLE, "never created");

    // Invalid buffers and rules are refused.
    REFUSED(plimsoll_instance_add(instance, 3, sizes, upper, lower, NULL), PLIMSOLL_INVALID_ARGUMENT,
            "buffer 0: interval [2, 0)");
    REFUSED(plimsoll_instance_add(instance, 3, sizes, lower, upper, zeros), PLIMSOLL_INVALID_ARGUMENT,
            "buffer 0: the alignment is 0");
    EXPECT(plimsoll_instance_add(instance, 0, NULL, NULL, NULL, NULL) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_add(instance, 3, sizes, lower, upper, NULL) == PLIMSOLL_OK);
    REFUSED(plimsoll_instance_fix(instance, 3, 0), PLIMSOLL_INVALID_ARGUMENT, "has 3 buffers");
    REFUSED(plimsoll_instance_separate(instance, 1, 1), PLIMSOLL_INVALID_ARGUMENT, "both 1");
    REFUSED(plimsoll_instance_exclude(instance, 0, 9), PLIMSOLL_INVALID_ARGUMENT, "'b' is 9");
    REFUSED(plimsoll_instance_above(instance, 2, 2, 0), PLIMSOLL_INVALID_ARGUMENT,
            "'upper' and 'lower' are both 2");
    REFUSED(plimsoll_instance_above(instance, 9, 0, 0), PLIMSOLL_INVALID_ARGUMENT, "'upper' is 9");
    REFUSED(plimsoll_instance_add_gap(instance, 1, 0, 9), PLIMSOLL_INVALID_ARGUMENT, "buffer 1: gap");

    // Invalid options are refused.
    EXPECT(plimsoll_options_init(&options) == PLIMSOLL_OK);
    options.algorithm = "exactly";
    REFUSED(plimsoll_solve(instance, &options, &solution), PLIMSOLL_UNSUPPORTED, "'exactly'");
    options.algorithm = "\xff";
    REFUSED(plimsoll_solve(instance, &options, &solution), PLIMSOLL_INVALID_ARGUMENT, "UTF-8");
    options.algorithm = NULL;
    options.time_limit = 0.0 / zeros[0];
    REFUSED(plimsoll_solve(instance, &options, &solution), PLIMSOLL_INVALID_ARGUMENT, "'time_limit'");
    options.time_limit = 1e300;
    options.threads = 0;
    REFUSED(plimsoll_solve(instance, &options, &solution), PLIMSOLL_INVALID_ARGUMENT, "'threads' is 0");
    options.threads = 100000;
    REFUSED(plimsoll_solve(instance, &options, &solution), PLIMSOLL_INVALID_ARGUMENT, "'threads' is 100000");
    options.threads = 1;

    // The checker refuses a wrong count, a null pointer and an invalid layout.
    REFUSED(plimsoll_check(instance, 2, offsets, &peak), PLIMSOLL_INVALID_ARGUMENT, "'count' is 2");
    REFUSED(plimsoll_check(instance, 3, NULL, &peak), PLIMSOLL_INVALID_ARGUMENT, "'offsets' is null");
    EXPECT(plimsoll_check(instance, 3, offsets, &peak) == PLIMSOLL_OK && peak == 10);
    // A layout may waste memory: here, each buffer has a page of its own.
    const uint64_t pages[] = {0, 4096, 8192};
    EXPECT(plimsoll_check(instance, 3, pages, &peak) == PLIMSOLL_OK && peak == 8194);
    offsets[1] = 3;
    REFUSED(plimsoll_check(instance, 3, offsets, &peak), PLIMSOLL_INVALID_LAYOUT, "share");
    EXPECT(peak == 9);

    // A capacity that is too small: the call succeeds, and the status reports it.
    EXPECT(plimsoll_instance_set_capacity(instance, 9) == PLIMSOLL_OK);
    EXPECT(plimsoll_solve(instance, NULL, &solution) == PLIMSOLL_OK);
    EXPECT(plimsoll_solution_summary(solution, &summary) == PLIMSOLL_OK);
    EXPECT(summary.status == PLIMSOLL_INFEASIBLE && summary.lower_bound == 10);
    EXPECT(plimsoll_solution_free(solution) == PLIMSOLL_OK);
    REFUSED(plimsoll_solution_free(solution), PLIMSOLL_INVALID_HANDLE, "was freed");
    EXPECT(plimsoll_instance_set_capacity(instance, UINT64_MAX) == PLIMSOLL_OK);

    // Contradictory rules are reported when the instance is solved. Rules cannot be removed, so the instance
    // is freed.
    EXPECT(plimsoll_instance_new(&other) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_add(other, 3, sizes, lower, upper, NULL) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_separate(other, 0, 1) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_exclude(other, 0, 1) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_above(other, 1, 0, 4) == PLIMSOLL_OK);
    REFUSED(plimsoll_instance_above(other, 1, 0, 4), PLIMSOLL_INVALID_ARGUMENT, "only one is allowed");
    REFUSED(plimsoll_solve(other, NULL, &solution), PLIMSOLL_INVALID_INSTANCE, "'0' and '1'");
    EXPECT(plimsoll_instance_free(other) == PLIMSOLL_OK);
    REFUSED(plimsoll_instance_free(other), PLIMSOLL_INVALID_HANDLE, "was freed");

    // Buffers at given distances: the answer respects them, and other algorithms refuse the instance.
    EXPECT(plimsoll_instance_new(&other) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_add(other, 3, sizes, lower, upper, NULL) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_above(other, 2, 0, 12) == PLIMSOLL_OK);
    EXPECT(plimsoll_options_init(&options) == PLIMSOLL_OK);
    options.algorithm = "valley-fit";
    REFUSED(plimsoll_solve(other, &options, &solution), PLIMSOLL_UNSUPPORTED, "rigid groups");
    options.algorithm = "first-fit-size";
    EXPECT(plimsoll_solve(other, &options, &solution) == PLIMSOLL_OK);
    EXPECT(plimsoll_solution_offsets(solution, 3, offsets) == PLIMSOLL_OK);
    EXPECT(offsets[2] == offsets[0] + 12);
    EXPECT(plimsoll_solution_free(solution) == PLIMSOLL_OK);
    offsets[2]++;
    REFUSED(plimsoll_check(other, 3, offsets, &peak), PLIMSOLL_INVALID_LAYOUT, "12 bytes above");
    EXPECT(plimsoll_instance_free(other) == PLIMSOLL_OK);
    EXPECT(plimsoll_options_init(&options) == PLIMSOLL_OK);

    // Tests progress, cancellation, and a solution that outlives its instance.
    struct seen seen = {0, 0, 0};
    options.progress = stop_at_once;
    options.user = &seen;
    EXPECT(plimsoll_solve(instance, &options, &solution) == PLIMSOLL_OK);
    EXPECT(plimsoll_instance_free(instance) == PLIMSOLL_OK);
    EXPECT(plimsoll_solution_summary(solution, &summary) == PLIMSOLL_OK);
    EXPECT(summary.buffers == 3 && summary.peak == 10 && summary.status == PLIMSOLL_OPTIMAL);
    REFUSED(plimsoll_solution_offsets(solution, 2, offsets), PLIMSOLL_INVALID_ARGUMENT, "'count' is 2");
    REFUSED(plimsoll_solution_offsets(solution, 3, NULL), PLIMSOLL_INVALID_ARGUMENT, "null");
    EXPECT(plimsoll_solution_offsets(solution, 3, offsets) == PLIMSOLL_OK);
    EXPECT(plimsoll_solution_witness(solution, 0, NULL, &length) == PLIMSOLL_OK && length > 4);
    EXPECT(plimsoll_solution_witness(solution, 5, text, NULL) == PLIMSOLL_OK && strlen(text) == 4);
    EXPECT(plimsoll_solution_witness(solution, sizeof text, text, &length) == PLIMSOLL_OK);
    EXPECT(strlen(text) == length);
    EXPECT(plimsoll_solution_witness(solution, SIZE_MAX, text, NULL) == PLIMSOLL_OK);
    EXPECT(strlen(text) == length);
    EXPECT(plimsoll_solution_free(solution) == PLIMSOLL_OK);
    return large_numbers();
}
