// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/oracle.h"

#include "shared/enforce.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace rm {

Result<Oracle> Oracle::open(const TorchrunEnvironment& environment) {
    Oracle oracle;
    const char* folder = std::getenv("RINGMASTER_ORACLE");
    if (!folder || !*folder)
        return oracle;
    char rank[16];
    std::snprintf(rank, sizeof rank, "%05d", environment.rank);
    oracle.m_path = std::string(folder) + "/" + environment.runId + "-rank-" + rank;
    oracle.m_attempt = environment.attempt;
    RM_ASSIGN_OR_RETURN(oracle.m_file,
                        openFile(oracle.m_path, O_WRONLY | O_CREAT | O_APPEND, 0600));
    return oracle;
}

void Oracle::record(int64_t step, double loss) const {
    if (!m_file)
        return;
    char line[96];
    const int length =
        std::snprintf(line, sizeof line, "%d %" PRId64 " %016" PRIx64 " %" PRId64 "\n", m_attempt,
                      step, std::bit_cast<uint64_t>(loss), wallNowNs());
    // With one call, so that a rank that is killed leaves no part of a line.
    RM_ENFORCE(::write(m_file.get(), line, static_cast<size_t>(length)) == length);
    RM_ENFORCE(::fdatasync(m_file.get()) == 0);
}

} // namespace rm
