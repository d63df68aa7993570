// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace rm::torture {

/// What a test does to the programs of a node, which the library faulty_node is preloaded into. A
/// file of zeros, which is no fault, mapped by both sides; its path is in kFaultsVariable.
struct NodeFaults {
    std::atomic<int64_t> clockAheadNs; ///< of what they take for the time of day
    std::atomic<uint32_t> diskSeed;
    std::atomic<uint32_t> diskPerMille; ///< of calls that write or sync and are to fail
    std::atomic<uint64_t> diskCalls;    ///< since there was a share
    std::atomic<uint64_t> diskErrors;   ///< the others that failed wrote less than they were given
    /// A part of the paths of files and folders to which that happens, or the end of them; set
    /// before the share.
    char diskPart[64];
    std::atomic<bool> diskPartIsEnd;
    /// Instead all that would change something there fails, as after errors=remount-ro of ext4.
    std::atomic<bool> diskIsReadOnly;
};

/// Begins with what the ranks inherit from their agent.
inline constexpr const char* kFaultsVariable = "RINGMASTER_FAULTS";

/// nullptr: it cannot be mapped. It stays mapped.
inline NodeFaults* mapFaults(const char* path, int openFlags = O_RDWR) {
    const int file = ::open(path, openFlags | O_CLOEXEC, 0600);
    if (file < 0)
        return nullptr;
    void* place = MAP_FAILED;
    if (!(openFlags & O_CREAT) || ::ftruncate(file, sizeof(NodeFaults)) == 0)
        place = ::mmap(nullptr, sizeof(NodeFaults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return place == MAP_FAILED ? nullptr : static_cast<NodeFaults*>(place);
}

} // namespace rm::torture
