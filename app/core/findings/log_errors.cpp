// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/log_errors.h"

#include <QCoreApplication>

#include <algorithm>
#include <vector>

namespace rm {

namespace {

/// Messages of libraries, drivers and systems in logs. resources/manual/failures.md lists them.
struct LogErrors {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr KnownError kRows[] = {
        {"nccl-timeout",
         QT_TR_NOOP("NCCL"),
         {"Watchdog caught collective operation timeout"},
         QT_TR_NOOP("A collective of the GPUs did not end in its time: another rank is slower, "
                    "hangs, has ended, or makes another collective."),
         QT_TR_NOOP("Find the rank that is behind under Ranks, and read its log just before this "
                    "time; if all wait, test the network between the nodes.")},
        {"nccl-stuck",
         QT_TR_NOOP("NCCL"),
         {"watchdog got stuck for"},
         QT_TR_NOOP("The thread that watches NCCL's collectives made no progress itself, mostly as "
                    "a call of the CUDA driver hangs."),
         QT_TR_NOOP("Look for errors of the GPU in the kernel log of the node; resume the run, on "
                    "another node if it comes again there.")},
        {"nccl-failed-async",
         QT_TR_NOOP("NCCL"),
         {"Some NCCL operations have failed or timed out"},
         QT_TR_NOOP("A collective failed earlier, and this rank ends so that it does not train on "
                    "wrong sums."),
         QT_TR_NOOP("Read the lines before this one, of all ranks: the first error is the cause.")},
        {"nccl-remote",
         QT_TR_NOOP("NCCL"),
         {"remote process exited or there was a network error", "ncclRemoteError"},
         QT_TR_NOOP(
             "NCCL lost a rank on another node: it ended, or the network between the two failed."),
         QT_TR_NOOP("Read the log of the rank that ended first. If none ended by itself, test the "
                    "network between the nodes.")},
        {"nccl-cuda",
         QT_TR_NOOP("NCCL"),
         {"NCCL error in: ... unhandled cuda error", "ncclUnhandledCudaError",
          "NCCL WARN Cuda failure"},
         QT_TR_NOOP("A call of CUDA failed within NCCL: memory of the GPU is short, the driver "
                    "does not fit, or the GPU has an error."),
         QT_TR_NOOP("Set NCCL_DEBUG=INFO in the environment of the node, launch again, and read "
                    "the line that names the call; check the node.")},
        {"nccl-system",
         QT_TR_NOOP("NCCL"),
         {"NCCL error in: ... unhandled system error", "ncclSystemError"},
         QT_TR_NOOP("A call of the operating system failed within NCCL, mostly one about sockets, "
                    "shared memory or the network device."),
         QT_TR_NOOP("Set NCCL_DEBUG=INFO in the environment of the node, launch again, and read "
                    "the first line with NCCL WARN.")},
        {"nccl-internal",
         QT_TR_NOOP("NCCL"),
         {"NCCL error in: ... internal error", "ncclInternalError"},
         QT_TR_NOOP("NCCL met a state that it does not expect, often as its plugin or the topology "
                    "of the node does not fit."),
         QT_TR_NOOP("Set NCCL_DEBUG=INFO, launch again, and read the first line with NCCL WARN; "
                    "try without plugins of the network (NCCL_NET_PLUGIN=none).")},
        {"nccl-duplicate-gpu",
         QT_TR_NOOP("NCCL"),
         {"Duplicate GPU detected"},
         QT_TR_NOOP("Two ranks use the same GPU."),
         QT_TR_NOOP("Give each rank a GPU of its own: no more ranks on a node than it has GPUs, "
                    "and no CUDA_VISIBLE_DEVICES that names one twice.")},
        {"nccl-usage",
         QT_TR_NOOP("NCCL"),
         {"NCCL error in: ... invalid usage", "ncclInvalidUsage"},
         QT_TR_NOOP("NCCL was called in a way that it does not allow: two ranks on one GPU, or "
                    "ranks that do not agree about a collective."),
         QT_TR_NOOP("Check that each rank has a GPU of its own, and that all ranks run the same "
                    "release of the trainer.")},
        {"nccl-version",
         QT_TR_NOOP("NCCL"),
         {"Mismatched NCCL version"},
         QT_TR_NOOP("The ranks have loaded different releases of NCCL."),
         QT_TR_NOOP("Remove NCCL from LD_LIBRARY_PATH and LD_PRELOAD of the nodes, so that all "
                    "load the one beside torch.")},
        {"nccl-no-interface",
         QT_TR_NOOP("NCCL"),
         {"Bootstrap : no socket interface found", "No socket interface found"},
         QT_TR_NOOP("NCCL found no network interface with an address, or none of the name in "
                    "NCCL_SOCKET_IFNAME."),
         QT_TR_NOOP("Correct NCCL_SOCKET_IFNAME in the environment of the node, or remove it and "
                    "choose the network in the node's settings.")},
        {"nccl-connect",
         QT_TR_NOOP("NCCL"),
         {"NCCL WARN ... onnect to ... failed", "NCCL WARN ... onnect to ... returned"},
         QT_TR_NOOP("NCCL could not reach another rank at the address that this rank offered: a "
                    "firewall, or an interface that the other node cannot reach."),
         QT_TR_NOOP("Measure the network between the nodes, open its ports, or name the interface "
                    "that they share in NCCL_SOCKET_IFNAME.")},
        {"nccl-peer-closed",
         QT_TR_NOOP("NCCL"),
         {"NCCL WARN ... Connection closed by remote peer"},
         QT_TR_NOOP("Another rank closed its connection of NCCL, as it ended or was killed."),
         QT_TR_NOOP("Read the log of the rank that ended first; this line is only what followed.")},
        {"nccl-ib-completion",
         QT_TR_NOOP("NCCL"),
         {"NCCL WARN NET/IB ... Got completion"},
         QT_TR_NOOP("A transfer over InfiniBand or RoCE failed. Status 12 means that the other "
                    "side did not answer in time: a cable, a switch, or a rank that has gone."),
         QT_TR_NOOP("Check the counters of the port on both nodes (perfquery, ethtool -S); a "
                    "longer NCCL_IB_TIMEOUT helps a network that is only slow.")},
        {"nccl-ib-memory",
         QT_TR_NOOP("NCCL"),
         {"ibv_reg_mr ... failed", "ibv_create_qp failed", "ibv_create_cq failed"},
         QT_TR_NOOP("The network device could not get memory that is locked, as the limit of "
                    "locked memory is too small."),
         QT_TR_NOOP("Raise memlock to unlimited in /etc/security/limits.conf of the node (of "
                    "Slurm: LimitMEMLOCK of slurmd), and log in anew.")},
        {"nccl-shm",
         QT_TR_NOOP("NCCL"),
         {"NCCL WARN Error ... /dev/shm/nccl"},
         QT_TR_NOOP("The shared memory of the node, /dev/shm, has too little room for NCCL."),
         QT_TR_NOOP("Make /dev/shm larger, in a container with --shm-size=8g or --ipc=host, and "
                    "remove what ended runs have left there.")},
        {"c10d-port",
         QT_TR_NOOP("torch.distributed"),
         {"server socket has failed to listen", "EADDRINUSE"},
         QT_TR_NOOP(
             "The port where the ranks are to meet is taken by another program on the first node."),
         QT_TR_NOOP("End what an earlier run has left there, or choose another port.")},
        {"c10d-connect-timeout",
         QT_TR_NOOP("torch.distributed"),
         {"client socket has timed out"},
         QT_TR_NOOP("This rank could not reach the place where the ranks meet in time: rank 0 "
                    "never came up, or a firewall drops what is sent to it."),
         QT_TR_NOOP("Read the log of rank 0 first; then measure the network between the nodes, and "
                    "open the port that the message names.")},
        {"c10d-connect",
         QT_TR_NOOP("torch.distributed"),
         {"client socket has failed to connect"},
         QT_TR_NOOP("The place where the ranks meet does not answer yet, or not at this address."),
         QT_TR_NOOP("Nothing, if training begins soon after. Otherwise read the log of rank 0, and "
                    "check the address and the firewall of its node.")},
        {"c10d-resolve",
         QT_TR_NOOP("torch.distributed"),
         {"network addresses of ... cannot be retrieved"},
         QT_TR_NOOP("The name of the first node has no address on this node."),
         QT_TR_NOOP("Enter it into the DNS or /etc/hosts of this node, or choose an address for it "
                    "in the settings of the node.")},
        {"c10d-store-gone",
         QT_TR_NOOP("torch.distributed"),
         {"failed to recv, got 0 bytes", "sendBytes failed on SocketImpl",
          "recvValue failed on SocketImpl"},
         QT_TR_NOOP(
             "The store of rank 0, over which ranks find each other, has gone: rank 0 has ended."),
         QT_TR_NOOP("Read the end of the log of rank 0; this line is only what followed.")},
        {"c10d-clients",
         QT_TR_NOOP("torch.distributed"),
         {"waiting for clients. ... clients joined"},
         QT_TR_NOOP("Not all ranks have come to the meeting place in time."),
         QT_TR_NOOP("Find the ranks that were not started or have ended, by their logs; start all "
                    "with the same number of ranks.")},
        {"c10d-key",
         QT_TR_NOOP("torch.distributed"),
         {"wait timeout after ... keys:"},
         QT_TR_NOOP("This rank waited for something that another rank should have written to the "
                    "store and did not."),
         QT_TR_NOOP("Look which rank ended or hangs before this time; a longer timeout helps only "
                    "where a start is slow.")},
        {"c10d-mismatch",
         QT_TR_NOOP("torch.distributed"),
         {"Detected mismatch between collectives"},
         QT_TR_NOOP("The ranks do not make the same collectives in the same order."),
         QT_TR_NOOP("Look for code that only some ranks run: an if on the rank, or data of "
                    "different length.")},
        {"gloo-closed",
         QT_TR_NOOP("torch.distributed"),
         {"gloo/transport/tcp ... Connection closed by peer",
          "gloo/transport/tcp ... onnection reset by peer"},
         QT_TR_NOOP("Another rank closed its connection, as it ended or was killed, or the network "
                    "cut it."),
         QT_TR_NOOP("Read the log of the rank that ended first; this line is only what followed.")},
        {"gloo-timeout",
         QT_TR_NOOP("torch.distributed"),
         {"gloo/transport/tcp ... Timed out waiting"},
         QT_TR_NOOP("Another rank did not come to a collective in time: it is slower, hangs, or "
                    "cannot be reached."),
         QT_TR_NOOP("Find the rank that is behind under Ranks; if all wait, test the network "
                    "between the nodes.")},
        {"gloo-interface",
         QT_TR_NOOP("torch.distributed"),
         {"Unable to find address for:"},
         QT_TR_NOOP("GLOO_SOCKET_IFNAME names an interface that this node does not have, or that "
                    "has no address."),
         QT_TR_NOOP("Correct or remove GLOO_SOCKET_IFNAME in the environment of the node.")},
        {"ddp-unused",
         QT_TR_NOOP("torch.distributed"),
         {"Expected to have finished reduction in the prior iteration"},
         QT_TR_NOOP(
             "A parameter took no part in the loss, so that DDP still waits for its gradient."),
         QT_TR_NOOP("Use every parameter in each step, or set find_unused_parameters=True where "
                    "that is meant.")},
        {"ddp-twice",
         QT_TR_NOOP("torch.distributed"),
         {"Expected to mark a variable ready only once"},
         QT_TR_NOOP("A parameter got two gradients in one step, often as it is used in a part that "
                    "is checkpointed twice."),
         QT_TR_NOOP("Use checkpointing without reentry, or a static graph, for a model that shares "
                    "parameters.")},
        {"ddp-model",
         QT_TR_NOOP("torch.distributed"),
         {"expects same model across all ranks", "appears not to match sizes of the same param"},
         QT_TR_NOOP("The ranks have models of different sizes."),
         QT_TR_NOOP("Start all ranks with the same spec and the same vocabulary.")},
        {"torchrun-child",
         QT_TR_NOOP("torch.distributed"),
         {"ChildFailedError"},
         QT_TR_NOOP("torchrun says that one of its ranks failed; this is no cause."),
         QT_TR_NOOP("Read the log of the rank that it names as its first observed failure.")},
        {"torchrun-sigterm",
         QT_TR_NOOP("torch.distributed"),
         {"closing signal SIGTERM"},
         QT_TR_NOOP(
             "torchrun ends this rank, as another one failed or as it was asked to end itself."),
         QT_TR_NOOP("Read the log of the rank that failed first.")},
        {"cuda-memory",
         QT_TR_NOOP("CUDA"),
         {"CUDA out of memory", "CUDA error: out of memory"},
         QT_TR_NOOP("The memory of the GPU is too small for this batch and model, or another "
                    "program uses it."),
         QT_TR_NOOP("Use a smaller train.batch_size with more train.accumulation, "
                    "train.activation_checkpointing or optimizer.sharded; end what else runs on "
                    "the GPU.")},
        {"cuda-illegal",
         QT_TR_NOOP("CUDA"),
         {"illegal memory access was encountered"},
         QT_TR_NOOP("A kernel read or wrote outside of its memory. What is reported after it is "
                    "only what followed."),
         QT_TR_NOOP("Launch again with CUDA_LAUNCH_BLOCKING=1 to learn which kernel it was; on one "
                    "GPU alone it may be that GPU: check the node.")},
        {"cuda-index",
         QT_TR_NOOP("CUDA"),
         {"Assertion ... srcIndex < srcSelectDimSize", "Assertion ... t >= 0 && t < n_classes"},
         QT_TR_NOOP("An index is too large for its table: mostly a token that is not in the "
                    "vocabulary, or a label beyond the number of classes."),
         QT_TR_NOOP("Check that data and model have the same vocabulary or number of classes.")},
        {"cuda-assert",
         QT_TR_NOOP("CUDA"),
         {"device-side assert triggered"},
         QT_TR_NOOP("A check within a kernel failed, mostly an index that is out of bounds."),
         QT_TR_NOOP(
             "Read the lines with \"Assertion\" before this one; they say which check it was.")},
        {"cuda-no-image",
         QT_TR_NOOP("CUDA"),
         {"no kernel image is available"},
         QT_TR_NOOP("This build of torch or of a kernel has no code for the GPU of this node."),
         QT_TR_NOOP("Use the runtime that fits the GPU (cuda12 for those before Turing, cuda13 for "
                    "later ones); see the node's check.")},
        {"cuda-driver",
         QT_TR_NOOP("CUDA"),
         {"CUDA driver version is insufficient", "driver on your system is too old"},
         QT_TR_NOOP("The NVIDIA driver of the node is older than the CUDA of this trainer needs."),
         QT_TR_NOOP("Update the driver, or use the runtime for older drivers (cuda12).")},
        {"cuda-none",
         QT_TR_NOOP("CUDA"),
         {"no CUDA-capable device is detected", "No CUDA GPUs are available"},
         QT_TR_NOOP("The process sees no GPU: CUDA_VISIBLE_DEVICES hides them, the container has "
                    "none, or the driver is not loaded."),
         QT_TR_NOOP("Check the node; nvidia-smi there has to list the GPUs in the same container "
                    "and job.")},
        {"cuda-ordinal",
         QT_TR_NOOP("CUDA"),
         {"invalid device ordinal"},
         QT_TR_NOOP("A rank asks for a GPU whose number the node does not have."),
         QT_TR_NOOP("Place no more ranks on the node than it has GPUs.")},
        {"cuda-busy",
         QT_TR_NOOP("CUDA"),
         {"CUDA-capable device(s) is/are busy or unavailable", "devices are busy or unavailable"},
         QT_TR_NOOP("Another process has the GPU for itself (compute mode exclusive), or the GPU "
                    "is in a bad state."),
         QT_TR_NOOP("End what else runs on it (nvidia-smi lists it), or reset the GPU.")},
        {"cuda-ecc",
         QT_TR_NOOP("CUDA"),
         {"uncorrectable ECC error encountered"},
         QT_TR_NOOP("The memory of the GPU has an error that it could not correct."),
         QT_TR_NOOP(
             "Take the node out of use, reset the GPU, and let it be replaced if it comes again.")},
        {"cuda-launch",
         QT_TR_NOOP("CUDA"),
         {"unspecified launch failure"},
         QT_TR_NOOP("A kernel crashed, by a fault of its code or of the GPU."),
         QT_TR_NOOP("Launch again with CUDA_LAUNCH_BLOCKING=1; look for Xid in the kernel log of "
                    "the node.")},
        {"cuda-lost",
         QT_TR_NOOP("CUDA"),
         {"fallen off the bus", "Unable to determine the device handle", "GPU is lost"},
         QT_TR_NOOP("The node has lost the GPU: power, heat, or the connection of the card."),
         QT_TR_NOOP(
             "Restart the node; if it comes again, let card, riser and power supply be checked.")},
        {"cuda-nvml",
         QT_TR_NOOP("CUDA"),
         {"Driver/library version mismatch"},
         QT_TR_NOOP("The driver was updated while the old one is still loaded."),
         QT_TR_NOOP("Restart the node.")},
        {"cuda-cublas",
         QT_TR_NOOP("CUDA"),
         {"CUBLAS_STATUS_NOT_INITIALIZED", "CUBLAS_STATUS_ALLOC_FAILED"},
         QT_TR_NOOP("cuBLAS could not begin, mostly as the memory of the GPU is full."),
         QT_TR_NOOP("Use a smaller train.batch_size; if memory is free, check the GPU.")},
        {"cuda-cudnn",
         QT_TR_NOOP("CUDA"),
         {"CUDNN_STATUS_EXECUTION_FAILED", "CUDNN_STATUS_NOT_INITIALIZED",
          "CUDNN_STATUS_INTERNAL_ERROR"},
         QT_TR_NOOP("cuDNN failed, mostly as the memory of the GPU is full or another release of "
                    "cuDNN was loaded."),
         QT_TR_NOOP("Use a smaller batch; remove cuDNN from LD_LIBRARY_PATH of the node.")},
        {"host-killed",
         QT_TR_NOOP("Memory and limits of a node"),
         {"Out of memory: Killed process", "oom_kill event", "oom-kill:"},
         QT_TR_NOOP(
             "The system killed a process, as the memory of the node or of the job was used up."),
         QT_TR_NOOP("Ask for more memory, place fewer ranks on the node, or use less for the data "
                    "(fewer workers, a smaller batch).")},
        {"host-allocate",
         QT_TR_NOOP("Memory and limits of a node"),
         {"DefaultCPUAllocator: ... allocate memory", "std::bad_alloc"},
         QT_TR_NOOP("The node had no memory for what the process asked for."),
         QT_TR_NOOP("Use a smaller batch or model, or place fewer ranks on the node; check the "
                    "limits of the job.")},
        {"host-shm",
         QT_TR_NOOP("Memory and limits of a node"),
         {"insufficient shared memory"},
         QT_TR_NOOP("A process that loads data had no room in /dev/shm."),
         QT_TR_NOOP("Make /dev/shm larger, in a container with --shm-size=8g or --ipc=host, or use "
                    "fewer workers.")},
        {"host-files",
         QT_TR_NOOP("Memory and limits of a node"),
         {"Too many open files"},
         QT_TR_NOOP("The process has as many files and connections open as it may."),
         QT_TR_NOOP("Raise nofile in /etc/security/limits.conf of the node, and log in anew.")},
        {"host-threads",
         QT_TR_NOOP("Memory and limits of a node"),
         {"Thread creation failed", "can't start new thread"},
         QT_TR_NOOP("The user has as many processes and threads on the node as are allowed."),
         QT_TR_NOOP(
             "Raise nproc (in a container --pids-limit), or let fewer processes run there.")},
        {"file-library",
         QT_TR_NOOP("Files"),
         {"error while loading shared libraries", "cannot open shared object file"},
         QT_TR_NOOP("A program needs a library that the node does not have, or does not find."),
         QT_TR_NOOP("Install the library that the line names, or correct LD_LIBRARY_PATH in the "
                    "environment of the node.")},
        {"file-glibc",
         QT_TR_NOOP("Files"),
         {"GLIBC_ ... not found", "GLIBCXX_ ... not found"},
         QT_TR_NOOP("The system of the node is older than the program was built for."),
         QT_TR_NOOP("Update the system of the node, or use a container with a later one.")},
        {"file-symbol",
         QT_TR_NOOP("Files"),
         {"undefined symbol:"},
         QT_TR_NOOP("A library was loaded that does not fit the program, mostly of another release "
                    "of torch."),
         QT_TR_NOOP("Remove other copies of torch and CUDA from LD_LIBRARY_PATH and LD_PRELOAD of "
                    "the node.")},
        {"file-full",
         QT_TR_NOOP("Files"),
         {"No space left on device"},
         QT_TR_NOOP("The disk that is written to is full, or has no inodes left."),
         QT_TR_NOOP("Make room there; df -h and df -i say which disk it is.")},
        {"file-quota",
         QT_TR_NOOP("Files"),
         {"Disk quota exceeded"},
         QT_TR_NOOP("The user's quota on this file system is used up."),
         QT_TR_NOOP("Remove what is not needed, or write to another folder.")},
        {"file-read-only",
         QT_TR_NOOP("Files"),
         {"Read-only file system"},
         QT_TR_NOOP("The file system takes nothing more. After an error of the disk Linux makes it "
                    "read-only."),
         QT_TR_NOOP("Look into the kernel log of the node for an error of the disk; write to "
                    "another folder meanwhile.")},
        {"file-stale",
         QT_TR_NOOP("Files"),
         {"Stale file handle"},
         QT_TR_NOOP("A file on a network file system was removed or replaced on its server while "
                    "it was open here."),
         QT_TR_NOOP("Mount the file system anew on the node, then resume.")},
        {"file-io",
         QT_TR_NOOP("Files"),
         {"Input/output error"},
         QT_TR_NOOP("The disk or the network file system failed to read or write."),
         QT_TR_NOOP("Look into the kernel log of the node; copy what matters from that disk.")},
        {"ssh-key",
         QT_TR_NOOP("SSH"),
         {"Permission denied (publickey", "Permission denied (password",
          "Permission denied (keyboard"},
         QT_TR_NOOP("The other machine refuses the login: the key is not in its authorized_keys, "
                    "or is not offered."),
         QT_TR_NOOP("Log in by hand with the same user; add the key there with ssh-copy-id, or "
                    "name the key file in the node's settings.")},
        {"ssh-host-key",
         QT_TR_NOOP("SSH"),
         {"Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED"},
         QT_TR_NOOP("The key of the other machine is not known, or is another one than before."),
         QT_TR_NOOP("If the machine was set up anew, remove its old key (ssh-keygen -R HOST) and "
                    "accept the new one after you have compared it.")},
        {"ssh-timeout",
         QT_TR_NOOP("SSH"),
         {"ssh: connect to host ... timed out"},
         QT_TR_NOOP("The other machine does not answer: it is off, its address is wrong, or a "
                    "firewall drops what is sent."),
         QT_TR_NOOP(
             "Check its address and that it runs; ask whether a jump host or a VPN is needed.")},
        {"ssh-refused",
         QT_TR_NOOP("SSH"),
         {"ssh: connect to host ... Connection refused"},
         QT_TR_NOOP("The other machine answers, but no SSH server listens at that port."),
         QT_TR_NOOP("Start sshd there, or correct the port in the node's settings.")},
        {"ssh-route",
         QT_TR_NOOP("SSH"),
         {"ssh: connect to host ... No route to host",
          "ssh: connect to host ... Network is unreachable"},
         QT_TR_NOOP("No network leads from here to the other machine."),
         QT_TR_NOOP("Check VPN, address and jump host.")},
        {"ssh-name",
         QT_TR_NOOP("SSH"),
         {"ssh: Could not resolve hostname"},
         QT_TR_NOOP("The name of the machine has no address."),
         QT_TR_NOOP("Correct the name, or enter it into ~/.ssh/config or /etc/hosts.")},
        {"ssh-exchange",
         QT_TR_NOOP("SSH"),
         {"kex_exchange_identification"},
         QT_TR_NOOP("The SSH server closed the connection before the login: too many logins at "
                    "once (MaxStartups), or it bans this address."),
         QT_TR_NOOP("Wait a minute; raise MaxStartups in its sshd_config, or look whether fail2ban "
                    "has banned the address.")},
        {"ssh-broken",
         QT_TR_NOOP("SSH"),
         {"client_loop: send disconnect", "Connection to ... closed by remote host"},
         QT_TR_NOOP("The connection was cut: the network, a firewall that forgets idle "
                    "connections, or the machine was restarted."),
         QT_TR_NOOP("Nothing for a run: it trains on, and what was missed is read later. "
                    "ServerAliveInterval keeps idle connections alive.")},
    };
};

constexpr std::string_view kAnything = " ... ";

/// What a line has to have, one behind the other.
std::vector<std::string_view> partsOf(std::string_view pattern) {
    std::vector<std::string_view> parts;
    for (size_t at = 0; at <= pattern.size();) {
        const size_t end = std::min(pattern.find(kAnything, at), pattern.size());
        parts.push_back(pattern.substr(at, end - at));
        at = end + kAnything.size();
    }
    return parts;
}

struct Matcher {
    const KnownError* error;
    std::vector<std::string_view> parts;

