// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/image_findings.h"

#include "shared/io/clock.h"
#include "trainer/train/data/text/tokenizer.h"
#include "trainer/train/workloads/resnet/image_codecs.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace rm {
namespace {

constexpr int64_t kThumbnail = 64; ///< pixels of a side

/// The order in which pictures are shown.
bool comesBefore(const ImageFindings::Picture& a, const ImageFindings::Picture& b) {
    const bool isWrongA = a.label != a.guess, isWrongB = b.label != b.guess;
    if (isWrongA != isWrongB)
        return isWrongA;
    if (a.certainty != b.certainty)
        return isWrongA ? a.certainty > b.certainty : a.certainty < b.certainty;
    return a.index < b.index;
}

/// The name of a class, or its number where it has none.
/// Rows of R, G, B of a picture that is no larger than a thumbnail.
at::Tensor shrunk(const at::Tensor& pixels) {
    at::Tensor picture = pixels.unsqueeze(0);
    const int64_t height = pixels.size(1), width = pixels.size(2);
    const int64_t longer = std::max(height, width);
    if (longer > kThumbnail) {
        const auto scaled = [longer](int64_t side) {
            return std::max<int64_t>(1, side * kThumbnail / longer);
        };
        picture = at::_upsample_bilinear2d_aa(picture.to(at::kFloat),
                                              {scaled(height), scaled(width)}, false)
                      .round()
                      .clamp(0, 255)
                      .to(at::kByte);
    }
    return picture[0].permute({1, 2, 0}).contiguous();
}

} // namespace

std::string className(int64_t number, const std::vector<std::string>& names) {
    const auto at = static_cast<size_t>(number);
    return at < names.size() && !names[at].empty() ? names[at] : std::to_string(number);
}

ImageFindings::ImageFindings(int64_t classes, int64_t most)
    : m_classes(classes)
    , m_most(static_cast<size_t>(most)) {
    if (classes <= kMostClasses)
        m_counts = at::zeros({classes, classes}, at::kLong);
}

void ImageFindings::add(const at::Tensor& logits, const Batch& batch) {
    const at::Tensor chances = at::softmax(logits.to(at::kCPU, at::kFloat), 1);
    const auto [certainty, guess] = chances.max(1);
    const auto certainties = certainty.accessor<float, 1>();
    const auto guesses = guess.accessor<int64_t, 1>();
    const auto labels = batch.tensors[1].accessor<int64_t, 1>();
    const auto indices = batch.tensors[2].accessor<int64_t, 1>();
    for (int64_t row = 0; row < guesses.size(0); ++row) {
        if (m_counts.defined())
            m_counts.accessor<int64_t, 2>()[labels[row]][guesses[row]] += 1;
        Picture picture{indices[row], labels[row], guesses[row], certainties[row], {}};
        if (!isWanted(picture))
            continue;
        picture.pixels = batch.tensors[0][row].clone();
        keep(std::move(picture));
    }
}

bool ImageFindings::isWanted(const Picture& picture) const {
    return m_pictures.size() < m_most || (m_most > 0 && comesBefore(picture, m_pictures.back()));
}

void ImageFindings::keep(Picture picture) {
    const auto at = std::ranges::upper_bound(m_pictures, picture, comesBefore);
    m_pictures.insert(at, std::move(picture));
    if (m_pictures.size() > m_most)
        m_pictures.pop_back();
}

void ImageFindings::sum(const World& world) {
    if (m_counts.defined())
        world.sum(m_counts);
}

/// All classes, or those that take part in the most mistakes.
std::vector<int64_t> ImageFindings::chosenClasses() const {
    std::vector<int64_t> chosen(static_cast<size_t>(m_classes));
    std::iota(chosen.begin(), chosen.end(), int64_t{0});
    if (chosen.size() <= kMaxConfused)
        return chosen;
    const at::Tensor wrong = m_counts.sum(0) + m_counts.sum(1) - 2 * m_counts.diagonal();
    const auto mistakes = wrong.accessor<int64_t, 1>();
    std::ranges::stable_sort(chosen,
                             [&](int64_t a, int64_t b) { return mistakes[a] > mistakes[b]; });
    chosen.resize(kMaxConfused);
    std::ranges::sort(chosen);
    return chosen;
}

std::optional<ConfusionMatrix>
ImageFindings::confusion(int64_t step, const std::vector<std::string>& names) const {
    constexpr size_t kLongestName = 80; // bytes
    if (!m_counts.defined())
        return std::nullopt;
    ConfusionMatrix matrix{step, wallNowNs(), m_classes, {}, {}};
    const std::vector<int64_t> chosen = chosenClasses();
    for (const int64_t each : chosen)
        matrix.names.push_back(toValidUtf8(className(each, names).substr(0, kLongestName)));
    const size_t side = matrix.side();
    std::vector<size_t> rowOf(static_cast<size_t>(m_classes), side - 1);
    for (size_t row = 0; row < chosen.size(); ++row)
        rowOf[static_cast<size_t>(chosen[row])] = row;
    std::vector<uint64_t> counts(side * side);
    const auto all = m_counts.accessor<int64_t, 2>();
    for (int64_t label = 0; label < m_classes; ++label)
        for (int64_t guess = 0; guess < m_classes; ++guess)
            counts[rowOf[static_cast<size_t>(label)] * side + rowOf[static_cast<size_t>(guess)]] +=
                static_cast<uint64_t>(all[label][guess]);
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    for (const uint64_t count : counts)
        matrix.counts.push_back(static_cast<uint32_t>(std::min(count, kMost)));
    return matrix;
}

SampleText pictureSample(const ImageFindings::Picture& picture, int64_t step,
                         const std::string& file, const std::vector<std::string>& names) {
    SampleText sample{step, wallNowNs(), file, className(picture.guess, names)};
    sample.kind = SampleKind::kPicture;
    sample.reference = className(picture.label, names);
    sample.score = picture.certainty;
    const at::Tensor small = shrunk(picture.pixels);
    auto jpeg = encodeJpeg(small.const_data_ptr<uint8_t>(), small.size(1), small.size(0));
    if (jpeg.size() <= kMaxPicture)
        sample.picture = std::move(jpeg);
    return sample;
}

} // namespace rm
