// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/translation.h"

#include <ATen/ops/empty.h>

namespace rm {

Translation::Cache Translation::startCache(const at::Tensor& memory, const at::Tensor& mask,
                                           int64_t most) const {
    Cache cache;
    cache.mask = mask;
    for (const DecoderLayer& layer : m_decoder) {
        LayerCache one;
        one.sourceKeys = byHead(apply(layer.cross.key, memory));
        one.sourceValues = byHead(apply(layer.cross.value, memory));
        const std::vector<int64_t> shape{memory.size(0), m_shape.heads, most,
                                         m_shape.width / m_shape.heads};
        one.keys = at::empty(shape, one.sourceKeys.options());
        one.values = at::empty(shape, one.sourceKeys.options());
        cache.layers.push_back(std::move(one));
    }
    return cache;
}

void Translation::selectRows(Cache& cache, const at::Tensor& rows) {
    for (LayerCache& layer : cache.layers)
        for (at::Tensor* part :
             {&layer.keys, &layer.values, &layer.sourceKeys, &layer.sourceValues})
            *part = part->index_select(0, rows);
    if (cache.mask.numel() > 0)
        cache.mask = cache.mask.index_select(0, rows);
}

at::Tensor Translation::next(const at::Tensor& tokens, Cache& cache) const {
    const at::Tensor none = at::empty({0}, at::kBool);
    at::Tensor x = embed(m_targetEmbedding, tokens.unsqueeze(1), cache.length, false); // (R, 1, C)
    const int64_t seen = cache.length + 1;
    for (size_t i = 0; i < m_decoder.size(); ++i) {
        const DecoderLayer& layer = m_decoder[i];
        const LayerCache& known = cache.layers[i];
        known.keys.narrow(2, cache.length, 1).copy_(byHead(apply(layer.self.key, x)));
        known.values.narrow(2, cache.length, 1).copy_(byHead(apply(layer.self.value, x)));
        x = normOfSum(layer.selfNorm, x,
                      attend(layer.self, x, known.keys.narrow(2, 0, seen),
                             known.values.narrow(2, 0, seen), none, false));
        x = normOfSum(
            layer.crossNorm, x,
            attend(layer.cross, x, known.sourceKeys, known.sourceValues, cache.mask, false));
        x = normOfSum(layer.norm, x, feedForward(layer.rise, layer.fall, x, false));
    }
    cache.length = seen;
    return classify(x.squeeze(1));
}

} // namespace rm