    bool fits(std::string_view line) const {
        size_t at = 0;
        for (const std::string_view part : parts) {
            at = line.find(part, at);
            if (at == std::string_view::npos)
                return false;
            at += part.size();
        }
        return true;
    }
};

std::vector<Matcher> makeMatchers() {
    std::vector<Matcher> all;
    for (const KnownError& error : LogErrors::kRows)
        for (const char* pattern : error.patterns)
            if (pattern)
                all.push_back({&error, partsOf(pattern)});
    return all;
}

std::string translated(const char* source) {
    return QCoreApplication::translate("Findings", source).toStdString();
}

} // namespace

std::span<const KnownError> knownErrors() {
    return LogErrors::kRows;
}

const KnownError* knownErrorIn(std::string_view line) {
    static const std::vector<Matcher> matchers = makeMatchers();
    const auto found =
        std::ranges::find_if(matchers, [&](const Matcher& matcher) { return matcher.fits(line); });
    return found == matchers.end() ? nullptr : found->error;
}

const KnownError* knownErrorInText(std::string_view lines) {
    for (size_t at = 0; at < lines.size();) {
        const size_t end = std::min(lines.find('\n', at), lines.size());
        if (const KnownError* error = knownErrorIn(lines.substr(at, end - at)))
            return error;
        at = end + 1;
    }
    return nullptr;
}

std::string areaOf(const KnownError& error) {
    return translated(error.area);
}

std::string meaningOf(const KnownError& error) {
    return translated(error.meaning);
}

std::string fixOf(const KnownError& error) {
    return translated(error.fix);
}

} // namespace rm
