// Uses Plimsoll as the planner of a pass with the interface of MLIR's static-memory-planner.
//
//   c++ -std=c++17 mlir.cpp $(pkg-config --cflags --libs plimsoll) -o mlir

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <plimsoll_mlir.hpp>
#include <vector>

// The four fields of MLIR's descriptor of an allocation.
struct MemoryPlannerAlloc {
    int64_t sizeInBytes = 0;
    int64_t alignment = 1;
    int64_t timeStart = 0;
    int64_t timeEnd = 0;
};

int main() {
    const std::vector<MemoryPlannerAlloc> allocs = {
        {1024, 64, 0, 3}, {4096, 64, 1, 2}, {100, 16, 2, 5}, {4000, 64, 3, 5}};
    const std::vector<int64_t> offsets = plimsoll::memoryPlanner(64, allocs);
    int64_t arena = 0;
    for (std::size_t i = 0; i < allocs.size(); ++i) {
        std::cout << "allocation " << i << " at " << offsets[i] << "\n";
        arena = std::max(arena, offsets[i] + allocs[i].sizeInBytes);
    }
    std::cout << "arena " << arena << "\n";

    // A negative size is a caller error: the reason is reported, and no offset is written.
    std::vector<int64_t> none;
    std::string error;
    if (plimsoll::planMemory(std::vector<MemoryPlannerAlloc>{{-1, 1, 0, 1}}, none, error) || !none.empty())
        return 1;
    std::cerr << error << "\n";
    return 0;
}
