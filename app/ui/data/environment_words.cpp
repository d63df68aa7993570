// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/environment_words.h"

#include <QCoreApplication>

#include <algorithm>

namespace rm {

namespace {

struct VariableWords {
    Q_DECLARE_TR_FUNCTIONS(VariableWords)
};

} // namespace

const std::vector<KnownVariable>& knownVariables() {
    static const std::vector<KnownVariable> all = {
        {"CUDA_VISIBLE_DEVICES",
         VariableWords::tr("Which GPUs a program sees. Choose the node's GPUs instead: they "
                           "become this variable."),
         true},
        {"GLOO_SOCKET_IFNAME",
         VariableWords::tr("The network interface that Gloo uses, which sums on the CPU and starts "
                           "all runs. Ringmaster sets it to the one where the ranks meet; what is "
                           "set here wins, and the ranks meet there.")},
        {"MKL_NUM_THREADS",
         VariableWords::tr("Threads of one rank in Intel's mathematics on the CPU.")},
        {"NCCL_ALGO",
         VariableWords::tr("How NCCL sums between GPUs: Ring, Tree and others. NCCL chooses best "
                           "where this is not set.")},
        {"NCCL_BUFFSIZE",
         VariableWords::tr(
             "Bytes of each of NCCL's buffers between two GPUs; 4194304 where this is "
             "not set. More takes memory of the GPU.")},
        {"NCCL_DEBUG",
         VariableWords::tr("What NCCL writes into the log of a rank: WARN only errors, INFO also "
                           "which interfaces and paths it has chosen.")},
        {"NCCL_IB_DISABLE",
         VariableWords::tr("1: no InfiniBand and no RoCE, but TCP. For a fabric that is there and "
                           "does not work.")},
        {"NCCL_IB_HCA",
         VariableWords::tr("Which InfiniBand adapters NCCL uses, such as mlx5_0,mlx5_1.")},
        {"NCCL_NET_GDR_LEVEL",
         VariableWords::tr("How far apart a network adapter and a GPU may be to exchange data "
                           "without the processor: LOC, PIX, PXB, PHB or SYS.")},
        {"NCCL_NSOCKS_PERTHREAD",
         VariableWords::tr("TCP connections of each of NCCL's network threads. More help where one "
                           "connection does not fill the link.")},
        {"NCCL_P2P_DISABLE",
         VariableWords::tr("1: the GPUs of a node exchange data through its memory and not "
                           "directly. For a board on which that hangs.")},
        {"NCCL_SHM_DISABLE",
         VariableWords::tr("1: no shared memory between the ranks of a node, but the network. For "
                           "a container with a small /dev/shm.")},
        {"NCCL_SOCKET_IFNAME",
         VariableWords::tr(
             "The network interface that NCCL uses for TCP. Ringmaster sets it to the "
             "one where the ranks meet; what is set here wins, and the ranks meet there.")},
        {"NCCL_SOCKET_NTHREADS",
         VariableWords::tr("Processor threads that NCCL sends with over TCP, 1 to 16.")},
        {"OMP_NUM_THREADS",
         VariableWords::tr("Threads of one rank on the CPU. train.threads of the spec sets it for "
                           "all nodes; here it is for this one.")},
        {"TORCH_NCCL_BLOCKING_WAIT",
         VariableWords::tr("1: a rank waits for each sum on its processor, which is slower and "
                           "tells where it stands.")},
    };
    return all;
}

QString variableWords(const QString& name) {
    const auto& all = knownVariables();
    const auto known = std::ranges::find(all, name, &KnownVariable::name);
    if (known != all.end())
        return known->meaning;
    return name.isEmpty() ? VariableWords::tr("Variables for the ranks of this node: NCCL_*, "
                                              "GLOO_*, TORCH_*, OMP_* and MKL_*. What a spec sets "
                                              "in launch.environment wins.")
                          : VariableWords::tr("Passed on to the ranks of this node as it is.");
}

} // namespace rm
