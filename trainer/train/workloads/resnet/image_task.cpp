// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/image_task.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/data/batch_feed.h"
#include "trainer/train/data/data_identity.h"
#include "trainer/train/data/text/tokenizer.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/dist/agree.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace rm {
namespace {

constexpr int64_t kTop = 5;

std::vector<std::string> readableNames(const std::vector<std::string>& names) {
    std::vector<std::string> readable;
    for (const std::string& name : names)
        readable.push_back(toValidUtf8(name));
    return readable;
}

int64_t classCount(const RunSpec& spec, const ImageFolder& folder) {
    const auto found = static_cast<int64_t>(folder.classes().size());
    return spec.model.classes == 0 ? found : spec.model.classes;
}

ResNet::Settings settingsOf(const RunSpec& spec, const ImageFolder& folder) {
    return {spec.model.type,
            classCount(spec, folder),
            readableNames(folder.classes()),
            spec.model.imageSize,
            spec.train.labelSmoothing,
            spec.model.syncBatchNorm,
            spec.train.activationCheckpointing};
}

/// The class numbers of a checkpoint must mean the same classes as the folder's.
Result<void> checkClasses(const std::string& checkpoint, const std::vector<std::string>& here) {
    const std::vector<std::string> there = classesOf(checkpoint);
    if (there.empty() || there == here)
        return {};
    const auto differs =
        static_cast<size_t>(std::ranges::mismatch(there, here).in1 - there.begin());
    const auto name = [differs](const std::vector<std::string>& names) {
        return differs < names.size() ? "\"" + names[differs] + "\"" : std::string("none");
    };
    return fail(ErrorCode::kInvalid,
                "resume from " + checkpoint + ": its classes are not those of data.train: number " +
                    std::to_string(differs) + " is " + name(there) + " there and " + name(here) +
                    " here; give it the folders that it was trained on, or "
                    "start without it");
}

/// Sums of a validation so far: loss, first right, among the first five, pictures.
struct Tally {
    at::Tensor sums = at::zeros({4}, at::kDouble);

    void add(const at::Tensor& logits, const at::Tensor& labels) {
        const at::Tensor scores = logits.to(at::kFloat);
        const at::Tensor loss = at::cross_entropy_loss(scores, labels, {}, at::Reduction::Sum);
        const at::Tensor best = std::get<1>(at::topk(scores, std::min(kTop, scores.size(1)), 1));
        const at::Tensor hits = best.eq(labels.unsqueeze(1));
        sums[0] += loss.item<double>();
        sums[1] += hits.select(1, 0).sum().item<double>();
        sums[2] += hits.sum().item<double>();
        sums[3] += static_cast<double>(labels.size(0));
    }

    double mean(int64_t of) const { return sums[of].item<double>() / sums[3].item<double>(); }
};

} // namespace

std::vector<std::string> classesOf(const std::string& checkpoint) {
    std::vector<std::string> names;
    const auto config = parseJson(checkpointText(checkpoint, "config.json"), checkpoint);
    if (!config || !config->contains("pretrained_cfg"))
        return names;
    if (const Json* labels = arrayAt(config->at("pretrained_cfg"), "label_names"))
        for (const Json& label : *labels)
            names.push_back(label.is_string() ? label.get<std::string>() : std::string());
    return names;
}

struct ImageTask::Folders {
    ImageFolder training;
    ImageFolder validation;

    std::string identity() const { return training.identity() + " " + validation.identity(); }
    /// By rank 0 alone, whose checkpoints have it: where homes are slow, each look costs.
    std::string content() const { return training.content() + " " + validation.content(); }
};

/// This rank's view of the folders, checked against the spec.
Result<ImageTask::Folders> ImageTask::scan(const Session& session) {
    const RunSpec& spec = session.spec;
    const std::string& start = session.options.startFrom;
    const Others others = start.empty() ? Others::kRefused : Others::kLeftOut;
    RM_ASSIGN_OR_RETURN(auto training, ImageFolder::scan(spec.data.train, others));
    if (session.world.isFirst() && !start.empty())
        RM_RETURN_IF_ERROR(checkClasses(start, readableNames(training.classes())));
    const auto found = static_cast<int64_t>(training.classes().size());
    if (classCount(spec, training) < found)
        return fail(ErrorCode::kInvalid, "read training data: it has " + std::to_string(found) +
                                             " classes, model.classes is " +
                                             std::to_string(spec.model.classes));
    if (spec.data.validation.empty()) {
        auto [rest, heldOut] = training.split(spec.data.validationShare);
        return Folders{std::move(rest), std::move(heldOut)};
    }
    RM_ASSIGN_OR_RETURN(auto validation, ImageFolder::scan(spec.data.validation, others));
    RM_ASSIGN_OR_RETURN(auto relabelled, validation.relabelled(training.classes()));
    return Folders{std::move(training), std::move(relabelled)};
}

