// A memory planner for MLIR's static-memory-planner pass and for passes with the same interface.
//
// The planner has the signature of `bestFitMemoryPlanner` in MLIR's StaticMemoryPlanning.h:
//
//   SmallVector<int64_t> planner(int64_t arenaAlignment, ArrayRef<MemoryPlannerAlloc> allocs);
//
// It needs no MLIR headers: `Allocs` is any range with size() and operator[] whose elements have the fields
// sizeInBytes, alignment, timeStart and timeEnd, and `Offsets` is any container with push_back.
// An allocation is live from timeStart up to, but not including, timeEnd.

#ifndef PLIMSOLL_MLIR_HPP
#define PLIMSOLL_MLIR_HPP

#include "plimsoll.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plimsoll {

// Appends the offset of every allocation to `offsets`. Returns false if an allocation has a negative size or
// start or an alignment below 1, or if no plan was found. In this case, `error` contains the reason, and
// `offsets` is unchanged. `timeLimit` is in seconds.
template <typename Offsets, typename Allocs>
bool planMemory(const Allocs &allocs, Offsets &offsets, std::string &error, double timeLimit = 10.0) {
    const std::size_t count = allocs.size();
    std::vector<uint64_t> sizes(count), lower(count), upper(count), alignments(count), found(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto &alloc = allocs[i];
        if (alloc.sizeInBytes < 0 || alloc.alignment < 1 || alloc.timeStart < 0) {
            error = "allocation " + std::to_string(i) + ": the size is " + std::to_string(alloc.sizeInBytes) +
                    ", the alignment " + std::to_string(alloc.alignment) + ", the start " +
                    std::to_string(alloc.timeStart);
            return false;
        }
        sizes[i] = static_cast<uint64_t>(alloc.sizeInBytes);
        alignments[i] = static_cast<uint64_t>(alloc.alignment);
        lower[i] = static_cast<uint64_t>(alloc.timeStart);
        // An allocation that is freed at once still needs its bytes at its first step.
        upper[i] = alloc.timeEnd > alloc.timeStart ? static_cast<uint64_t>(alloc.timeEnd) : lower[i] + 1;
    }

    plimsoll_instance instance = {0};
    plimsoll_solution solution = {0};
    plimsoll_options options;
    bool done = plimsoll_options_init(&options) == PLIMSOLL_OK;
    options.time_limit = timeLimit;
    done = done && plimsoll_instance_new(&instance) == PLIMSOLL_OK &&
           plimsoll_instance_add(instance, count, sizes.data(), lower.data(), upper.data(), alignments.data()) ==
               PLIMSOLL_OK &&
           plimsoll_solve(instance, &options, &solution) == PLIMSOLL_OK &&
           plimsoll_solution_offsets(solution, count, found.data()) == PLIMSOLL_OK;
    if (!done)
        error = plimsoll_error();
    if (solution.handle != 0)
        plimsoll_solution_free(solution);
    if (instance.handle != 0)
        plimsoll_instance_free(instance);
    if (done)
        for (uint64_t offset : found)
            offsets.push_back(static_cast<int64_t>(offset));
    return done;
}

// Returns the offset of every allocation. If no plan is found, all allocations are placed end to end, which
// is always valid.
template <typename Offsets = std::vector<int64_t>, typename Allocs>
Offsets memoryPlanner(int64_t arenaAlignment, const Allocs &allocs) {
    // The alignment of the arena is a multiple of all other alignments, so aligned offsets give aligned
    // addresses.
    (void)arenaAlignment;
    Offsets offsets;
    std::string error;
    if (!planMemory(allocs, offsets, error)) {
        int64_t end = 0;
        for (std::size_t i = 0; i < allocs.size(); ++i) {
            const int64_t alignment = allocs[i].alignment < 1 ? 1 : allocs[i].alignment;
            end = (end + alignment - 1) / alignment * alignment;
            offsets.push_back(end);
            end += allocs[i].sizeInBytes < 0 ? 0 : allocs[i].sizeInBytes;
        }
    }
    return offsets;
}

} // namespace plimsoll

#endif
