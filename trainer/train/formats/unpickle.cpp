// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/unpickle.h"

#include "shared/return_if_error.h"

#include <ATen/core/Dict.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace rm {
namespace {

using GenericDict = c10::Dict<c10::IValue, c10::IValue>;

constexpr const char* kNests[] = {"state_dict", "model_state_dict", "model"};
constexpr int kMaxNesting = 3;

/// The dict in a value, which is a dict or a tuple of a dict and its attributes.
std::optional<GenericDict> dictIn(const c10::IValue& value) {
    if (value.isGenericDict())
        return value.toGenericDict();
    if (value.isTuple() && !value.toTupleRef().elements().empty())
        return dictIn(value.toTupleRef().elements()[0]);
    return std::nullopt;
}

bool holdsTensors(const GenericDict& dict) {
    return std::any_of(dict.begin(), dict.end(), [](const auto& entry) {
        return entry.key().isString() && entry.value().isTensor();
    });
}

std::optional<GenericDict> findStateDict(const c10::IValue& value, int nesting = 0) {
    const auto dict = dictIn(value);
    if (!dict || nesting == kMaxNesting)
        return std::nullopt;
    for (const char* name : kNests)
        if (dict->contains(name))
            if (auto inner = findStateDict(dict->at(name), nesting + 1))
                return inner;
    return holdsTensors(*dict) ? dict : std::nullopt;
}

/// Bytes from the start of the storage to the end of the tensor; nullopt: the count overflows.
std::optional<size_t> extentOf(const at::Tensor& shell) {
    size_t numel = 1;
    size_t last = 0;
    bool fits = shell.storage_offset() >= 0;
    for (int64_t i = 0; i < shell.dim(); ++i) {
        const int64_t size = shell.sizes()[static_cast<size_t>(i)];
        const int64_t stride = shell.strides()[static_cast<size_t>(i)];
        fits = fits && size >= 0 && stride >= 0;
        size_t reach = 0;
        fits = fits && !__builtin_mul_overflow(numel, static_cast<size_t>(size), &numel) &&
               !__builtin_mul_overflow(static_cast<size_t>(std::max<int64_t>(size - 1, 0)),
                                       static_cast<size_t>(stride), &reach) &&
               !__builtin_add_overflow(last, reach, &last);
    }
    size_t bytes = 0;
    fits = fits && !__builtin_mul_overflow(numel, shell.itemsize(), &bytes) &&
           bytes <= static_cast<size_t>(std::numeric_limits<int64_t>::max());
    if (!fits || numel == 0)
        return fits ? std::optional<size_t>(0) : std::nullopt;
    fits = !__builtin_add_overflow(last, static_cast<size_t>(shell.storage_offset()) + 1, &last) &&
           !__builtin_mul_overflow(last, shell.itemsize(), &last);
    return fits ? std::optional(last) : std::nullopt;
}

Result<at::Tensor> fill(const at::Tensor& shell, const Unpickled& pickle, const FindStorage& find,
                        const std::string& attempt) {
    const auto extent = extentOf(shell);
    if (!extent)
        return fail(ErrorCode::kCorrupt, attempt + ": impossible shape");
    if (*extent == 0)
        return at::empty(shell.sizes(), shell.scalar_type());
    const auto key = pickle.keys.find(shell.storage().data());
    if (key == pickle.keys.end())
        return fail(ErrorCode::kCorrupt, attempt + ": it has no storage");
    RM_ASSIGN_OR_RETURN(auto bytes, find(key->second));
    if (bytes.size < *extent)
        return fail(ErrorCode::kCorrupt, attempt + ": it reaches beyond the " +
                                             std::to_string(bytes.size) + " bytes of its storage");
    const std::byte* first =
        bytes.data + static_cast<size_t>(shell.storage_offset()) * shell.itemsize();
    return at::from_blob(
        const_cast<std::byte*>(first), shell.sizes(), shell.strides(),
        [owner = bytes.owner](void*) {}, shell.scalar_type());
}

} // namespace

std::map<std::string, size_t> itemSizes(const Unpickled& pickle) {
    std::map<std::string, size_t> sizes;
    c10::IValue::HashIdentityIValues seen;
    std::vector<c10::IValue> open{pickle.root};
    while (!open.empty()) {
        const c10::IValue value = std::move(open.back());
        open.pop_back();
        if (!value.isPtrType() || !seen.insert(value).second)
            continue;
        if (value.isTensor()) {
            const auto key = pickle.keys.find(value.toTensor().storage().data());
            if (key != pickle.keys.end())
                sizes[key->second] = value.toTensor().itemsize();
        } else if (value.isTuple()) {
            const auto& parts = value.toTupleRef().elements();
            open.insert(open.end(), parts.begin(), parts.end());
        } else if (value.isList()) {
            const auto parts = value.toListRef();
            open.insert(open.end(), parts.begin(), parts.end());
        } else if (value.isGenericDict()) {
            for (const auto& entry : value.toGenericDict())
                open.push_back(entry.value());
        }
    }
    return sizes;
}

Unpickled unpickle(const PlainPickle& pickle) {
    Unpickled result;
    size_t at = 0;
    const auto read = [&](char* out, size_t size) {
        size = std::min(size, pickle.bytes.size() - at);
        std::memcpy(out, pickle.bytes.data() + at, size);
        at += size;
        return size;
    };
    const auto noTypes = [](const c10::QualifiedName& name) -> c10::StrongTypePtr {
        TORCH_CHECK(false, "it holds objects of ", name.qualifiedName());
    };
    // For now each storage is just a distinct address; its data is not touched.
    const auto placeholder = [&](const std::string& key) {
        auto* mark = new char;
        result.keys[mark] = key;
        return at::DataPtr(
            mark, mark, [](void* owned) { delete static_cast<char*>(owned); }, at::kCPU);
    };
    torch::jit::Unpickler unpickler(read, noTypes, torch::jit::ObjLoader(), placeholder,
                                    at::Device(at::kCPU));
    result.root = unpickler.parse_ivalue();
    return result;
}

Result<Weights> stateDictOf(const Unpickled& pickle, const FindStorage& find,
                            const std::string& source) {
    const auto dict = findStateDict(pickle.root);
    if (!dict)
        return fail(ErrorCode::kInvalid, "read " + source +
                                             ": it holds no state dict, neither by itself nor "
                                             "under state_dict, model_state_dict or model");
    Weights weights;
    for (const auto& entry : *dict) {
        if (!entry.key().isString() || !entry.value().isTensor())
            continue;
        const std::string& name = entry.key().toStringRef();
        RM_ASSIGN_OR_RETURN(auto tensor, fill(entry.value().toTensor(), pickle, find,
                                              "read " + source + ": " + name));
        weights.push_back({name, std::move(tensor)});
    }
    return weights;
}

} // namespace rm
