// SPDX-License-Identifier: Apache-2.0
#include "shared/enforce.h"
#include "shared/io/flat.h"
#include "shared/io/frame.h"
#include "shared/wire/limits.h"
#include "shared/wire/messages.h"
#include "shared/wire/wire_generated.h"

namespace rm {

namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Body = flatbuffers::Offset<void>;

Body build(Builder& b, const Hello& m) {
    return fb::CreateHello(b, m.version, flatText(b, m.release), flatText(b, m.runId), m.nodeIndex)
        .Union();
}

Body build(Builder& b, const Attach& m) {
    RM_ENFORCE(m.cursors.size() <= kMaxTables);
    std::vector<flatbuffers::Offset<fb::FileCursor>> cursors;
    for (const FileCursor& cursor : m.cursors)
        cursors.push_back(fb::CreateFileCursor(b, flatText(b, cursor.file), cursor.offset));
    return fb::CreateAttach(b, b.CreateVector(cursors)).Union();
}

Body build(Builder& b, const Slice& m) {
    RM_ENFORCE(m.bytes.size() <= kMaxSlice);
    const auto bytes =
        b.CreateVector(reinterpret_cast<const uint8_t*>(m.bytes.data()), m.bytes.size());
    RM_ENFORCE(m.stamps.size() <= kMaxStamps);
    std::vector<fb::LogStamp> all;
    for (const LogStamp& stamp : m.stamps)
        all.emplace_back(stamp.end, stamp.wallNs);
    const auto stamps = all.empty() ? 0 : b.CreateVectorOfStructs(all);
    return fb::CreateSlice(b, flatText(b, m.file), m.offset, bytes, stamps).Union();
}

Body build(Builder& b, const Command& m) {
    RM_ENFORCE(m.args.size() <= kMaxArguments);
    std::vector<flatbuffers::Offset<fb::Argument>> args;
    for (const auto& [name, value] : m.args)
        args.push_back(fb::CreateArgument(b, flatText(b, clipText(name, kMaxArgument)),
                                          flatText(b, clipText(value, kMaxArgument))));
    return fb::CreateCommand(b, flatText(b, m.id), uint8_t(m.kind), b.CreateVector(args)).Union();
}

Body build(Builder& b, const CommandState& m) {
    return fb::CreateCommandState(b, flatText(b, m.id), uint8_t(m.progress), m.step,
                                  flatText(b, m.message))
        .Union();
}

Body build(Builder& b, const RunState& m) {
    RM_ENFORCE(m.ranks.size() <= kMaxTables);
    std::vector<flatbuffers::Offset<fb::RankState>> ranks;
    for (const RankState& r : m.ranks)
        ranks.push_back(fb::CreateRankState(b, r.rank, r.pid, r.step, r.phase, r.sinceMs,
                                            r.exitCode, r.signal, r.isStopped, r.journalProblem,
                                            r.droppedRecords, r.isWaiting));
    return fb::CreateRunState(b, m.attempt, m.supervised, m.ended, m.outcome, m.wallNs,
                              b.CreateVector(ranks), m.hasNoRoom, flatText(b, m.waitsFor),
                              flatText(b, m.noRoom))
        .Union();
}

Body build(Builder& b, const Heartbeat& m) {
    return fb::CreateHeartbeat(b, m.sentNs, m.echoNs).Union();
}

Body build(Builder& b, const Refusal& m) {
    return fb::CreateRefusal(b, m.code, flatText(b, m.message)).Union();
}

// The variant's order must be the union's; encoding and decoding both rely on it.
fb::MessageBody typeOf(const Message& message) {
    static_assert(std::variant_size_v<Message> == size_t(fb::MessageBody::MAX));
    return fb::MessageBody(message.index() + 1);
}

} // namespace

std::vector<std::byte> encodeMessage(const Message& message) {
    Builder builder(256);
    const Body body = std::visit([&](const auto& m) { return build(builder, m); }, message);
    builder.Finish(fb::CreateMessageRoot(builder, typeOf(message), body));
    return bytesOf(builder);
}

std::vector<std::byte> frameMessage(const Message& message) {
    std::vector<std::byte> frame;
    appendFrame(frame, encodeMessage(message));
    return frame;
}

} // namespace rm
