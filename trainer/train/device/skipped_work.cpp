// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/skipped_work.h"

#include <ATen/OpMathType.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace rm {
namespace {

using torch::jit::Stack;

// A dispatch key below autograd that LibTorch itself does not use (torchdistx used it for fake
// tensors).
constexpr auto kKey = c10::DispatchKey::Fake;

/// Allocates the results of an operation from its arguments.
using Rule = std::vector<at::Tensor> (*)(at::ArrayRef<at::IValue> arguments);

bool isWanted(const at::IValue& mask, size_t index) {
    return mask.toBoolList().get(index);
}

at::Tensor ifWanted(bool wanted, const at::Tensor& like) {
    return wanted ? at::empty_like(like) : at::Tensor();
}

at::Tensor vectorOf(const at::Tensor& x, int64_t size) {
    return at::empty({size}, x.options());
}

/// x, normalized_shape, weight, bias, eps
std::vector<at::Tensor> layerNorm(at::ArrayRef<at::IValue> in) {
    const at::Tensor& x = in[0].toTensor();
    std::vector<int64_t> perRow = x.sizes().vec();
    const size_t normalized = in[1].toIntVector().size();
    std::fill(perRow.end() - static_cast<ptrdiff_t>(normalized), perRow.end(), 1);
    return {at::empty(x.sizes(), x.options()), at::empty(perRow, x.options()),
            at::empty(perRow, x.options())};
}

/// dy, x, normalized_shape, mean, rstd, weight, bias, mask
std::vector<at::Tensor> layerNormBackward(at::ArrayRef<at::IValue> in) {
    const at::IValue& mask = in[7];
    return {ifWanted(isWanted(mask, 0), in[1].toTensor()),
            ifWanted(isWanted(mask, 1), in[5].toTensor()),
            ifWanted(isWanted(mask, 2), in[6].toTensor())};
}

/// x, weight, bias, running mean, running variance, ...
std::vector<at::Tensor> batchNorm(at::ArrayRef<at::IValue> in) {
    const at::Tensor& x = in[0].toTensor();
    return {at::empty_like(x), vectorOf(x, x.size(1)), vectorOf(x, x.size(1))};
}

/// dy, x, weight, running mean, running variance, mean, rstd, training, eps, mask
std::vector<at::Tensor> batchNormBackward(at::ArrayRef<at::IValue> in) {
    const at::Tensor& x = in[1].toTensor();
    const at::IValue& mask = in[9];
    return {ifWanted(isWanted(mask, 0), x),
            isWanted(mask, 1) ? vectorOf(x, x.size(1)) : at::Tensor(),
            isWanted(mask, 2) ? vectorOf(x, x.size(1)) : at::Tensor()};
}

/// The values for height and width; a single number stands for both.
std::vector<int64_t> forBoth(const at::IValue& argument) {
    std::vector<int64_t> values = argument.toIntVector();
    values.resize(2, values.front());
    return values;
}

/// Allocates a copy of a weight, as oneDNN has a layout of its own.
void reorder(const at::Tensor& weight) {
    const at::Tensor reordered = at::empty_like(weight);
}

/// x, weight, bias, stride, padding, dilation, ...
std::vector<at::Tensor> convolution(at::ArrayRef<at::IValue> in) {
    const at::Tensor& x = in[0].toTensor();
    const at::Tensor& weight = in[1].toTensor();
    const auto sizes = at::native::conv_output_size(x.sizes(), weight.sizes(), forBoth(in[4]),
                                                    forBoth(in[3]), forBoth(in[5]));
    reorder(weight);
    return {at::empty(sizes, x.options(), weight.suggest_memory_format())};
}

/// oneDNN's result, which ATen makes contiguous and then channels-last; all three exist at once.
at::Tensor convolutionWeightGradient(const at::Tensor& weight) {
    const at::Tensor given = at::empty_like(weight);
    const at::Tensor contiguous = at::empty(weight.sizes(), weight.options());
    return at::empty_like(weight);
}

/// dy, x, weight, bias sizes, stride, padding, dilation, transposed, output padding, groups, mask
std::vector<at::Tensor> convolutionBackward(at::ArrayRef<at::IValue> in) {
    const at::Tensor& weight = in[2].toTensor();
    const at::IValue& mask = in[10];
    const at::Tensor ofX = ifWanted(isWanted(mask, 0), in[1].toTensor());
    reorder(weight);
    return {ofX, isWanted(mask, 1) ? convolutionWeightGradient(weight) : at::Tensor(),
            isWanted(mask, 2) ? vectorOf(weight, weight.size(0)) : at::Tensor()};
}

/// (B, H, T, C) that lies in memory as (B, T, H, C)
at::Tensor byToken(const at::Tensor& x, int64_t width) {
    return at::empty({x.size(0), x.size(2), x.size(1), width}, x.options()).transpose(1, 2);
}

/// query, key, value, ...; the second result is the logsumexp (B, H, T).
std::vector<at::Tensor> attention(at::ArrayRef<at::IValue> in) {
    const at::Tensor& query = in[0].toTensor();
    const auto sums = query.options().dtype(at::toOpMathType(query.scalar_type()));
    return {byToken(query, in[2].toTensor().size(3)),
            at::empty({query.size(0), query.size(2), query.size(1)}, sums).transpose(1, 2)};
}

/// dy, query, key, value, ...
std::vector<at::Tensor> attentionBackward(at::ArrayRef<at::IValue> in) {
    std::vector<at::Tensor> gradients;
    for (size_t i = 1; i <= 3; ++i)
        gradients.push_back(byToken(in[i].toTensor(), in[i].toTensor().size(3)));
    return gradients;
}

/// x, dimension, indices
std::vector<at::Tensor> indexSelect(at::ArrayRef<at::IValue> in) {
    const at::Tensor& x = in[0].toTensor();
    std::vector<int64_t> sizes = x.sizes().vec();
    sizes[static_cast<size_t>(at::maybe_wrap_dim(in[1].toInt(), x.dim()))] =
        in[2].toTensor().numel();
    return {at::empty(sizes, x.options())};
}

/// dy, indices, rows, ...
std::vector<at::Tensor> embeddingBackward(at::ArrayRef<at::IValue> in) {
    const at::Tensor& gradient = in[0].toTensor();
    return {at::empty({in[2].toInt(), gradient.size(-1)}, gradient.options())};
}

/// x, p, train
std::vector<at::Tensor> dropout(at::ArrayRef<at::IValue> in) {
    const at::Tensor& x = in[0].toTensor();
    return {at::empty_like(x), at::empty_like(x, x.options().dtype(at::kBool))};
}

/// Rules for operations whose results ATen cannot tell from shapes alone.
const std::unordered_map<std::string_view, Rule>& rules() {
    static const std::unordered_map<std::string_view, Rule> all = {
        {"aten::native_layer_norm", layerNorm},
        {"aten::native_layer_norm_backward", layerNormBackward},
        {"aten::native_batch_norm", batchNorm},
        {"aten::native_batch_norm_backward", batchNormBackward},
        {"aten::convolution", convolution},
        {"aten::convolution_backward", convolutionBackward},
        {"aten::_scaled_dot_product_flash_attention_for_cpu", attention},
        {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", attentionBackward},
        {"aten::index_select", indexSelect},
        {"aten::embedding_dense_backward", embeddingBackward},
        {"aten::native_dropout", dropout},
    };
    return all;
}

bool isFloating(const at::Tensor& tensor) {
    return tensor.defined() && at::isFloatingType(tensor.scalar_type());
}

bool touchesFloating(at::ArrayRef<at::IValue> arguments) {
    return std::ranges::any_of(arguments, [](const at::IValue& argument) {
        if (argument.isTensor())
            return isFloating(argument.toTensor());
        return argument.isTensorList() &&
               std::ranges::any_of(argument.toTensorVector(), isFloating);
    });
}

/// How an operation's results relate to its arguments.
enum class Kind { kMakes, kWrites, kOther };

Kind kindOf(const c10::FunctionSchema& schema) {
    static const std::unordered_set<std::string_view> kChangeTensorsThemselves = {
        "aten::resize_", "aten::set_", "aten::_resize_output_"};
    const auto& returns = schema.returns();
    if (kChangeTensorsThemselves.contains(schema.name()))
        return Kind::kOther;
    const auto& arguments = schema.arguments();
    const bool writes = std::ranges::any_of(arguments, [](const c10::Argument& argument) {
        return argument.alias_info() && argument.alias_info()->isWrite();
    });
    const bool areAliases = std::ranges::any_of(
        returns, [](const c10::Argument& result) { return result.alias_info() != nullptr; });
    if (writes)
        return Kind::kWrites;
    const bool areTensors = std::ranges::all_of(returns, [](const c10::Argument& result) {
        return result.type()->kind() == c10::TypeKind::TensorType;
    });
    return areAliases || !areTensors || returns.empty() ? Kind::kOther : Kind::kMakes;
}

/// The arguments that are written to, as an operation returns them.
Stack written(const c10::FunctionSchema& schema, at::ArrayRef<at::IValue> arguments) {
    Stack results;
    for (size_t i = 0; i < arguments.size() && results.size() < schema.returns().size(); ++i)
        if (const auto* alias = schema.arguments()[i].alias_info(); alias && alias->isWrite())
            results.push_back(arguments[i]);
    return results;
}

at::Tensor shapeOf(const at::Tensor& tensor) {
    return tensor.defined() ? at::empty_strided(tensor.sizes(), tensor.strides(),
                                                tensor.options().device(at::kMeta))
                            : tensor;
}

at::IValue shapesOf(const at::IValue& argument) {
    if (argument.isTensor())
        return shapeOf(argument.toTensor());
    if (argument.isDevice())
        return c10::Device(at::kMeta);
    if (argument.isTensorList()) {
        c10::List<at::Tensor> shapes;
        for (const at::Tensor& tensor : argument.toTensorVector())
            shapes.push_back(shapeOf(tensor));
        return shapes;
    }
    if (argument.isOptionalTensorList()) {
        c10::List<std::optional<at::Tensor>> shapes;
        for (const std::optional<at::Tensor>& tensor : argument.toOptionalTensorVector())
            shapes.push_back(tensor ? std::optional(shapeOf(*tensor)) : std::nullopt);
        return shapes;
    }
    return argument;
}

/// The results as ATen derives them from shapes; nullopt: it cannot.
std::optional<std::vector<at::Tensor>> fromShapes(const c10::OperatorHandle& op,
                                                  at::ArrayRef<at::IValue> arguments) {
    if (!op.hasKernelForDispatchKey(c10::DispatchKey::Meta))
        return std::nullopt;
    Stack stack;
    for (const at::IValue& argument : arguments)
        stack.push_back(shapesOf(argument));
    const c10::impl::ExcludeDispatchKeyGuard plainly(kKey);
    op.callBoxed(stack);
    std::vector<at::Tensor> results;
    for (const at::IValue& result : stack) {
        const at::Tensor& shape = result.toTensor();
        results.push_back(shape.defined() ? at::empty_strided(shape.sizes(), shape.strides(),
                                                              shape.options().device(at::kCPU))
                                          : shape);
    }
    return results;
}

std::optional<std::vector<at::Tensor>> resultsOf(const c10::OperatorHandle& op,
                                                 at::ArrayRef<at::IValue> arguments) {
    const auto rule = rules().find(op.schema().name());
    return rule != rules().end() ? rule->second(arguments) : fromShapes(op, arguments);
}

void insteadOf(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    const auto& schema = op.schema();
    const Stack arguments(stack->end() - static_cast<ptrdiff_t>(schema.arguments().size()),
                          stack->end());
    const Kind kind = touchesFloating(arguments) ? kindOf(schema) : Kind::kOther;
    const auto answer = [&](auto results) {
        torch::jit::drop(*stack, arguments.size());
        for (auto& result : results)
            stack->emplace_back(std::move(result));
    };
    if (kind == Kind::kWrites)
        return answer(written(schema, arguments));
    if (kind == Kind::kMakes)
        if (auto results = resultsOf(op, arguments))
            return answer(std::move(*results));
    op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey), stack);
}

TORCH_LIBRARY_IMPL(_, Fake, library) {
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&insteadOf>());
}

} // namespace

SkippedWork::SkippedWork()
    : m_key(kKey) {}

bool isWorkSkipped() {
    return c10::impl::tls_is_dispatch_key_included(kKey);
}

} // namespace rm
