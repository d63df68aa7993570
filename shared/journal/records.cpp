// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/records.h"

#include "shared/io/flat.h"
#include "shared/journal/records_generated.h"
#include "shared/return_if_error.h"

#include <cmath>
#include <tuple>

namespace rm {

namespace {

constexpr int32_t kMaxRank = 1 << 20;

tl::unexpected<Error> corrupt(const std::string& cause) {
    return fail(ErrorCode::kCorrupt, "read record: " + cause);
}

tl::unexpected<Error> tooNew(const std::string& what, int value) {
    return fail(ErrorCode::kTooNew,
                "read record: " + what + " " + std::to_string(value) + " is of a newer release");
}

bool isRank(int32_t rank) {
    return rank >= 0 && rank < kMaxRank;
}

tl::unexpected<Error> noRank(int32_t rank) {
    return corrupt("impossible rank " + std::to_string(rank));
}

Result<Record> read(const fb::AttemptStarted& r) {
    if (!isRank(r.rank()) || r.world_size() <= r.rank())
        return noRank(r.rank());
    return AttemptStarted{r.attempt(),    r.rank(),    r.world_size(),
                          r.start_step(), r.wall_ns(), textOf(r.start_from())};
}

/// The enum fields of a metric's description, each with the greatest value that this release knows.
Result<void> checkWords(const fb::MetricRegistered& r) {
    const std::tuple<const char*, uint8_t, uint8_t> words[] = {
        {"kind", r.kind(), uint8_t(MetricKind::kCounter)},
        {"scope", r.scope(), uint8_t(MetricScope::kNode)},
        {"clock", r.clock(), uint8_t(MetricClock::kWall)},
        {"direction", r.direction(), uint8_t(MetricDirection::kHigher)},
        {"format", r.format(), uint8_t(MetricFormat::kBytes)},
        {"view of ranks", r.ranks(), uint8_t(MetricRanks::kMean)}};
    for (const auto& [word, value, greatest] : words)
        if (value > greatest)
            return tooNew(std::string("metric ") + word, value);
    return {};
}

Result<Record> read(const fb::MetricRegistered& r) {
    RM_RETURN_IF_ERROR(checkWords(r));
    const std::string name = textOf(r.name());
    if (r.id() < metric::kFirstUser || !isValidMetricName(name))
        return corrupt("impossible metric " + std::to_string(r.id()));
    return MetricRegistered{{.id = r.id(),
                             .name = name,
                             .unit = textOf(r.unit()),
                             .kind = MetricKind(r.kind()),
                             .scope = MetricScope(r.scope()),
                             .description = textOf(r.description()),
                             .clock = MetricClock(r.clock()),
                             .direction = MetricDirection(r.direction()),
                             .format = MetricFormat(r.format()),
                             .ranks = MetricRanks(r.ranks()),
                             .smooth = r.smooth(),
                             .panel = textOf(r.panel()),
                             .place = r.place(),
                             .label = textOf(r.label()),
                             .brief = textOf(r.brief())}};
}

Result<Record> read(const fb::Samples& r) {
    if (!isRank(r.rank()))
        return noRank(r.rank());
    const size_t metrics = r.metric() ? r.metric()->size() : 0;
    const size_t values = r.value() ? r.value()->size() : 0;
    if (metrics != values)
        return corrupt(std::to_string(metrics) + " metrics but " + std::to_string(values) +
                       " values");
    Samples samples{r.rank(), r.step(), r.wall_ns(), {}, {}};
    if (metrics > 0) {
        samples.metric.assign(r.metric()->begin(), r.metric()->end());
        samples.value.assign(r.value()->begin(), r.value()->end());
    }
    return samples;
}

Result<Record> read(const fb::Event& r) {
    if (r.severity() > uint8_t(Severity::kError))
        return tooNew("severity", r.severity());
    if (r.rank() != -1 && !isRank(r.rank()))
        return noRank(r.rank());
    return Event{r.rank(),         r.step(),           r.wall_ns(), Severity(r.severity()),
                 textOf(r.code()), textOf(r.message())};
}

Result<Record> read(const fb::CommandApplied& r) {
    return CommandApplied{textOf(r.id()), textOf(r.kind()), r.step(),
                          r.wall_ns(),    r.ok(),           textOf(r.message())};
}

Result<Record> read(const fb::CheckpointSaved& r) {
    return CheckpointSaved{r.step(),        r.wall_ns(),        textOf(r.path()),    r.bytes(),
                           r.duration_ms(), textOf(r.reason()), r.validation_loss(), r.best()};
}

Result<Record> read(const fb::CheckpointRemoved& r) {
    return CheckpointRemoved{r.step(), r.wall_ns(), textOf(r.path())};
}

Result<Record> read(const fb::SettingsChanged& r) {
    SettingsChanged changed{r.step(), r.wall_ns(), {}};
    if (r.settings())
        for (const fb::Setting* setting : *r.settings())
            changed.settings.push_back({textOf(setting->key()), setting->value()});
    return changed;
}

Result<Record> read(const fb::CheckpointCopied& r) {
    CheckpointCopied copied{r.step(), r.wall_ns(), textOf(r.path()), textOf(r.folder()),
                            {},       r.attempt(), r.bytes(),        textOf(r.reason())};
    if (r.dropped())
        for (const flatbuffers::String* folder : *r.dropped())
            copied.dropped.push_back(textOf(folder));
    return copied;
}

Result<Record> read(const fb::SampleText& r) {
    if (r.kind() > uint8_t(SampleKind::kPicture))
        return tooNew("kind of sample", r.kind());
    SampleText sample{r.step(),
                      r.wall_ns(),
                      textOf(r.prompt()),
                      textOf(r.text()),
                      SampleKind(r.kind()),
                      textOf(r.reference()),
                      r.score(),
                      {}};
    if (!r.picture())
        return sample;
    if (r.picture()->size() > kMaxPicture)
        return corrupt("a picture of " + std::to_string(r.picture()->size()) + " bytes");
    const auto bytes = std::as_bytes(std::span(r.picture()->data(), r.picture()->size()));
    sample.picture.assign(bytes.begin(), bytes.end());
    return sample;
}

Result<Record> read(const fb::ConfusionMatrix& r) {
    ConfusionMatrix matrix{r.step(), r.wall_ns(), r.classes(), {}, {}};
    const size_t names = r.names() ? r.names()->size() : 0;
    const size_t counts = r.counts() ? r.counts()->size() : 0;
    if (names > kMaxConfused || r.classes() < static_cast<int64_t>(names))
        return corrupt("a confusion matrix of " + std::to_string(names) + " of " +
                       std::to_string(r.classes()) + " classes");
    for (size_t i = 0; i < names; ++i)
        matrix.names.push_back(textOf(r.names()->Get(static_cast<uint32_t>(i))));
    if (counts != matrix.side() * matrix.side())
        return corrupt("a confusion matrix of " + std::to_string(matrix.side()) + " rows with " +
                       std::to_string(counts) + " counts");
    if (counts > 0)
        matrix.counts.assign(r.counts()->begin(), r.counts()->end());
    return matrix;
}

Result<Record> read(const fb::RankStarted& r) {
    if (!isRank(r.rank()))
        return noRank(r.rank());
    return RankStarted{r.attempt(), r.rank(), r.pid(), r.wall_ns()};
}

Result<Record> read(const fb::RankExited& r) {
    if (!isRank(r.rank()))
        return noRank(r.rank());
    return RankExited{r.attempt(),         r.rank(),        r.exit_code(), r.signal(), r.wall_ns(),
                      textOf(r.message()), textOf(r.tail())};
}

Result<Record> read(const fb::AttemptEnded& r) {
    if (r.outcome() > uint8_t(Outcome::kFailed))
        return tooNew("outcome", r.outcome());
    if (r.first_failed_rank() != -1 && !isRank(r.first_failed_rank()))
        return noRank(r.first_failed_rank());
    return AttemptEnded{r.attempt(),   Outcome(r.outcome()), r.first_failed_rank(),
                        r.exit_code(), r.wall_ns(),          textOf(r.message()),
                        r.goes_on()};
}

Result<Record> read(const fb::AttemptPlanned& r) {
    AttemptPlanned planned{r.attempt(), r.wall_ns(), textOf(r.start_from()), {}};
    const size_t nodes = r.node() ? r.node()->size() : 0;
    if (!r.first_rank() || !r.ranks() || r.first_rank()->size() != nodes ||
        r.ranks()->size() != nodes)
        return corrupt("an attempt's nodes and ranks do not fit together");
    for (flatbuffers::uoffset_t i = 0; i < nodes; ++i) {
        const AttemptPlanned::Node node{r.node()->Get(i), r.first_rank()->Get(i),
                                        r.ranks()->Get(i)};
        if (!isRank(node.node) || !isRank(node.firstRank) || !isRank(node.ranks))
            return noRank(node.firstRank);
        planned.nodes.push_back(node);
    }
    return planned;
}

Result<Record> read(const fb::TraceRecorded& r) {
    if (!isRank(r.rank()))
        return noRank(r.rank());
    TraceRecorded trace{r.rank(),     r.first_step(), r.steps(), r.wall_ns(),
                        r.clock_ns(), r.on_device(),  r.last(),  {}};
    if (r.slices()) {
        const auto bytes = std::as_bytes(std::span(r.slices()->data(), r.slices()->size()));
        RM_ASSIGN_OR_RETURN(trace.slices, readTraceSlices(bytes));
    }
    return trace;
}

} // namespace

bool SampleText::operator==(const SampleText& other) const {
    const bool sameScore = score == other.score || (std::isnan(score) && std::isnan(other.score));
    return sameScore && step == other.step && wallNs == other.wallNs && prompt == other.prompt &&
           text == other.text && kind == other.kind && reference == other.reference &&
           picture == other.picture;
}

std::string sampleWords(const SampleText& sample) {
    switch (sample.kind) {
    case SampleKind::kText:
        break;
    case SampleKind::kTranslation:
        return "source: " + sample.prompt + "\ntranslation: " + sample.text +
               "\nreference: " + sample.reference;
    case SampleKind::kPicture:
        return sample.prompt + ": " + sample.reference + ", taken for " + sample.text;
    }
    return sample.prompt + sample.text;
}

bool CheckpointSaved::operator==(const CheckpointSaved& other) const {
    const bool sameLoss = validationLoss == other.validationLoss ||
                          (std::isnan(validationLoss) && std::isnan(other.validationLoss));
    return sameLoss && step == other.step && wallNs == other.wallNs && path == other.path &&
           bytes == other.bytes && durationMs == other.durationMs && reason == other.reason &&
           best == other.best;
}

Result<Record> decodeRecord(std::span<const std::byte> payload) {
    const AlignedPayload aligned(payload);
    const auto* root = aligned.root<fb::RecordRoot>();
    if (!root)
        return corrupt("not a FlatBuffers record");
    switch (root->body_type()) {
    case fb::RecordBody::NONE:
        return corrupt("no body");
    case fb::RecordBody::AttemptStarted:
        return read(*root->body_as_AttemptStarted());
    case fb::RecordBody::MetricRegistered:
        return read(*root->body_as_MetricRegistered());
    case fb::RecordBody::Samples:
        return read(*root->body_as_Samples());
    case fb::RecordBody::Event:
        return read(*root->body_as_Event());
    case fb::RecordBody::CommandApplied:
        return read(*root->body_as_CommandApplied());
    case fb::RecordBody::CheckpointSaved:
        return read(*root->body_as_CheckpointSaved());
    case fb::RecordBody::CheckpointRemoved:
        return read(*root->body_as_CheckpointRemoved());
    case fb::RecordBody::SampleText:
        return read(*root->body_as_SampleText());
    case fb::RecordBody::RankStarted:
        return read(*root->body_as_RankStarted());
    case fb::RecordBody::RankExited:
        return read(*root->body_as_RankExited());
    case fb::RecordBody::AttemptEnded:
        return read(*root->body_as_AttemptEnded());
    case fb::RecordBody::AttemptPlanned:
        return read(*root->body_as_AttemptPlanned());
    case fb::RecordBody::CheckpointCopied:
        return read(*root->body_as_CheckpointCopied());
    case fb::RecordBody::SettingsChanged:
        return read(*root->body_as_SettingsChanged());
    case fb::RecordBody::StepsPlanned:
        return StepsPlanned{root->body_as_StepsPlanned()->last_step()};
    case fb::RecordBody::ConfusionMatrix:
        return read(*root->body_as_ConfusionMatrix());
    case fb::RecordBody::TraceRecorded:
        return read(*root->body_as_TraceRecorded());
    }
    return tooNew("type", int(root->body_type()));
}

const char* outcomeName(Outcome outcome) {
    switch (outcome) {
    case Outcome::kFinished:
        return "finished";
    case Outcome::kPaused:
        return "paused";
    case Outcome::kStopped:
        return "stopped";
    case Outcome::kPreempted:
        return "preempted";
    case Outcome::kFailed:
        return "failed";
    }
    return "unknown";
}

} // namespace rm
