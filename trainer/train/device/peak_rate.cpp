// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/peak_rate.h"

#include <cctype>

namespace rm {

namespace {

struct PeakRate {
    std::string_view name; ///< stands in the GPU's as words of its own
    double tflops;
    bool hasBfloat16 = true;
};

/// The first whose name fits counts.
constexpr PeakRate kPeakRates[] = {
    {"B200", 2250},
    {"GH200", 989},
    {"H200 NVL", 835},
    {"H200", 989},
    {"H100 PCIe", 756},
    {"H100 NVL", 835},
    {"H100", 989},
    {"H800 PCIe", 756},
    {"H800", 989},
    {"A100", 312},
    {"A800", 312},
    {"A40", 149.7},
    {"A30", 165},
    {"L40S", 362},
    {"L40", 181},
    {"RTX 6000 Ada", 364},
    {"RTX A6000", 154.8},
    {"RTX 4090", 165.2},
    {"RTX 3090 Ti", 80},
    {"RTX 3090", 71},
    {"V100-PCIE", 112, false},
    {"V100-SXM2", 125, false},
    {"Tesla T4", 65, false},
};

bool hasWords(std::string_view text, std::string_view words) {
    const auto isLetter = [&](size_t at) {
        return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    for (size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1))
        if ((at == 0 || !isLetter(at - 1)) && !isLetter(at + words.size()))
            return true;
    return false;
}

/// Whether a virtual machine has it, as "NVIDIA A40-48Q": a part of a GPU. Others have hyphens
/// before SXM or PCIE, and sizes that end in GB.
bool isVirtual(std::string_view gpu) {
    const size_t hyphen = gpu.rfind('-');
    const std::string_view profile =
        hyphen == std::string_view::npos ? std::string_view() : gpu.substr(hyphen + 1);
    return profile.size() > 1 && std::isdigit(static_cast<unsigned char>(profile.front())) != 0 &&
           profile.back() != 'B';
}

/// A part of a GPU, or a slower one that is called like it.
bool isLesser(std::string_view gpu) {
    return isVirtual(gpu) || hasWords(gpu, "GRID") || hasWords(gpu, "MIG") ||
           hasWords(gpu, "Laptop") || hasWords(gpu, "4090 D");
}

} // namespace

std::optional<double> peakTflops(std::string_view gpu, const std::string& precision) {
    const bool isBfloat16 = precision == "bfloat16";
    if ((!isBfloat16 && precision != "float16") || isLesser(gpu))
        return std::nullopt;
    for (const PeakRate& known : kPeakRates)
        if (hasWords(gpu, known.name))
            return isBfloat16 && !known.hasBfloat16 ? std::nullopt : std::optional(known.tflops);
    return std::nullopt;
}

} // namespace rm
