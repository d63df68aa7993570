// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/foreign_weights.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace rm {
namespace {

void stripPrefix(Weights& weights, const std::string& prefix) {
    const auto has = [&](const Weight& weight) { return weight.name.starts_with(prefix); };
    if (weights.empty() || !std::ranges::all_of(weights, has))
        return;
    for (Weight& weight : weights)
        weight.name.erase(0, prefix.size());
}

std::string shapeText(at::IntArrayRef shape) {
    std::string text = "(";
    for (const int64_t size : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + ")";
}

std::string joined(const char* words, const std::vector<std::string>& names) {
    if (names.empty())
        return {};
    std::string text = words;
    for (size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? " " : ", ") + names[i];
    return text;
}

bool isBias(const std::string& name) {
    return name.ends_with(".bias");
}

/// As of a model that was made without them: here they begin at zero, which computes the same.
bool hasNoBiases(const Weights& weights) {
    return std::ranges::none_of(weights, isBias, &Weight::name);
}

/// "w holds 3 values of 12 that are not finite"; empty: none does.
std::string whyNotFinite(const Weights& weights) {
    for (const auto& [name, tensor] : weights)
        if (tensor.is_floating_point() && tensor.element_size() > 1) // not for 8 bits
            if (const auto bad = tensor.numel() - tensor.isfinite().sum().item<int64_t>(); bad > 0)
                return name + " holds " + std::to_string(bad) + " values of " +
                       std::to_string(tensor.numel()) +
                       " that are not finite; take weights from before that";
    return {};
}

/// A text that lists why `weights` do not fit the model; empty: they do.
std::string mismatches(const std::map<std::string, at::Tensor>& targets, const Weights& weights) {
    std::vector<std::string> missing, extra, misshapen;
    std::set<std::string> known;
    for (const auto& [name, tensor] : weights) {
        known.insert(name);
        const auto target = targets.find(name);
        if (target == targets.end())
            extra.push_back(name);
        else if (tensor.sizes() != target->second.sizes())
            misshapen.push_back(name + " (it is " + shapeText(tensor.sizes()) + ", the model's " +
                                shapeText(target->second.sizes()) + ")");
        else if (tensor.is_floating_point() != target->second.is_floating_point())
            misshapen.push_back(name + " (it holds " + at::toString(tensor.scalar_type()) + ")");
    }
    for (const auto& [name, target] : targets)
        if (!known.contains(name))
            missing.push_back(name);
    if (hasNoBiases(weights) && std::ranges::all_of(missing, isBias))
        missing.clear();
    std::string all;
    for (const std::string& part : {joined("missing:", missing), joined("not the model's:", extra),
                                    joined("of another shape or kind:", misshapen)})
        if (!part.empty())
            all += (all.empty() ? "" : "; ") + part;
    return all;
}

} // namespace

Weight* findWeight(Weights& weights, const std::string& name) {
    const auto at = std::ranges::find(weights, name, &Weight::name);
    return at == weights.end() ? nullptr : &*at;
}

void dropEndings(Weights& weights, std::initializer_list<const char*> endings) {
    for (const char* ending : endings)
        std::erase_if(weights, [&](const Weight& weight) { return weight.name.ends_with(ending); });
}

Result<void> untie(Weights& weights, const std::string& kept, const std::string& copy,
                   const std::string& source) {
    Weight* second = findWeight(weights, copy);
    if (!second)
        return {};
    const Weight* first = findWeight(weights, kept);
    if (!first) {
        second->name = kept;
        return {};
    }
    if (second->tensor.scalar_type() != first->tensor.scalar_type() ||
        !second->tensor.equal(first->tensor))
        return fail(ErrorCode::kInvalid, "import " + source + ": " + copy + " differs from " +
                                             kept + ", to which it is tied here");
    std::erase_if(weights, [&](const Weight& weight) { return weight.name == copy; });
    return {};
}

Result<int64_t> rowsOf(const Weights& weights, const std::string& name, const std::string& source) {
    for (const Weight& weight : weights)
        if (weight.name == name && weight.tensor.dim() > 0)
            return weight.tensor.size(0);
    return fail(ErrorCode::kInvalid, "import " + source + ": it has no matrix " + name);
}

Weights withoutWrappers(Weights weights) {
    for (const char* prefix : {"module.", "_orig_mod.", "module."})
        stripPrefix(weights, prefix);
    // The attribute of Lightning's module is often called so; and a part in files of Hugging Face.
    constexpr std::array kParts{"model.embed_tokens.", "model.layers.",  "model.norm.",
                                "model.encoder.",      "model.decoder.", "model.shared."};
    const bool isPart = std::ranges::any_of(weights, [&](const Weight& weight) {
        return std::ranges::any_of(kParts,
                                   [&](const char* part) { return weight.name.starts_with(part); });
    });
    if (!isPart)
        stripPrefix(weights, "model.");
    return weights;
}

Result<void> fillModel(const Model& model, const Weights& weights, const std::string& source) {
    std::map<std::string, at::Tensor> targets;
    for (const Parameter& parameter : model.parameters())
        targets[parameter.name] = parameter.value;
    for (const Buffer& buffer : model.buffers())
        targets[buffer.name] = buffer.value;
    if (const std::string wrong = mismatches(targets, weights); !wrong.empty())
        return fail(ErrorCode::kInvalid, "import " + source + ": " + wrong);
    if (const std::string wrong = whyNotFinite(weights); !wrong.empty())
        return fail(ErrorCode::kInvalid, "import " + source + ": " + wrong);
    const at::NoGradGuard noGrad;
    if (hasNoBiases(weights))
        for (auto& [name, target] : targets)
            if (isBias(name))
                target.zero_();
    for (const auto& [name, tensor] : weights)
        targets[name].copy_(tensor);
    return {};
}

} // namespace rm
