// The C interface of Plimsoll: memory plans for neural-network programs, with proofs.
//
// This file is generated from capi/src. Do not edit it.
//
// Units: sizes, offsets, alignments and peaks are in bytes, lifespans in steps, and times in seconds.
// A lifespan [lower, upper) begins with its first live step and ends before the step `upper`.
//
// Errors: every function that can fail returns a code, 0 on success. `plimsoll_error` then returns
// a message with the position and the invalid value. A failed call changes no instance and creates
// no handle.
//
// Ownership: instances and solutions are handles, not pointers. The caller frees each of them once.
// A handle that was freed, or was never created, is rejected with PLIMSOLL_INVALID_HANDLE. Arrays and
// strings passed to a function are used only during the call. They must be null or valid, and null is
// rejected where a value is required.
//
// Threads: every function may be called from any thread at any time. Calls on the same instance wait
// for each other, but a solve works on its own copy of the instance and delays no other call.
//
// Proofs: every solution passes an independent checker before it is returned.

#ifndef PLIMSOLL_H
#define PLIMSOLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The result of a call.
typedef enum plimsoll_code {
  // Success.
  PLIMSOLL_OK = 0,
  // A pointer is null, an index or a number is out of range, or a string is not UTF-8.
  PLIMSOLL_INVALID_ARGUMENT = 1,
  // The handle was freed, or was never created.
  PLIMSOLL_INVALID_HANDLE = 2,
  // The parts of the instance contradict each other, or add up to more than 2^63 - 1 bytes.
  PLIMSOLL_INVALID_INSTANCE = 3,
  // No algorithm has this name, or the named algorithm does not support the instance.
  PLIMSOLL_UNSUPPORTED = 4,
  // The solution has no layout: its status is `PLIMSOLL_INFEASIBLE` or `PLIMSOLL_UNKNOWN`.
  PLIMSOLL_NO_LAYOUT = 5,
  // The layout is not valid: two conflicting buffers share bytes, or an offset violates an alignment, a
  // fixed offset or the capacity.
  PLIMSOLL_INVALID_LAYOUT = 6,
  // An internal error, such as a panic or an answer that the checker rejected. No answer is returned.
  PLIMSOLL_INTERNAL = 7,
} plimsoll_code;

// The solution status: what is proved.
typedef enum plimsoll_status {
  // The layout is valid, and its peak equals the lower bound.
  PLIMSOLL_OPTIMAL = 0,
  // The layout is valid. Layouts with lower peaks, down to the lower bound, may exist.
  PLIMSOLL_FEASIBLE = 1,
  // No layout fits into the capacity.
  PLIMSOLL_INFEASIBLE = 2,
  // The search found neither a layout that fits nor a proof that none exists.
  PLIMSOLL_UNKNOWN = 3,
} plimsoll_status;

// The termination reason: why the search ended.
typedef enum plimsoll_termination {
  // The algorithm finished.
  PLIMSOLL_COMPLETED = 0,
  // The time limit was reached.
  PLIMSOLL_TIME_LIMIT = 1,
  // The node limit was reached.
  PLIMSOLL_NODE_LIMIT = 2,
  // The progress function ended the search.
  PLIMSOLL_INTERRUPTED = 3,
} plimsoll_termination;

// A list of buffers with an optional capacity. Free it with `plimsoll_instance_free`.
typedef struct plimsoll_instance {
  // The number of the handle; 0 is never valid.
  uint64_t handle;
} plimsoll_instance;

// A function that `plimsoll_solve` calls in the thread of its caller, at every improvement and at least
// every 20 ms. `peak` is the best peak so far in bytes, or `UINT64_MAX` if there is no layout yet; `bound`
// is the lower bound in bytes. If the function returns false, the search ends and returns its best layout so
// far. The function may call any other function of this library, and must return to its caller.
typedef bool (*plimsoll_progress)(void *user, uint64_t peak, uint64_t bound);

// The options of a solve. Initialise them with `plimsoll_options_init`, then change what you need.
typedef struct plimsoll_options {
  // The name of the algorithm. A null pointer means "exact"; `plimsoll list offsets` prints all names.
  const char *algorithm;
  // The limit on the wall-clock time in seconds. A negative value means no limit, which is the default.
  double time_limit;
  // The limit on search nodes. `UINT64_MAX` means no limit, which is the default.
  uint64_t node_limit;
  // The seed of randomised algorithms; 0 by default. With one thread and no time limit, the same seed
  // gives the same answer.
  uint64_t seed;
  // The number of threads, from 1 to 1024; 1 by default.
  size_t threads;
  // The progress function, which may be null.
  plimsoll_progress progress;
  // The first argument of `progress`.
  void *user;
} plimsoll_options;

// The answer to a solve. Free it with `plimsoll_solution_free`.
typedef struct plimsoll_solution {
  // The number of the handle; 0 is never valid.
  uint64_t handle;
} plimsoll_solution;

// The status, peak and bound of a solution, and the effort of the search.
typedef struct plimsoll_summary {
  // The solution status: what is proved.
  enum plimsoll_status status;
  // The termination reason: why the search ended.
  enum plimsoll_termination termination;
  // The number of buffers, and therefore of offsets.
  size_t buffers;
  // The peak of the layout in bytes, or `UINT64_MAX` without a layout. If the status is `PLIMSOLL_UNKNOWN`
  // and there is a layout, its peak exceeds the capacity.
  uint64_t peak;
  // The lower bound in bytes. No layout has a lower peak.
  uint64_t lower_bound;
  // The number of search nodes.
  uint64_t nodes;
  // The wall-clock time in seconds, excluding the checker.
  double seconds;
} plimsoll_summary;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, such as "0.1.0". The string is never freed.
const char *plimsoll_version(void);

