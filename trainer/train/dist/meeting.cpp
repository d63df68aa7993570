// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/meeting.h"

#include "shared/return_if_error.h"
#include "trainer/train/dist/listener.h"
#include "trainer/train/dist/preemption.h"
#include "trainer/train/dist/torch_versions.h"
#include "trainer/train/dist/world.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rm {
namespace {

constexpr std::chrono::minutes kMeetTimeout{5};
constexpr std::chrono::minutes kOwnerTimeout{1};
constexpr std::chrono::milliseconds kAskAgain{5};
constexpr std::chrono::milliseconds kLongestPause{50};
constexpr std::chrono::milliseconds kLook{500}; ///< between looks for a signal to end
constexpr std::chrono::seconds kQuietWait{5};
constexpr int kMostNamed = 8;                      ///< ranks that are missing
constexpr std::chrono::seconds kStartsTogether{2}; ///< else rank 0 starts much later
/// The key under which rank 0 first says whose store this is. It has no prefix, as a process that
/// comes here by mistake has another prefix.
constexpr const char* kOwnerKey = "ringmaster/run";

using StorePtr = c10::intrusive_ptr<c10d::Store>;

std::string runOf(const TorchrunEnvironment& environment) {
    const std::string name =
        environment.runId.empty() ? "a run without a name" : "run " + environment.runId;
    return name + ", attempt " + std::to_string(environment.attempt);
}

std::string ownerOf(const TorchrunEnvironment& environment) {
    return runOf(environment) + "\n" + environment.storeNonce;
}

bool serves(const TorchrunEnvironment& environment) {
    return environment.rank == 0 && !environment.launcherHasStore;
}

std::string placeOf(const TorchrunEnvironment& environment) {
    return placeName(environment.masterAddr, environment.masterPort);
}

/// The beginning of an error of the meeting.
std::string meetingOf(const TorchrunEnvironment& environment) {
    return "meet the other ranks of " + runOf(environment) + " at " + placeOf(environment) + ": ";
}

/// What waits for other ranks: for five minutes, or until this process is told to end. After a few
/// seconds it says for whom, and again each minute.
class Wait {
public:
    explicit Wait(const TorchrunEnvironment& environment)
        : m_environment(environment) {}

    /// kUnavailable: it is over. `missing` is asked for when that is said.
    Result<void> goOn(const std::function<std::string()>& missing) {
        const auto now = std::chrono::steady_clock::now();
        const bool isLate = now - m_begun > kMeetTimeout;
        if (isLate || isPreempted())
            return fail(ErrorCode::kUnavailable,
                        meetingOf(m_environment) + missing() +
                            (isLate ? " did not come within five minutes; see the logs there, and "
                                      "whether that address can be reached from there"
                                    : " had not come when this process was told to end"));
        if (now > m_saysNext) {
            std::fprintf(stderr, "%swaits for %s\n", meetingOf(m_environment).c_str(),
                         missing().c_str());
            m_saysNext = now + std::chrono::minutes(1);
        }
        return {};
    }

private:
    const TorchrunEnvironment& m_environment;
    std::chrono::steady_clock::time_point m_begun = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point m_saysNext = m_begun + kQuietWait;
};

std::string rankKey(int rank) {
    return "rank/" + std::to_string(rank);
}

/// Waits until every rank has claimed its number.
Result<void> awaitOthers(const TorchrunEnvironment& environment, c10d::Store& store) {
    std::vector<std::string> keys;
    for (int rank = 0; rank < environment.worldSize; ++rank)
        keys.push_back(rankKey(rank));
    const auto missing = [&] {
        std::string names;
        int count = 0;
        for (int rank = 0; rank < environment.worldSize; ++rank)
            if (!store.check({rankKey(rank)}) && ++count <= kMostNamed)
                names += (names.empty() ? "" : ", ") + std::to_string(rank);
        if (count > kMostNamed)
            names += " and " + std::to_string(count - kMostNamed) + " more";
        return std::string(count == 1 ? "rank " : "ranks ") + names + " of " +
               std::to_string(environment.worldSize);
    };
    Wait wait(environment);
    for (auto pause = kAskAgain; !store.check(keys); pause = std::min(2 * pause, kLongestPause)) {
        RM_RETURN_IF_ERROR(wait.goOn(missing));
        std::this_thread::sleep_for(pause);
    }
    return {};
}

/// Waits until rank 0 serves the store.
Result<void> awaitServer(const TorchrunEnvironment& environment) {
    Wait wait(environment);
    auto patience = std::chrono::milliseconds(kStartsTogether);
    while (!awaitListener(environment.masterAddr, environment.masterPort, patience)) {
        RM_RETURN_IF_ERROR(wait.goOn([] { return std::string("rank 0, which serves there,"); }));
        patience = kLook;
    }
    return {};
}

/// Listens for the other ranks at MASTER_ADDR alone; where that is no address of this machine (NAT,
/// a name of loopback), at every address, with a warning.
Result<Descriptor> listenForRanks(const TorchrunEnvironment& environment, const Warn& warn) {
    const int port = environment.masterPort;
    auto listening =
        listenAt(environment.masterAddr, port, environment.localWorldSize == environment.worldSize);
    if (listening || listening.error().code != ErrorCode::kNotFound)
        return listening;
    if (warn)
        warn(listening.error().message + "; so port " + std::to_string(port) +
             " is open on every address of this machine, without a password");
    listening = listenAt("::", port, true); // takes IPv4 as well
    const bool lacksIPv6 = !listening && listening.error().code == ErrorCode::kNotFound;
    return lacksIPv6 ? listenAt("0.0.0.0", port, true) : std::move(listening);
}

/// Has the server take over a socket that listens already: it would itself listen on every address,
/// and a port that is taken would look like a collective that failed.
Result<void> bindStore(const TorchrunEnvironment& environment, c10d::TCPStoreOptions& options,
                       const Warn& warn) {
    RM_ASSIGN_OR_RETURN(const Descriptor listening, listenForRanks(environment, warn));
    const int owned = ::fcntl(listening.get(), F_DUPFD_CLOEXEC, 0); // the server closes it
    if (owned < 0)
        return failErrno("listen at " + placeOf(environment), errno);
    options.masterListenFd = owned;
    options.useLibUV = kLibUvTakesSockets;
    return {};
}

Result<StorePtr> openStore(const TorchrunEnvironment& environment, const Warn& warn) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(environment.masterPort);
    options.isServer = serves(environment);
    options.numWorkers = static_cast<size_t>(environment.worldSize);
    options.waitWorkers = false; // Gloo's rendezvous waits instead
    options.timeout = kMeetTimeout;
    if (options.isServer) {
        RM_RETURN_IF_ERROR(bindStore(environment, options, warn));
    } else {
        RM_RETURN_IF_ERROR(awaitServer(environment));
    }
    return c10::make_intrusive<c10d::TCPStore>(environment.masterAddr, options);
}

