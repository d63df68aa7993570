// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/world.h"

#include "shared/return_if_error.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/counted_backend.h"
#include "trainer/train/dist/fake_process_group.h"
#include "trainer/train/dist/gloo.h"
#include "trainer/train/dist/retransmission.h"
#include "trainer/train/dist/sum_check.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include <array>
#include <cstring>
#include <string_view>

namespace rm {
namespace {

/// Long enough for rank 0 to write any checkpoint while the others wait for it.
constexpr std::chrono::minutes kCollectiveTimeout{30};
/// The first collective of a device's backend also sets up its connections.
constexpr std::chrono::seconds kSumPatience{120};
constexpr size_t kBroadcastBytes = 25u << 20;

/// Silences torch's warnings about a store that does not listen yet. A rendezvous that fails throws
/// anyway.
class QuietMeeting {
public:
    QuietMeeting() { FLAGS_caffe2_log_level = std::max(m_before, kErrors); }
    ~QuietMeeting() { FLAGS_caffe2_log_level = m_before; }
    QuietMeeting(const QuietMeeting&) = delete;
    QuietMeeting& operator=(const QuietMeeting&) = delete;

private:
    static constexpr int kErrors = 2;
    const int m_before = FLAGS_caffe2_log_level;
};

c10::intrusive_ptr<c10d::Store> subStore(const char* name,
                                         const c10::intrusive_ptr<c10d::Store>& store) {
    return c10::make_intrusive<c10d::PrefixStore>(name, store);
}

at::Tensor bytesTensor(const std::string& text, size_t size) {
    at::Tensor bytes = at::zeros({static_cast<int64_t>(size)}, at::kByte);
    std::memcpy(bytes.mutable_data_ptr<uint8_t>(), text.data(), text.size());
    return bytes;
}

std::string textOf(const at::Tensor& bytes, int64_t size) {
    return {reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()),
            static_cast<size_t>(size)};
}

at::Tensor numberTensor(int64_t number) {
    return at::empty({1}, at::kLong).fill_(number);
}

/// Whether the device has its own collectives. A test's device, on the CPU, may have them, too.
bool hasOwnCollectives(const Device& device) {
    return !device.isCpu() || !device.plugin->identity().runtime.empty();
}

} // namespace

Result<World> World::join(const TorchrunEnvironment& environment, const Device& device,
                          const Warn& warn, Board* board) {
    World world;
    world.m_rank = environment.rank;
    world.m_size = environment.worldSize;
    world.m_localRank = environment.localRank;
    if (world.isAlone())
        return world;
    world.m_address = environment.ownAddress.empty() ? addressTowards(environment.masterAddr)
                                                     : environment.ownAddress;
    const QuietMeeting quiet;
    RM_ASSIGN_OR_RETURN(world.m_store, meetAtStore(environment, warn));
    world.connect(device, board);
    return world;
}

World World::among(const std::vector<int>& ranks, const Device& device) const {
    World part;
    std::string name = "among";
    for (const int rank : ranks) {
        part.m_rank += rank < m_rank ? 1 : 0;
        name += "-" + std::to_string(rank);
    }
    part.m_size = static_cast<int>(ranks.size());
    part.m_localRank = m_localRank;
    part.m_address = m_address;
    if (part.isAlone())
        return part;
    part.m_store = subStore(name.c_str(), m_store);
    part.connect(device, nullptr);
    return part;
}

/// Makes the groups of the ranks that meet at the store.
void World::connect(const Device& device, Board* board) {
    // The ends of the main group are known if all of its collectives are Gloo's.
    const auto counted = [&](c10::intrusive_ptr<c10d::Backend> backend, CollectiveGroup group) {
        const bool countsEnds = group == CollectiveGroup::kSide || !hasOwnCollectives(device);
        return board ? makeCounted(std::move(backend), *board, group, countsEnds) : backend;
    };
    const auto gloo = [&](const char* name, CollectiveGroup group) {
        return counted(
            makeGloo(subStore(name, m_store), m_rank, m_size, m_address, kCollectiveTimeout),
            group);
    };
    using Group = c10d::ProcessGroup;
    m_group = c10::make_intrusive<Group>(subStore("main", m_store), m_rank, m_size);
    auto main = gloo("gloo", CollectiveGroup::kMain);
    m_group->setBackend(c10::DeviceType::CPU, Group::BackendType::GLOO, main);
    m_side = gloo("side", CollectiveGroup::kSide);
    retransmitEachSecond();
    if (!hasOwnCollectives(device))
        return;
    // This takes milliseconds besides the connections that training needs anyway.
    auto sound = soundBackend(
        device.plugin->makeBackend(subStore("device", m_store), m_rank, m_size, kCollectiveTimeout),
        main, device.at, kSumPatience);
    // Collectives that Gloo carries instead are recorded on the board by Gloo's own group.
    if (sound.fault.empty())
        sound.backend = counted(std::move(sound.backend), CollectiveGroup::kMain);
    m_collectivesFault = std::move(sound.fault);
    m_group->setBackend(device.at.type(), Group::BackendType::NCCL, std::move(sound.backend));
}

