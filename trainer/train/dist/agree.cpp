// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/agree.h"

namespace rm {
namespace {

constexpr std::string_view kOk = "ok:";
constexpr size_t kVerdictHead = 3;

/// One string for either outcome, so that it can travel between ranks.
std::string packVerdict(const Result<std::string>& result) {
    if (result)
        return std::string(kOk) + *result;
    return "e" + std::to_string(static_cast<int>(result.error().code)) + ":" +
           result.error().message;
}

Result<std::string> unpackVerdict(const std::string& packed) {
    std::string text = packed.substr(kVerdictHead);
    if (packed.starts_with(kOk))
        return text;
    static_assert(static_cast<int>(ErrorCode::kInternal) < 10, "one digit holds the code");
    return fail(static_cast<ErrorCode>(packed[1] - '0'), std::move(text));
}

} // namespace

Result<std::string> agreeOnFirst(const World& world, const Result<std::string>& mine) {
    return unpackVerdict(world.broadcast(world.isFirst() ? packVerdict(mine) : std::string()));
}

namespace {

/// `mine`: packed; empty on ranks that have no say.
Result<std::string> agree(const World& world, const std::string& mine, const std::string& what) {
    const auto all = world.gather(mine);
    std::string verdict = world.isFirst() ? all.front() : std::string();
    for (size_t rank = 0; rank < all.size(); ++rank) {
        const std::string& said = all[rank];
        if (said.empty() || said == verdict || !verdict.starts_with(kOk))
            continue;
        verdict = said.starts_with(kOk)
                      ? packVerdict(fail(ErrorCode::kInvalid,
                                         what + " on the node of rank " + std::to_string(rank) +
                                             " differ from those on the node of rank 0"))
                      : said;
    }
    return unpackVerdict(world.broadcast(verdict));
}

} // namespace

Result<std::string> agreeAcrossNodes(const World& world, const Result<std::string>& mine,
                                     const std::string& what) {
    return agree(world, world.localRank() == 0 ? packVerdict(mine) : std::string(), what);
}

Result<std::string> agreeAmongAll(const World& world, const Result<std::string>& mine,
                                  const std::string& what) {
    return agree(world, packVerdict(mine), what);
}

} // namespace rm
