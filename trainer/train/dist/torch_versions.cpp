// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/torch_versions.h"

#include <string>
#include <unordered_map>

namespace rm {

std::shared_ptr<c10d::Reducer> makeDdpReducer(std::vector<at::Tensor> values,
                                              std::vector<std::vector<size_t>> buckets,
                                              c10::intrusive_ptr<c10d::ProcessGroup> group,
                                              int64_t bucketBytes) {
    const size_t count = values.size();
    return std::make_shared<c10d::Reducer>(
        std::move(values), std::move(buckets), std::move(group), std::vector<bool>(count, false),
        bucketBytes, /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/true,
        std::unordered_map<size_t, std::string>{}, c10d::kDefaultFirstBucketBytes
#if RM_TORCH_AT_LEAST(2, 11)
        ,
        /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
        std::vector<int64_t>{}
#endif
    );
}

} // namespace rm
