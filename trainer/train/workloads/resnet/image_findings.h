// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/model/batch.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The name of a class, or its number where it has none.
std::string className(int64_t number, const std::vector<std::string>& names);

/// What one validation found of single pictures: how often each class was taken for which, and the
/// pictures that are worth a look. On the host; costs a few bytes a picture.
class ImageFindings {
public:
    /// Models with more classes have no confusion matrix: its counts would take 8 MB and more.
    static constexpr int64_t kMostClasses = 1024;

    /// Keeps at most `most` pictures.
    ImageFindings(int64_t classes, int64_t most);

    /// `logits` (B, classes), on any device, of `batch`: a batch of ValidationImages on the host.
    void add(const at::Tensor& logits, const Batch& batch);
    /// Adds up the counts of all ranks, which call it together. Pictures stay this rank's own.
    void sum(const World& world);

    /// A misclassified picture, or else one that is right.
    struct Picture {
        int64_t index = 0; ///< in the folder
        int64_t label = 0;
        int64_t guess = 0;
        float certainty = 0; ///< the probability of the guess
        at::Tensor pixels;   ///< uint8 (3, H, W)
    };
    /// The misclassified ones, those of which the model was surest first; then the others, the
    /// least certain first.
    const std::vector<Picture>& pictures() const { return m_pictures; }

    /// Has the kMaxConfused classes with the most mistakes, in the order of their numbers; `names`
    /// by class. nullopt: there are too many classes.
    std::optional<ConfusionMatrix> confusion(int64_t step,
                                             const std::vector<std::string>& names) const;

private:
    bool isWanted(const Picture& picture) const;
    void keep(Picture picture);
    std::vector<int64_t> chosenClasses() const;

    int64_t m_classes;
    size_t m_most;
    at::Tensor m_counts; ///< int64 (classes, classes): label, guess; undefined: too many
    std::vector<Picture> m_pictures;
};

/// The picture as a sample: `file` is its name for people.
SampleText pictureSample(const ImageFindings::Picture& picture, int64_t step,
                         const std::string& file, const std::vector<std::string>& names);

} // namespace rm