Result<std::unique_ptr<Task>> ImageTask::create(const Session& session) {
    auto folders = scan(session);
    const auto mine =
        folders ? Result<std::string>(folders->identity()) : tl::unexpected(folders.error());
    RM_RETURN_IF_ERROR(agreeAmongAll(session.world, mine, "read training data: the pictures"));
    const std::string identity =
        session.world.isFirst() ? withContent(*mine, folders->content()) : *mine;
    return std::unique_ptr<Task>(new ImageTask(session, std::move(*folders), identity));
}

ImageTask::ImageTask(const Session& session, Folders folders, std::string identity)
    : Task(session)
    , m_training(std::move(folders.training), session.spec.model.imageSize,
                 static_cast<uint64_t>(session.spec.seed))
    , m_model(settingsOf(session.spec, m_training.folder()), session.world) {
    const RunSpec& spec = session.spec;
    m_dataIdentity = std::move(identity);
    m_classNames = readableNames(m_training.folder().classes());
    if (folders.validation.count() > 0)
        m_validation.emplace(std::move(folders.validation), spec.model.imageSize,
                             spec.validation.batches * spec.train.batchSize);
}

/// Broadcasts rank 0's buffers, as DistributedDataParallel does before each forward pass. Training
/// does not read them, so once before they are used is enough.
void ImageTask::shareBuffers() {
    std::vector<at::Tensor> buffers;
    for (const Buffer& buffer : m_model.buffers())
        buffers.push_back(buffer.value);
    m_session.world.broadcast(buffers);
}

void ImageTask::noteBad(const Batch& batch) {
    for (const BadSample& bad : batch.bad)
        if (m_bad.insert(bad.path).second)
            m_session.event(Severity::kWarning, "bad-sample",
                            "read " + bad.path + ": " + bad.cause + "; not validated with", -1);
}

std::vector<Figure> ImageTask::validate() {
    if (!m_validation)
        return {};
    const at::NoGradGuard noGrad;
    shareBuffers();
    const BatchPartition partition(batchSizes(), 1);
    BatchFeed feed(*m_validation, partition, m_session.world.rank(), 0,
                   {readers(), m_session.device.at, std::nullopt});
    Tally tally;
    std::optional<ImageFindings> findings = wantedFindings();
    for (int64_t at = 0; at < m_validation->epochSize(); at += partition.positionsPerStep()) {
        auto read = feed.next();
        if (!read)
            continue;
        noteBad(*read);
        if (read->targets == 0)
            continue;
        const Batch onHost = *read;
        const Batch batch = toDevice(std::move(*read), m_session.device);
        const Autocast autocast(m_session.spec.train.precision, m_session.device);
        const at::Tensor logits = m_model.logits(normalizePictures(batch.tensors[0]), false);
        tally.add(logits, batch.tensors[1]);
        if (findings)
            findings->add(logits, onHost);
    }
    m_session.world.sum(tally.sums);
    if (findings)
        findings->sum(m_session.world);
    if (tally.sums[3].item<double>() == 0)
        return {};
    if (m_session.world.isFirst())
        m_pictured = m_confused = std::move(findings);
    return {{metric::kValidationLoss, tally.mean(0)},
            {metric::kValidationTop1, tally.mean(1)},
            {metric::kValidationTop5, tally.mean(2)}};
}

std::optional<ImageFindings> ImageTask::wantedFindings() const {
    const int64_t most = m_session.spec.validation.pictures;
    if (most == 0)
        return std::nullopt;
    return ImageFindings(classCount(m_session.spec, m_training.folder()), most);
}

std::vector<SampleText> ImageTask::samples(int64_t step) {
    std::vector<SampleText> samples;
    if (m_pictured)
        for (const ImageFindings::Picture& picture : m_pictured->pictures())
            samples.push_back(pictureSample(picture, step,
                                            toValidUtf8(m_validation->folder().path(picture.index)),
                                            m_classNames));
    m_pictured.reset();
    return samples;
}

std::optional<ConfusionMatrix> ImageTask::confusion(int64_t step) {
    const auto matrix =
        m_confused ? m_confused->confusion(step, m_classNames) : std::optional<ConfusionMatrix>();
    m_confused.reset();
    return matrix;
}

std::string ImageTask::summary() const {
    const ImageFolder& folder = m_training.folder();
    return std::to_string(folder.classes().size()) + " classes, " + std::to_string(folder.count()) +
           " training and " + std::to_string(m_validation ? m_validation->folder().count() : 0) +
           " validation pictures";
}

} // namespace rm