World World::imagined(int size, const Device& device) {
    World world;
    world.m_size = size;
    if (world.isAlone())
        return world;
    using Group = c10d::ProcessGroup;
    world.m_side = makeFakeProcessGroup(0, size);
    world.m_group = c10::make_intrusive<Group>(0, size);
    world.m_group->setBackend(c10::DeviceType::CPU, Group::BackendType::CUSTOM, world.m_side);
    if (!device.isCpu())
        world.m_group->setBackend(device.at.type(), Group::BackendType::CUSTOM, world.m_side);
    return world;
}

void World::broadcast(std::vector<at::Tensor> tensors) const {
    if (isAlone())
        return;
    c10d::broadcast_coalesced(m_group, tensors, kBroadcastBytes, 0);
}

std::string World::broadcast(std::string text) const {
    if (isAlone())
        return text;
    std::vector<at::Tensor> size{numberTensor(static_cast<int64_t>(text.size()))};
    m_group->broadcast(size)->wait();
    const auto count = size[0].item<int64_t>();
    std::vector<at::Tensor> bytes{isFirst() ? bytesTensor(text, text.size())
                                            : at::empty({count}, at::kByte)};
    if (count > 0)
        m_group->broadcast(bytes)->wait();
    return textOf(bytes[0], count);
}

std::vector<std::string> World::gather(const std::string& text) const {
    if (isAlone())
        return {text};
    std::vector<at::Tensor> size{numberTensor(static_cast<int64_t>(text.size()))};
    std::vector<std::vector<at::Tensor>> sizes(1);
    for (int i = 0; i < m_size; ++i)
        sizes[0].push_back(numberTensor(0));
    m_group->allgather(sizes, size)->wait();
    int64_t largest = 1; // an empty tensor cannot be gathered
    for (const at::Tensor& one : sizes[0])
        largest = std::max(largest, one.item<int64_t>());

    std::vector<at::Tensor> mine{bytesTensor(text, static_cast<size_t>(largest))};
    std::vector<std::vector<at::Tensor>> all;
    if (isFirst())
        all.emplace_back(m_size);
    for (auto& row : all)
        for (at::Tensor& one : row)
            one = at::empty({largest}, at::kByte);
    m_group->gather(all, mine)->wait();
    std::vector<std::string> texts;
    for (size_t i = 0; isFirst() && i < all[0].size(); ++i)
        texts.push_back(textOf(all[0][i], sizes[0][i].item<int64_t>()));
    return texts;
}

void World::sum(at::Tensor& tensor) const {
    if (isAlone())
        return;
    std::vector<at::Tensor> tensors{tensor};
    m_group->allreduce(tensors)->wait();
}

void World::barrier() const {
    at::Tensor one = numberTensor(1);
    sum(one);
}

c10::intrusive_ptr<c10d::Work> World::sumAside(at::Tensor& hostTensor) const {
    if (isAlone())
        return {};
    std::vector<at::Tensor> tensors{hostTensor};
    return m_side->allreduce(tensors);
}

std::string World::broadcastAside(std::string text, int64_t size) const {
    text.resize(static_cast<size_t>(size));
    if (isAlone())
        return text;
    std::vector<at::Tensor> tensors{at::from_blob(text.data(), {size}, at::kByte)};
    m_side->broadcast(tensors)->wait();
    return text;
}

bool isPeerLost(const std::exception& error) {
    if (dynamic_cast<const c10::DistError*>(&error))
        return true;
    // Gloo's exceptions reach us as std::runtime_error at best; their text names gloo's files.
    static constexpr std::array kSigns = {"gloo", "NCCL", "Connection closed by peer",
                                          "Connection reset by peer", "Broken pipe"};
    const std::string_view text = error.what();
    for (const std::string_view sign : kSigns)
        if (text.find(sign) != std::string_view::npos)
            return true;
    return false;
}

} // namespace rm