// Returns the message of the last error in this thread, or an empty string. The pointer is valid until the
// next call that fails in this thread.
const char *plimsoll_error(void);

// Creates an empty instance without a capacity.
enum plimsoll_code plimsoll_instance_new(struct plimsoll_instance *instance);

// Frees an instance. Its solutions remain valid.
enum plimsoll_code plimsoll_instance_free(struct plimsoll_instance instance);

// Appends `count` buffers, which get the next free indices. `sizes` are in bytes. Buffer `i` is live from
// step `lower[i]` up to, but not including, step `upper[i]`. `alignments` are in bytes; if the pointer is
// null, every alignment is 1. At most 2^32 - 1 buffers are allowed.
//
// The call fails with `PLIMSOLL_INVALID_INSTANCE` if all buffers, aligned and laid end to end above the
// highest fixed one, then need more than 2^63 - 1 bytes.
//
// Every array is null or has `count` elements.
enum plimsoll_code plimsoll_instance_add(struct plimsoll_instance instance,
                                         size_t count,
                                         const uint64_t *sizes,
                                         const uint64_t *lower,
                                         const uint64_t *upper,
                                         const uint64_t *alignments);

// Fixes a buffer at an offset in bytes. The limit of `plimsoll_instance_add` applies.
enum plimsoll_code plimsoll_instance_fix(struct plimsoll_instance instance,
                                         size_t buffer,
                                         uint64_t offset);

// Adds the gap `[lower, upper)`, in steps, to the lifespan of a buffer. During the gap, other buffers may
// use the bytes of this buffer.
enum plimsoll_code plimsoll_instance_add_gap(struct plimsoll_instance instance,
                                             size_t buffer,
                                             uint64_t lower,
                                             uint64_t upper);

// Forbids two buffers from sharing bytes, even if they are never live at the same step.
enum plimsoll_code plimsoll_instance_separate(struct plimsoll_instance instance,
                                              size_t a,
                                              size_t b);

// Allows two buffers to share bytes even if their lifespans overlap, for example because they belong to two
// branches of which only one runs.
enum plimsoll_code plimsoll_instance_exclude(struct plimsoll_instance instance,
                                             size_t a,
                                             size_t b);

// Requires a buffer to lie exactly `distance` bytes above another one: the offset of `upper` is the offset
// of `lower` plus the distance. Each buffer may be the `upper` one of at most one call. Not all algorithms
// support such instances.
//
// `plimsoll_solve` and `plimsoll_check` report distances that contradict each other, or that add up to more
// than 2^63 - 1 bytes.
enum plimsoll_code plimsoll_instance_above(struct plimsoll_instance instance,
                                           size_t upper,
                                           size_t lower,
                                           uint64_t distance);

// Sets the capacity in bytes, which no layout may exceed. `UINT64_MAX` removes the capacity.
enum plimsoll_code plimsoll_instance_set_capacity(struct plimsoll_instance instance,
                                                  uint64_t capacity);

// Sets all options to their defaults.
enum plimsoll_code plimsoll_options_init(struct plimsoll_options *options);

// Places all buffers so that the peak is as low as possible. If `options` is null, the defaults apply, which
// have no limits.
//
// The call succeeds even if no layout was found; `plimsoll_solution_summary` returns the status. The
// instance may be changed or freed during the call and afterwards.
enum plimsoll_code plimsoll_solve(struct plimsoll_instance instance,
                                  const struct plimsoll_options *options,
                                  struct plimsoll_solution *solution);

// Frees a solution.
enum plimsoll_code plimsoll_solution_free(struct plimsoll_solution solution);

// Writes the status, peak and bound of a solution.
enum plimsoll_code plimsoll_solution_summary(struct plimsoll_solution solution,
                                             struct plimsoll_summary *summary);

// Writes the offset of every buffer in bytes, in the order in which the buffers were added. `count` is the
// number of buffers.
//
// `offsets` is null or has space for `count` elements.
enum plimsoll_code plimsoll_solution_offsets(struct plimsoll_solution solution,
                                             size_t count,
                                             uint64_t *offsets);

// Writes the reason for the lower bound as a string. At most `size` bytes are written, including the
// terminating null byte; a longer string is truncated. If `length` is not null, it receives the length of
// the whole string without the null byte.
//
// `text` is null or has space for `size` bytes; `length` is null or valid for writes.
enum plimsoll_code plimsoll_solution_witness(struct plimsoll_solution solution,
                                             size_t size,
                                             char *text,
                                             size_t *length);

// Checks a layout that the caller supplies, with the same checker that validates the answers of the solver.
// `offsets` contains one offset in bytes per buffer. If `peak` is not null, it receives the highest end of a
// buffer in bytes, even if the layout is not valid. If the layout is not valid, the call returns
// `PLIMSOLL_INVALID_LAYOUT`, and the message names the first violation.
//
// `offsets` is null or has `count` elements; `peak` is null or valid for writes.
enum plimsoll_code plimsoll_check(struct plimsoll_instance instance,
                                  size_t count,
                                  const uint64_t *offsets,
                                  uint64_t *peak);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PLIMSOLL_H */
