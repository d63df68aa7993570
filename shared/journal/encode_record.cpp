// SPDX-License-Identifier: Apache-2.0
#include "shared/enforce.h"
#include "shared/io/flat.h"
#include "shared/io/frame.h"
#include "shared/journal/records.h"
#include "shared/journal/records_generated.h"

namespace rm {

namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Body = flatbuffers::Offset<void>;

// A record of more samples than there are metric ids is a fault of the caller.
constexpr size_t kMaxSamples = 65536;

Body build(Builder& b, const AttemptStarted& r) {
    return fb::CreateAttemptStarted(b, r.attempt, r.rank, r.worldSize, r.startStep, r.wallNs,
                                    flatText(b, r.startFrom))
        .Union();
}

Body build(Builder& b, const MetricRegistered& r) {
    return fb::CreateMetricRegistered(
               b, r.def.id, flatText(b, r.def.name), flatText(b, r.def.unit), uint8_t(r.def.kind),
               uint8_t(r.def.scope), flatText(b, r.def.description), uint8_t(r.def.clock),
               uint8_t(r.def.direction), uint8_t(r.def.format), uint8_t(r.def.ranks), r.def.smooth,
               flatText(b, r.def.panel), r.def.place, flatText(b, r.def.label),
               flatText(b, r.def.brief))
        .Union();
}

Body build(Builder& b, const Samples& r) {
    RM_ENFORCE(r.metric.size() == r.value.size() && r.metric.size() <= kMaxSamples);
    return fb::CreateSamples(b, r.rank, r.step, r.wallNs, b.CreateVector(r.metric),
                             b.CreateVector(r.value))
        .Union();
}

Body build(Builder& b, const Event& r) {
    return fb::CreateEvent(b, r.rank, r.step, r.wallNs, uint8_t(r.severity), flatText(b, r.code),
                           flatText(b, r.message))
        .Union();
}

Body build(Builder& b, const CommandApplied& r) {
    return fb::CreateCommandApplied(b, flatText(b, r.id), flatText(b, r.kind), r.step, r.wallNs,
                                    r.ok, flatText(b, r.message))
        .Union();
}

Body build(Builder& b, const CheckpointSaved& r) {
    return fb::CreateCheckpointSaved(b, r.step, r.wallNs, flatText(b, r.path), r.bytes,
                                     r.durationMs, flatText(b, r.reason), r.validationLoss, r.best)
        .Union();
}

Body build(Builder& b, const CheckpointRemoved& r) {
    return fb::CreateCheckpointRemoved(b, r.step, r.wallNs, flatText(b, r.path)).Union();
}

Body build(Builder& b, const CheckpointCopied& r) {
    std::vector<flatbuffers::Offset<flatbuffers::String>> dropped;
    for (const std::string& folder : r.dropped)
        dropped.push_back(flatText(b, folder));
    return fb::CreateCheckpointCopied(b, r.step, r.wallNs, flatText(b, r.path),
                                      flatText(b, r.folder), b.CreateVector(dropped), r.attempt,
                                      r.bytes, flatText(b, r.reason))
        .Union();
}

Body build(Builder& b, const SettingsChanged& r) {
    std::vector<flatbuffers::Offset<fb::Setting>> settings;
    for (const auto& [key, value] : r.settings)
        settings.push_back(fb::CreateSetting(b, flatText(b, key), value));
    return fb::CreateSettingsChanged(b, r.step, r.wallNs, b.CreateVector(settings)).Union();
}

Body build(Builder& b, const StepsPlanned& r) {
    return fb::CreateStepsPlanned(b, r.lastStep).Union();
}

Body build(Builder& b, const TraceRecorded& r) {
    std::vector<std::byte> slices;
    appendTraceSlices(slices, r.slices);
    return fb::CreateTraceRecorded(
               b, r.rank, r.firstStep, r.steps, r.wallNs, r.clockNs, r.onDevice, r.last,
               b.CreateVector(reinterpret_cast<const uint8_t*>(slices.data()), slices.size()))
        .Union();
}

Body build(Builder& b, const SampleText& r) {
    RM_ENFORCE(r.picture.size() <= kMaxPicture);
    const auto prompt = flatText(b, r.prompt), text = flatText(b, r.text);
    const auto reference = r.reference.empty() ? 0 : flatText(b, r.reference);
    const auto picture =
        r.picture.empty()
            ? 0
            : b.CreateVector(reinterpret_cast<const uint8_t*>(r.picture.data()), r.picture.size());
    return fb::CreateSampleText(b, r.step, r.wallNs, prompt, text, uint8_t(r.kind), reference,
                                r.score, picture)
        .Union();
}

Body build(Builder& b, const ConfusionMatrix& r) {
    RM_ENFORCE(r.names.size() <= kMaxConfused && r.counts.size() == r.side() * r.side());
    std::vector<flatbuffers::Offset<flatbuffers::String>> names;
    for (const std::string& name : r.names)
        names.push_back(flatText(b, name));
    return fb::CreateConfusionMatrix(b, r.step, r.wallNs, r.classes, b.CreateVector(names),
                                     b.CreateVector(r.counts))
        .Union();
}

Body build(Builder& b, const RankStarted& r) {
    return fb::CreateRankStarted(b, r.attempt, r.rank, r.pid, r.wallNs).Union();
}

Body build(Builder& b, const RankExited& r) {
    return fb::CreateRankExited(b, r.attempt, r.rank, r.exitCode, r.signal, r.wallNs,
                                flatText(b, r.message), flatText(b, r.tail))
        .Union();
}

Body build(Builder& b, const AttemptEnded& r) {
    return fb::CreateAttemptEnded(b, r.attempt, uint8_t(r.outcome), r.firstFailedRank, r.exitCode,
                                  r.wallNs, flatText(b, r.message), r.resumes)
        .Union();
}

Body build(Builder& b, const AttemptPlanned& r) {
    std::vector<int32_t> nodes, firsts, ranks;
    for (const AttemptPlanned::Node& node : r.nodes) {
        nodes.push_back(node.node);
        firsts.push_back(node.firstRank);
        ranks.push_back(node.ranks);
    }
    return fb::CreateAttemptPlanned(b, r.attempt, r.wallNs, flatText(b, r.startFrom),
                                    b.CreateVector(nodes), b.CreateVector(firsts),
                                    b.CreateVector(ranks))
        .Union();
}

// The variant's order must be the union's; encoding and decoding both rely on it.
fb::RecordBody typeOf(const Record& record) {
    static_assert(std::variant_size_v<Record> == size_t(fb::RecordBody::MAX));
    return fb::RecordBody(record.index() + 1);
}

} // namespace

std::vector<std::byte> encodeRecord(const Record& record) {
    Builder builder(256);
    const Body body = std::visit([&](const auto& r) { return build(builder, r); }, record);
    builder.Finish(fb::CreateRecordRoot(builder, typeOf(record), body));
    return bytesOf(builder);
}

} // namespace rm
