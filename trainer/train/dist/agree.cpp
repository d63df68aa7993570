// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/agree.h"

namespace rm {
namespace {

constexpr std::string_view kOk = "ok:";
constexpr size_t kVerdictHead = 3;
constexpr std::string_view kElsewhere = "another rank failed: ";

/// The message to all ranks: a text, or why rank `of` failed.
struct Verdict {
    Result<std::string> result;
    int of = 0;
};

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

/// Rank 0's result on every rank; a rank that failed itself returns its own error.
Result<std::string> spread(const World& world, const Verdict& decided,
                           const Result<std::string>& mine) {
    const std::string text = std::to_string(decided.of) + ' ' + packVerdict(decided.result);
    const std::string heard = world.broadcast(world.isFirst() ? text : std::string());
    const size_t space = heard.find(' ');
    const int of = std::stoi(heard.substr(0, space));
    Result<std::string> result = unpackVerdict(heard.substr(space + 1));
    if (!result && of == world.rank())
        return result;
    if (!result && !mine)
        return mine;
    if (!result)
        result.error().message.insert(
            0, std::string(kElsewhere).append("rank ").append(std::to_string(of)).append(": "));
    return result;
}

} // namespace

bool isOfAnotherRank(const Error& error) {
    return error.message.find(kElsewhere) != std::string::npos;
}

Result<std::string> agreeOnFirst(const World& world, const Result<std::string>& mine) {
    return spread(world, {mine, 0}, {});
}

namespace {

Result<std::string> agree(const World& world, const Result<std::string>& mine, bool hasSay,
                          const std::string& what) {
    const auto all = world.gather(hasSay ? packVerdict(mine) : std::string());
    Verdict verdict{world.isFirst() ? unpackVerdict(all.front()) : Result<std::string>(), 0};
    for (size_t rank = 0; rank < all.size() && verdict.result; ++rank) {
        const std::string& said = all[rank];
        if (said.empty() || said == all.front())
            continue;
        const auto found = unpackVerdict(said);
        verdict.of = static_cast<int>(rank);
        verdict.result =
            found ? Result<std::string>(fail(ErrorCode::kInvalid,
                                             what + " on the node of rank " + std::to_string(rank) +
                                                 " differ from those on the node of rank 0"))
                  : found;
    }
    return spread(world, verdict, hasSay ? mine : Result<std::string>());
}

} // namespace

Result<std::string> agreeAcrossNodes(const World& world, const Result<std::string>& mine,
                                     const std::string& what) {
    return agree(world, mine, world.localRank() == 0, what);
}

Result<std::string> agreeAmongAll(const World& world, const Result<std::string>& mine,
                                  const std::string& what) {
    return agree(world, mine, true, what);
}

} // namespace rm
