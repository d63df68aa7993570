// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/slurm_environment.h"
#include "trainer/train/dist/world.h"

#include <charconv>
#include <map>

namespace rm {
namespace {

class Reader {
public:
    explicit Reader(const char* (*get)(const char*))
        : m_get(get) {
        // If srun started torchrun or an agent, variables of both are set; torchrun's count.
        if (!m_get("RANK") && !m_get("WORLD_SIZE"))
            m_ofSlurm = torchrunVariablesOfSlurm(get);
    }

    std::string text(const char* name) const {
        if (const char* value = m_get(name))
            return value;
        const auto implied = m_ofSlurm.find(name);
        return implied == m_ofSlurm.end() ? "" : implied->second;
    }

    int number(const char* name, int fallback, int min, int max) {
        const std::string value = text(name);
        if (value.empty())
            return fallback;
        int number = 0;
        const char* end = value.data() + value.size();
        const auto parsed = std::from_chars(value.data(), end, number);
        if (parsed.ec == std::errc() && parsed.ptr == end && number >= min && number <= max)
            return number;
        if (m_problem.empty()) // keeps the first: others may follow from it
            m_problem = "read environment: " + std::string(name) + " is \"" + value +
                        "\", allowed are whole numbers from " + std::to_string(min) + " to " +
                        std::to_string(max);
        return fallback;
    }

    const std::string& problem() const { return m_problem; }

private:
    const char* (*m_get)(const char*);
    std::map<std::string, std::string> m_ofSlurm; ///< implied by Slurm; empty: torchrun's are set
    std::string m_problem;
};

constexpr int kMaxRanks = 1 << 20;

} // namespace

Result<TorchrunEnvironment> torchrunEnvironmentFrom(const char* (*get)(const char*)) {
    Reader env(get);
    TorchrunEnvironment environment;
    environment.worldSize = env.number("WORLD_SIZE", 1, 1, kMaxRanks);
    environment.rank = env.number("RANK", 0, 0, environment.worldSize - 1);
    environment.localWorldSize = env.number("LOCAL_WORLD_SIZE", 1, 1, environment.worldSize);
    environment.localRank = env.number("LOCAL_RANK", 0, 0, environment.localWorldSize - 1);
    environment.masterPort = env.number("MASTER_PORT", 0, 0, 65535);
    environment.masterAddr = env.text("MASTER_ADDR");
    environment.attempt = env.number("TORCHELASTIC_RESTART_COUNT", 0, 0, kMaxRanks) + 1;
    environment.runId = env.text("TORCHELASTIC_RUN_ID");
    environment.launcherHasStore = env.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    environment.storeNonce = env.text("RINGMASTER_STORE_NONCE");
    environment.ownAddress = env.text("RINGMASTER_ADDRESS");
    if (!env.problem().empty())
        return fail(ErrorCode::kInvalid, env.problem());
    if (environment.worldSize > 1 &&
        (environment.masterAddr.empty() || environment.masterPort == 0))
        return fail(ErrorCode::kInvalid, "read environment: WORLD_SIZE is " +
                                             std::to_string(environment.worldSize) +
                                             " but MASTER_ADDR or MASTER_PORT is not set");
    return environment;
}

} // namespace rm
