// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/log_errors.h"

#include <QFile>
#include <QSet>
#include <QTest>

#include <algorithm>

using namespace rm;

namespace {

/// The rows whose more general pattern fits the message of an earlier row, too.
const QList<std::pair<QString, QString>> kAlso = {{"nccl-shm", "file-full"},
                                                  {"nccl-cuda", "cuda-driver"}};

QString simplified(const char* text) {
    return QString::fromUtf8(text).simplified();
}

} // namespace

/// The table of known errors in logs: that each message is known for what it is.
class TestLogErrors : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void eachMessageIsKnownAndNoOtherRowFitsIt_data();
    void eachMessageIsKnownAndNoOtherRowFitsIt();
    void everyRowHasAMessageAndWords();
    void whatIsNoErrorIsNotKnown();
    void theFirstKnownErrorOfATextCounts();
    void theManualListsThem();
};

void TestLogErrors::eachMessageIsKnownAndNoOtherRowFitsIt_data() {
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("line");
    int number = 0;
    const auto row = [&](const char* id, const char* line) {
        QTest::addRow("%s %d", id, number++) << id << line;
    };
    // clang-format off
    row("nccl-timeout", "[rank3]:[E1130 06:07:14.123456789 ProcessGroupNCCL.cpp:684] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=421, OpType=ALLREDUCE, NumelIn=25557032, NumelOut=25557032, Timeout(ms)=600000) ran for 600045 milliseconds before timing out.");
    row("nccl-stuck", "[rank0]:[F1130 06:07:14.123456789 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.");
    row("nccl-failed-async", "[rank3]:[E1130 06:07:14.123456789 ProcessGroupNCCL.cpp:744] [Rank 3] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.");
    row("nccl-remote", "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2058, remote process exited or there was a network error, NCCL version 2.28.9");
    row("nccl-remote", "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.");
    row("nccl-cuda", "RuntimeError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2058, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9");
    row("nccl-cuda", "ncclUnhandledCudaError: Call to CUDA function failed.");
    row("nccl-cuda", "node-a:41200:41310 [0] transport/p2p.cc:275 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'");
    row("nccl-system", "RuntimeError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2058, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9");
    row("nccl-system", "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.");
    row("nccl-internal", "RuntimeError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2058, internal error - please report this issue to the NCCL developers, NCCL version 2.28.9");
    row("nccl-internal", "ncclInternalError: Internal check failed.");
    row("nccl-duplicate-gpu", "node-a:41200:41310 [0] init.cc:958 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000");
    row("nccl-usage", "RuntimeError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2058, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.28.9");
    row("nccl-usage", "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.");
    row("nccl-version", "node-a:41200:41310 [0] init.cc:731 NCCL WARN Mismatched NCCL version detected : rank 0 version 22809 rank 1 version 22703 myrank 0 version 22809");
    row("nccl-no-interface", "node-a:41200:41200 [0] bootstrap.cc:115 NCCL WARN Bootstrap : no socket interface found");
    row("nccl-connect", "node-b:41200:41310 [0] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 10.0.0.1<42317> failed : Software caused connection abort");
    row("nccl-connect", "node-b:41200:41310 [0] misc/socket.cc:568 NCCL WARN socketPollConnect: connect to 10.0.0.1<42317> returned Connection refused(111)");
    row("nccl-peer-closed", "node-a:41200:41355 [0] misc/socket.cc:881 NCCL WARN socketProgress: Connection closed by remote peer node-b<41234>");
    row("nccl-ib-completion", "node-a:41200:41355 [0] transport/net_ib.cc:2012 NCCL WARN NET/IB: Got completion from peer 10.0.0.2<49152> with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_0");
    row("nccl-ib-memory", "node-a:41200:41310 [0] misc/ibvwrap.cc:252 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory");
    row("nccl-ib-memory", "node-a:41200:41310 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_qp failed");
    row("nccl-shm", "node-a:41200:41310 [0] misc/shmutils.cc:81 NCCL WARN Error: failed to extend /dev/shm/nccl-Pqv7Ff to 9637892 bytes, error: No space left on device (28)");
    row("c10d-port", "RuntimeError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use");
    row("c10d-connect-timeout", "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (10.0.0.1, 29500).");
    row("c10d-connect", "[W1130 06:07:14.123456789 socket.cpp:764] [c10d] The client socket has failed to connect to [node-a]:29500 (errno: 111 - Connection refused).");
    row("c10d-resolve", "[W1130 06:07:14.123456789 socket.cpp:697] [c10d] The IPv6 network addresses of (node-a, 29500) cannot be retrieved (gai error: -2 - Name or service not known).");
    row("c10d-store-gone", "[rank1]:[W1130 06:07:14.123456789 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=20, addr=[node-b]:40010, remote=[node-a]:29500): failed to recv, got 0 bytes");
    row("c10d-store-gone", "torch.distributed.DistNetworkError: failed to recv, got 0 bytes");
    row("c10d-clients", "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.");
    row("c10d-key", "torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//cuda//0");
    row("c10d-mismatch", "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=12, OpType=ALLREDUCE, TensorShape=[10]), but Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=12, OpType=BROADCAST, TensorShape=[10]).");
    row("gloo-closed", "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.2]:38142");
    row("gloo-closed", "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:598] Read error [10.0.0.2]:38142: Connection reset by peer");
    row("gloo-timeout", "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete");
    row("gloo-interface", "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address for: eth7");
    row("ddp-unused", "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss.");
    row("ddp-twice", "RuntimeError: Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a module parameter outside the `forward` function.");
    row("ddp-model", "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 148 params, while rank 0 has inconsistent 146 params.");
    row("ddp-model", "RuntimeError: [1]: params[0] in this process with sizes [50304, 768] appears not to match sizes of the same param in process 0.");
    row("torchrun-child", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:");
    row("torchrun-sigterm", "W1130 06:07:14.123000 41190 torch/distributed/elastic/multiprocessing/api.py:906] Sending process 41201 closing signal SIGTERM");
    row("cuda-memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 512.00 MiB is free. Including non-PyTorch memory, this process has 78.58 GiB memory in use.");
    row("cuda-memory", "RuntimeError: CUDA error: out of memory");
    row("cuda-illegal", "RuntimeError: CUDA error: an illegal memory access was encountered");
    row("cuda-index", "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1553: indexSelectLargeIndex: block: [12,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed.");
    row("cuda-index", "/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.");
    row("cuda-assert", "RuntimeError: CUDA error: device-side assert triggered");
    row("cuda-no-image", "RuntimeError: CUDA error: no kernel image is available for execution on the device");
    row("cuda-driver", "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version");
    row("cuda-driver", "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver.");
    row("cuda-none", "RuntimeError: CUDA error: no CUDA-capable device is detected");
    row("cuda-none", "RuntimeError: No CUDA GPUs are available");
    row("cuda-ordinal", "RuntimeError: CUDA error: invalid device ordinal");
    row("cuda-busy", "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable");
    row("cuda-ecc", "RuntimeError: CUDA error: uncorrectable ECC error encountered");
    row("cuda-launch", "RuntimeError: CUDA error: unspecified launch failure");
    row("cuda-lost", "NVRM: Xid (PCI:0000:1b:00): 79, pid=41200, name=ringmaster-trai, GPU has fallen off the bus.");
    row("cuda-lost", "Unable to determine the device handle for GPU 0000:1B:00.0: Unknown Error");
    row("cuda-nvml", "Failed to initialize NVML: Driver/library version mismatch");
    row("cuda-cublas", "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`");
    row("cuda-cublas", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
    row("cuda-cudnn", "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED");
    row("cuda-cudnn", "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED");
    row("host-killed", "[12345.678901] Out of memory: Killed process 41200 (ringmaster-trai) total-vm:98234512kB, anon-rss:63912344kB, file-rss:0kB");
    row("host-killed", "slurmstepd: error: Detected 1 oom_kill event in StepId=1234.0. Some of the step tasks have been OOM Killed.");
    row("host-allocate", "RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 8589934592 bytes. Error code 12 (Cannot allocate memory)");
    row("host-allocate", "  what():  std::bad_alloc");
    row("host-shm", "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).");
    row("host-files", "terminate called after throwing an instance of 'std::system_error' what(): accept: Too many open files");
    row("host-threads", "libgomp: Thread creation failed: Resource temporarily unavailable");
    row("host-threads", "RuntimeError: can't start new thread");
    row("file-library", "ringmaster-trainer: error while loading shared libraries: libibverbs.so.1: cannot open shared object file: No such file or directory");
    row("file-glibc", "./train: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./train)");
    row("file-glibc", "./train: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./train)");
    row("file-symbol", "./train: symbol lookup error: libtorch_cuda.so: undefined symbol: ncclCommRegister");
    row("file-full", "OSError: [Errno 28] No space left on device: '/data/checkpoints/step-00002000'");
    row("file-quota", "OSError: [Errno 122] Disk quota exceeded: '/home/user/checkpoints'");
    row("file-read-only", "OSError: [Errno 30] Read-only file system: '/data/checkpoints'");
    row("file-stale", "OSError: [Errno 116] Stale file handle: '/mnt/nfs/data/shard-0003.rmtok'");
    row("file-io", "OSError: [Errno 5] Input/output error: '/data/train/shard-0003.rmtok'");
    row("ssh-key", "user@node-b: Permission denied (publickey,password).");
    row("ssh-host-key", "Host key verification failed.");
    row("ssh-host-key", "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @");
    row("ssh-timeout", "ssh: connect to host 10.0.0.7 port 22: Connection timed out");
    row("ssh-refused", "ssh: connect to host 10.0.0.7 port 2222: Connection refused");
    row("ssh-route", "ssh: connect to host 10.0.0.7 port 22: No route to host");
    row("ssh-name", "ssh: Could not resolve hostname node-b: Name or service not known");
    row("ssh-exchange", "kex_exchange_identification: Connection closed by remote host");
    row("ssh-broken", "client_loop: send disconnect: Broken pipe");
    row("ssh-broken", "Connection to node-b closed by remote host.");
    // clang-format on
}

void TestLogErrors::eachMessageIsKnownAndNoOtherRowFitsIt() {
    QFETCH(QString, id);
    QFETCH(QString, line);
    const KnownError* known = knownErrorIn(line.toStdString());
    QVERIFY(known);
    QCOMPARE(QString(known->id), id);
    for (const KnownError& other : knownErrors())
        for (const char* pattern : other.patterns) {
            if (!pattern || other.id == known->id || kAlso.contains({id, QString(other.id)}))
                continue;
            qsizetype at = 0;
            for (const QString& part : QString(pattern).split(" ... "))
                at = at < 0                       ? at
                     : line.indexOf(part, at) < 0 ? -1
                                                  : line.indexOf(part, at) + part.size();
            QVERIFY2(at < 0, other.id);
        }
}

void TestLogErrors::everyRowHasAMessageAndWords() {
    eachMessageIsKnownAndNoOtherRowFitsIt_data();
    QSet<QString> ids;
    for (const KnownError& error : knownErrors()) {
        QVERIFY2(!ids.contains(error.id), error.id);
        ids << error.id;
        for (const char* text : {error.area, error.meaning, error.fix})
            QVERIFY2(*text != '\0' && simplified(text) == text, error.id);
        QVERIFY2(QString(error.meaning).endsWith('.') && QString(error.fix).endsWith('.'),
                 error.id);
        QVERIFY2(error.patterns[0], error.id);
        QCOMPARE(areaOf(error), std::string(error.area)); // no other language here
    }
    QVERIFY(ids.size() >= 40);
}

void TestLogErrors::whatIsNoErrorIsNotKnown() {
    for (const char* line :
         {"", "step 100  loss 3.214", "rank 0 of 8 on cuda:0",
          "node-a:41200:41310 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
          "node-a:41200:41310 [0] NCCL INFO Connected all rings",
          "[I1130 06:07:14.123456789 ProcessGroupNCCL.cpp:881] [PG 0 Rank 0] ProcessGroupNCCL "
          "initialization options: size: 8, global rank: 0, TIMEOUT(ms): 600000",
          "INFO:root:connect to 10.0.0.1 returned", "checkpoint of step 200 saved"})
        QVERIFY2(!knownErrorIn(line), line);
}

void TestLogErrors::theFirstKnownErrorOfATextCounts() {
    const std::string text = "Traceback (most recent call last):\n"
                             "RuntimeError: CUDA error: out of memory\n"
                             "Connection to node-b closed by remote host.\n";
    QCOMPARE(QString(knownErrorInText(text)->id), QString("cuda-memory"));
    QVERIFY(!knownErrorInText("nothing\nto see\n"));
}

/// In the order of the table, each area under its title.
void TestLogErrors::theManualListsThem() {
    QFile file(qEnvironmentVariable("RINGMASTER_SOURCE") + "/resources/manual/failures.md");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString page = QString::fromUtf8(file.readAll()).simplified();
    QString wanted, area;
    for (const KnownError& error : knownErrors()) {
        if (area != error.area)
            wanted += QString(" ### %1").arg(area = error.area);
        QStringList patterns;
        for (const char* pattern : error.patterns)
            if (pattern)
                patterns << QString("`%1`").arg(pattern);
        wanted += QString(" - %1: %2 %3").arg(patterns.join(", "), error.meaning, error.fix);
    }
    QVERIFY2(page.contains(wanted.simplified()), qPrintable("the list is to be:\n" + wanted));
}

QTEST_GUILESS_MAIN(TestLogErrors)
#include "tst_log_errors.moc"
