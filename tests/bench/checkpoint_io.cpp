// SPDX-License-Identifier: Apache-2.0
// checkpoint_io save FOLDER MIB: a checkpoint of that size, published in FOLDER.
// checkpoint_io load FOLDER:     the newest one, every byte checked, its tensors copied to the
// heap. checkpoint_io flip FOLDER N:   N times one bit of it is turned, looked for and turned back.
// Each prints one line of JSON.
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"

#include <ATen/Functions.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

namespace {

constexpr int64_t kTensors = 48; // and twice as many of Adam's
constexpr int64_t kSeed = 7;

using Line = rm::Result<nlohmann::json>;

double secondsSince(int64_t beganNs) {
    return static_cast<double>(rm::monotonicNowNs() - beganNs) / 1e9;
}

std::string nameOf(int64_t i) {
    return "blocks." + std::to_string(i) + ".weight";
}

std::vector<rm::NamedTensor> tensors(const char* suffix, int64_t values) {
    std::vector<rm::NamedTensor> made;
    for (int64_t i = 0; i < kTensors; ++i)
        made.push_back({nameOf(i) + suffix, at::randn({values / 1024, 1024})});
    return made;
}

/// A virtual machine's memory that was not used lately is its host's, from whom it comes at a
/// fraction of the speed: what the save will write to is there before.
rm::Result<void> warmMemory(const std::string& folder, int64_t mib) {
    const std::string path = folder + "/warm";
    RM_ASSIGN_OR_RETURN(const rm::Descriptor file,
                        rm::openFile(path, O_WRONLY | O_CREAT | O_TRUNC));
    const std::vector<std::byte> block(1 << 20);
    for (int64_t i = 0; i < mib; ++i)
        RM_RETURN_IF_ERROR(rm::writeAll(file.get(), block, path));
    ::unlink(path.c_str());
    return {};
}

Line save(const std::string& folder, int64_t mib) {
    const int64_t values = (mib << 20) / 4 / kTensors / 3;
    at::manual_seed(kSeed);
    rm::CheckpointContent content;
    content.manifest.runId = "bench";
    content.manifest.step = 1;
    content.hasSpareCore = true; // there is no training
    content.tensorFiles = {{rm::kModelFile, tensors("", values)},
                           {rm::kOptimizerFile, tensors(".exp_avg", values)}};
    for (rm::NamedTensor& one : tensors(".exp_avg_sq", values))
        content.tensorFiles[1].tensors.push_back(std::move(one));
    RM_RETURN_IF_ERROR(warmMemory(folder, 4 * mib));
    const int64_t began = rm::monotonicNowNs();
    RM_ASSIGN_OR_RETURN(const auto path, rm::saveCheckpoint(folder, content));
    const double seconds = secondsSince(began);
    RM_ASSIGN_OR_RETURN(const rm::Manifest manifest, rm::readManifest(path));
    return nlohmann::json{{"seconds", seconds}, {"bytes", manifest.bytes()}};
}

rm::Result<std::string> newestIn(const std::string& folder) {
    RM_ASSIGN_OR_RETURN(const auto entries, rm::listCheckpoints(folder));
    if (entries.empty())
        return rm::fail(rm::ErrorCode::kNotFound, "read " + folder + ": it has no checkpoint");
    return entries.back().path;
}

void dropFromCache(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY);
    ::fdatasync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
}

rm::Result<double> sumOf(const std::string& path) {
    RM_ASSIGN_OR_RETURN(const rm::SafetensorsFile file, rm::SafetensorsFile::open(path));
    double sum = 0;
    for (const rm::TensorView& view : file.tensors()) {
        const auto bytes = static_cast<int64_t>(view.data.size());
        const at::Tensor own = at::empty({bytes / 4}, at::kFloat);
        std::memcpy(own.mutable_data_ptr(), view.data.data(), view.data.size());
        sum += own[0].item<double>();
    }
    return sum;
}

Line load(const std::string& folder) {
    RM_ASSIGN_OR_RETURN(const std::string path, newestIn(folder));
    for (const char* file : {rm::kModelFile, rm::kOptimizerFile})
        dropFromCache(path + "/" + file);
    const int64_t began = rm::monotonicNowNs();
    RM_RETURN_IF_ERROR(rm::verifyCheckpoint(path));
    RM_ASSIGN_OR_RETURN(const double model, sumOf(path + "/" + rm::kModelFile));
    RM_ASSIGN_OR_RETURN(const double optimizer, sumOf(path + "/" + rm::kOptimizerFile));
    return nlohmann::json{{"seconds", secondsSince(began)}, {"sum", model + optimizer}};
}

/// Turns the bit in the file.
bool turn(std::fstream& file, int64_t bit) {
    char byte = 0;
    file.seekg(bit / 8);
    file.get(byte);
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    file.seekp(bit / 8);
    file.put(byte);
    file.flush();
    return file.good();
}

Line flip(const std::string& folder, int64_t flips) {
    RM_ASSIGN_OR_RETURN(const std::string path, newestIn(folder));
    std::mt19937_64 random(kSeed);
    const std::string file = path + "/" + rm::kModelFile;
    const auto bits = static_cast<int64_t>(std::filesystem::file_size(file)) * 8;
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    int64_t found = 0;
    for (int64_t i = 0; i < flips; ++i) {
        const auto bit = static_cast<int64_t>(random() % static_cast<uint64_t>(bits));
        if (!turn(bytes, bit))
            return rm::fail(rm::ErrorCode::kUnavailable, "change " + file);
        found += !rm::verifyCheckpoint(path);
        if (!turn(bytes, bit))
            return rm::fail(rm::ErrorCode::kUnavailable, "change " + file);
    }
    RM_RETURN_IF_ERROR(rm::verifyCheckpoint(path)); // as it was
    return nlohmann::json{{"flips", flips}, {"found", found}};
}

Line run(const std::vector<std::string>& words) {
    if (words.size() == 3 && words[0] == "save")
        return save(words[1], std::stoll(words[2]));
    if (words.size() == 2 && words[0] == "load")
        return load(words[1]);
    if (words.size() == 3 && words[0] == "flip")
        return flip(words[1], std::stoll(words[2]));
    return rm::fail(rm::ErrorCode::kInvalid, "checkpoint_io save|load|flip FOLDER [NUMBER]");
}

} // namespace

int main(int argc, char** argv) {
    const Line line = run({argv + 1, argv + argc});
    std::fprintf(line ? stdout : stderr, "%s\n",
                 line ? line->dump().c_str() : line.error().message.c_str());
    return line ? 0 : 1;
}