/// The value of kOwnerKey; nullopt: not set in time. Polls, as a wait that times out throws.
std::optional<std::string> ownerAt(c10d::Store& store) {
    const auto end = std::chrono::steady_clock::now() + kOwnerTimeout;
    for (; !store.check({kOwnerKey}); std::this_thread::sleep_for(kAskAgain))
        if (std::chrono::steady_clock::now() > end)
            return std::nullopt;
    const std::vector<uint8_t> bytes = store.get(kOwnerKey);
    return std::string(bytes.begin(), bytes.end());
}

std::string nameOfOwner(const std::optional<std::string>& owner,
                        const TorchrunEnvironment& environment) {
    if (!owner)
        return "a program that does not say of which run, perhaps no Ringmaster";
    const std::string run = owner->substr(0, owner->find('\n'));
    return "rank 0 of " +
           (run == runOf(environment) ? "another start of the same run and attempt" : run);
}

/// Whether this is the store of this attempt, and not of another run that was given the same
/// address and port, or of an earlier attempt that has not quite ended.
Result<void> checkOwner(const TorchrunEnvironment& environment, c10d::Store& store) {
    if (serves(environment)) {
        const std::string owner = ownerOf(environment);
        store.set(kOwnerKey, std::vector<uint8_t>(owner.begin(), owner.end()));
        return {};
    }
    const auto owner = ownerAt(store);
    if (owner == ownerOf(environment))
        return {};
    return fail(ErrorCode::kUnavailable,
                meetingOf(environment) + "what serves there is " + nameOfOwner(owner, environment) +
                    "; end that one or take another port (launch.master_port, where 0 is a free "
                    "one; without Ringmaster MASTER_PORT)");
}

/// Claims this rank: two processes of one rank would overwrite each other's addresses.
Result<void> takeRank(const TorchrunEnvironment& environment, c10d::Store& store) {
    const std::string rank = std::to_string(environment.rank);
    if (store.add(rankKey(environment.rank), 1) == 1)
        return {};
    return fail(ErrorCode::kUnavailable,
                meetingOf(environment) + "another process is rank " + rank +
                    " there; end it, give this one a RANK of its own, or another MASTER_PORT if "
                    "it belongs to another run");
}

} // namespace

Result<StorePtr> meetAtStore(const TorchrunEnvironment& environment, const Warn& warn) {
    RM_ASSIGN_OR_RETURN(StorePtr store, openStore(environment, warn));
    if (!environment.launcherHasStore) {
        RM_RETURN_IF_ERROR(checkOwner(environment, *store));
    }
    // Keys of an earlier attempt may live on in the launcher's store.
    const std::string prefix = "ringmaster/" + environment.runId + "/" +
                               std::to_string(environment.attempt) + "/" + environment.storeNonce;
    StorePtr own = c10::make_intrusive<c10d::PrefixStore>(prefix, std::move(store));
    if (!environment.launcherHasStore) {
        RM_RETURN_IF_ERROR(takeRank(environment, *own));
        RM_RETURN_IF_ERROR(awaitOthers(environment, *own));
    }
    return own;
}

} // namespace rm
