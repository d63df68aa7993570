// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/dist/meeting.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

class Board;
struct Device;

/// torchrun's variables and two of Ringmaster's own, the only environment that the trainer needs.
/// Where srun started it and torchrun's are absent, Slurm's replace them (slurm_environment.h).
struct TorchrunEnvironment {
    int rank = 0;
    int localRank = 0;
    int worldSize = 1;
    int localWorldSize = 1;
    std::string masterAddr;
    int masterPort = 0;
    int attempt = 1; ///< TORCHELASTIC_RESTART_COUNT + 1
    std::string runId;
    bool launcherHasStore = false; ///< torchrun serves the store itself
    std::string storeNonce;        ///< RINGMASTER_STORE_NONCE; empty: not started by an agent
    /// RINGMASTER_ADDRESS: this machine's address at which the other ranks reach it; empty: the one
    /// from which it would talk to masterAddr.
    std::string ownAddress = {};

    bool operator==(const TorchrunEnvironment&) const = default;
};

/// Reads the variables with `get` (as getenv()). None set: a world of one. kInvalid names one.
Result<TorchrunEnvironment> torchrunEnvironmentFrom(const char* (*get)(const char*));

/// The ranks of this run as one of them sees them. Alone it has no network and every collective is
/// a no-op. A failed collective throws; the process must end then (see isPeerLost()).
class World {
public:
    /// A world of one, on `device`.
    World() = default;

    /// The rendezvous: blocks until all ranks have joined, throws when they do not. Errors are
    /// those of meetAtStore(). All collectives are recorded on `board`, if there is one, which must
    /// outlive the world.
    static Result<World> join(const TorchrunEnvironment& environment, const Device& device,
                              const Warn& warn = {}, Board* board = nullptr);

    /// Why tensors on the device travel through the host's memory, by Gloo: how the device's own
    /// collectives failed their test when the ranks met (see soundBackend()), on this rank or
    /// another. Empty: they do not.
    const std::string& collectivesFault() const { return m_collectivesFault; }

    /// Rank 0 of `size` ranks, without the others: collectives transfer nothing, but take as much
    /// memory as real ones.
    static World imagined(int size, const Device& device);

    /// A world of these ranks alone, ascending and numbered anew in this order, which meet through
    /// this one's store. All of them call it together, and nobody else; once.
    World among(const std::vector<int>& ranks, const Device& device) const;

    int rank() const { return m_rank; }
    int size() const { return m_size; }
    int localRank() const { return m_localRank; }
    bool isFirst() const { return m_rank == 0; }
    bool isAlone() const { return m_size == 1; }

    /// The process group for gradients and parameters, on the device. Null with one rank.
    const c10::intrusive_ptr<c10d::ProcessGroup>& group() const { return m_group; }

    void broadcast(std::vector<at::Tensor> tensors) const;          ///< from rank 0, in place
    std::string broadcast(std::string text) const;                  ///< rank 0's text to all
    std::vector<std::string> gather(const std::string& text) const; ///< by rank; empty but on 0
    void sum(at::Tensor& tensor) const;                             ///< in place, to all
    void barrier() const;

    /// Starts to sum `hostTensor` over all ranks on a separate group, concurrently with other
    /// collectives; wait() on the result. Null with one rank.
    c10::intrusive_ptr<c10d::Work> sumAside(at::Tensor& hostTensor) const;
    /// Broadcasts rank 0's text on the same group; all ranks know its `size` in bytes.
    std::string broadcastAside(std::string text, int64_t size) const;

private:
    void connect(const Device& device, Board* board);

    int m_rank = 0;
    int m_size = 1;
    int m_localRank = 0;
    std::string m_address; ///< this machine's address at which Gloo listens
    c10::intrusive_ptr<c10d::Store> m_store;
    c10::intrusive_ptr<c10d::ProcessGroup> m_group;
    c10::intrusive_ptr<c10d::Backend> m_side;
    std::string m_collectivesFault;
};

/// Whether an exception says that a collective failed because another rank went away.
bool isPeerLost(const std::exception& error);

} // namespace rm
