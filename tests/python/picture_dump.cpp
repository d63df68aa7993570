// SPDX-License-Identifier: Apache-2.0
// picture_dump LIST OUT: reads pictures as the trainer does, one for each line of LIST,
//   view SIZE X Y WIDTH HEIGHT REDUCTION FLIP PATH
//   centre SIZE PATH
// into one safetensors file: line n becomes tensor "n", uint8 (SIZE, SIZE, 3).
#include "shared/io/file.h"
#include "tests/python/dump.h"
#include "trainer/train/workloads/resnet/image_view.h"

#include <ATen/ops/empty.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace {

rm::Result<at::Tensor> readLine(const std::string& line) {
    std::istringstream words(line);
    std::string kind, path;
    int64_t size = 0;
    rm::TrainingView view;
    words >> kind >> size;
    if (kind == "view")
        words >> view.crop.x >> view.crop.y >> view.crop.width >> view.crop.height >>
            view.reduction >> view.flip;
    words >> path;
    const auto bytes = rm::readFile(path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    const auto reader = rm::ImageReader::open(std::as_bytes(std::span<const char>(*bytes)));
    if (!reader)
        return rm::failAs("read " + path, reader.error());
    const at::Tensor out = at::empty({1, 3, size, size}, at::TensorOptions(at::kByte),
                                     at::MemoryFormat::ChannelsLast)[0];
    const auto read =
        kind == "view" ? rm::readView(**reader, view, out) : rm::readCentre(**reader, out);
    if (!read)
        return rm::failAs("read " + path, read.error());
    return out.permute({1, 2, 0});
}

rm::Result<void> run(const char* list, const char* out) {
    rm::test::Named views;
    std::ifstream lines(list);
    for (std::string line; std::getline(lines, line);) {
        const auto tensor = readLine(line);
        if (!tensor)
            return tl::unexpected(tensor.error());
        views.emplace_back(std::to_string(views.size()), *tensor);
    }
    return rm::test::save(out, views);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: picture_dump LIST OUT\n", stderr);
        return 2;
    }
    return rm::test::ended(run(argv[1], argv[2]));
}
