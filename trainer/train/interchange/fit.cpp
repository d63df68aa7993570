// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/interchange/fit.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>
#include <set>

namespace rm {
namespace {

Weight* find(Weights& weights, const std::string& name) {
    const auto at = std::ranges::find(weights, name, &Weight::name);
    return at == weights.end() ? nullptr : &*at;
}

void stripPrefix(Weights& weights, const std::string& prefix) {
    const auto has = [&](const Weight& weight) { return weight.name.starts_with(prefix); };
    if (weights.empty() || !std::ranges::all_of(weights, has))
        return;
    for (Weight& weight : weights)
        weight.name.erase(0, prefix.size());
}

void dropEndings(Weights& weights, std::initializer_list<const char*> endings) {
    for (const char* ending : endings)
        std::erase_if(weights, [&](const Weight& weight) { return weight.name.ends_with(ending); });
}

/// Makes `copy` and `kept` one tensor called `kept`.
Result<void> untie(Weights& weights, const std::string& kept, const std::string& copy,
                   const std::string& source) {
    Weight* second = find(weights, copy);
    if (!second)
        return {};
    const Weight* first = find(weights, kept);
    if (!first) {
        second->name = kept;
        return {};
    }
    if (!second->tensor.equal(first->tensor))
        return fail(ErrorCode::kInvalid, "import " + source + ": " + copy + " differs from " +
                                             kept + ", to which it is tied here");
    std::erase_if(weights, [&](const Weight& weight) { return weight.name == copy; });
    return {};
}

/// Whether these are linear layers: c_attn makes three vectors of one.
bool isLinearLayout(Weights& weights) {
    const Weight* attention = find(weights, "transformer.h.0.attn.c_attn.weight");
    return attention && attention->tensor.dim() == 2 &&
           attention->tensor.size(0) > attention->tensor.size(1);
}

Result<Weights> asGpt(Weights weights, const std::string& source) {
    if (find(weights, "wte.weight"))
        for (Weight& weight : weights)
            if (!weight.name.starts_with("lm_head."))
                weight.name = "transformer." + weight.name;
    dropEndings(weights, {".attn.bias", ".attn.masked_bias"});
    if (const auto done = untie(weights, "transformer.wte.weight", "lm_head.weight", source); !done)
        return tl::unexpected(done.error());
    if (!isLinearLayout(weights))
        return weights;
    for (Weight& weight : weights)
        for (const char* layer : {".c_attn.weight", ".c_proj.weight", ".c_fc.weight"})
            if (weight.name.ends_with(layer) && weight.tensor.dim() == 2)
                weight.tensor = weight.tensor.t();
    return weights;
}

Result<Weights> asTranslation(Weights weights, const std::string& source) {
    dropEndings(weights, {".embed_positions.weight"});
    const std::string shared = "model.shared.weight";
    const std::string encoder = "model.encoder.embed_tokens.weight";
    const std::string decoder = "model.decoder.embed_tokens.weight";
    std::vector<std::pair<std::string, std::string>> ties{{decoder, "lm_head.weight"}};
    if (find(weights, shared))
        ties = {{shared, encoder}, {shared, decoder}, {shared, "lm_head.weight"}};
    for (const auto& [kept, copy] : ties)
        if (const auto done = untie(weights, kept, copy, source); !done)
            return tl::unexpected(done.error());
    return weights;
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

/// Everything that keeps `weights` from being the model's, in words; empty: nothing.
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
    std::string all;
    for (const std::string& part : {joined("missing:", missing), joined("not the model's:", extra),
                                    joined("of another shape or kind:", misshapen)})
        if (!part.empty())
            all += (all.empty() ? "" : "; ") + part;
    return all;
}

} // namespace

Result<Weights> withOurNames(Weights weights, const std::string& modelType,
                             const std::string& source) {
    for (const char* prefix : {"module.", "_orig_mod.", "module."})
        stripPrefix(weights, prefix);
    if (modelType == "gpt")
        return asGpt(std::move(weights), source);
    if (modelType == "translation")
        return asTranslation(std::move(weights), source);
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
    const at::NoGradGuard noGrad;
    for (const auto& [name, tensor] : weights)
        targets[name].copy_(tensor);
    return {};
}

} // namespace rm
