// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "tests/support/fake_device.h"
#include "tests/unit/train/own_sums.h"
#include "tests/unit/train/trained_here.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/device/exact_products.h"
#include "trainer/train/dist/gloo.h"
#include "trainer/train/dist/sum_check.h"
#include "trainer/train/model/fused_ops.h"
#include "trainer/train/self_test/limited_device.h"
#include "trainer/train/self_test/self_test.h"
#include "trainer/train/self_test/trust.h"

#include <QObject>
#include <QTest>

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <array>
#include <cmath>
#include <thread>

using namespace rm;
using namespace rm::test;

namespace {

// A fake device's own kernels, which are ATen's; those below them are wrong.

NormedSum rightLayerNorm(const at::Tensor& residual, const at::Tensor& delta,
                         const at::Tensor& weight, const at::Tensor& bias, double eps,
                         NormedFor use) {
    const at::Tensor sum = residual + delta;
    const at::Tensor normed = at::layer_norm(sum, weight.sizes(), weight, bias, eps);
    return {sum, use == NormedFor::kProducts ? normed.to(delta.scalar_type()) : normed};
}

at::Tensor rightGelu(const at::Tensor& x, const at::Tensor& bias) {
    return at::gelu(x.to(at::kFloat) + bias, "tanh").to(x.scalar_type());
}

/// In float64, which autocast leaves as it is.
at::Tensor rightLoss(const at::Tensor& hidden, const OutputLayer& layer, const at::Tensor& targets,
                     const LossRule& rule) {
    at::Tensor logits = at::matmul(hidden.to(at::kDouble), layer.weight.to(at::kDouble).t());
    if (layer.bias.defined())
        logits = logits + layer.bias;
    return at::cross_entropy_loss(logits, targets, {}, at::Reduction::Mean, rule.ignoreIndex,
                                  rule.labelSmoothing)
        .to(at::kFloat);
}

at::Tensor wrongGelu(const at::Tensor& x, const at::Tensor& bias) {
    return rightGelu(x, bias) + 1;
}

NormedSum wrongLayerNorm(const at::Tensor& residual, const at::Tensor& delta,
                         const at::Tensor& weight, const at::Tensor& bias, double eps,
                         NormedFor use) {
    NormedSum wrong = rightLayerNorm(residual, delta, weight, bias, eps, use);
    wrong.normed = wrong.normed * 1.1;
    return wrong;
}

at::Tensor wrongLoss(const at::Tensor& hidden, const OutputLayer& layer, const at::Tensor& targets,
                     const LossRule& rule) {
    return rightLoss(hidden, layer, targets, rule) * 1.1;
}

constexpr FusedOps kRightKernels = {rightLayerNorm, rightGelu, rightLoss};
constexpr FusedOps kWrongGelu = {rightLayerNorm, wrongGelu, rightLoss};
constexpr FusedOps kWrongLayerNorm = {wrongLayerNorm, rightGelu, rightLoss};
constexpr FusedOps kWrongLoss = {rightLayerNorm, rightGelu, wrongLoss};

/// Changes one number of the first result of an ATen function and type that this thread computes,
/// as a faulty unit or memory would.
class DamagedResult {
public:
    DamagedResult()
        : m_handle(at::addThreadLocalCallback(at::RecordFunctionCallback(&begin, &end)
                                                  .scopes({at::RecordScope::FUNCTION})
                                                  .needsOutputs(true))) {
        ofType(nullptr, at::kFloat);
    }
    ~DamagedResult() { at::removeCallback(m_handle); }
    DamagedResult(const DamagedResult&) = delete;
    DamagedResult& operator=(const DamagedResult&) = delete;

    static void ofType(const char* function, at::ScalarType type) {
        s_function = function;
        s_type = type;
    }
    static bool isDone() { return s_function == nullptr; }

private:
    static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction&) { return nullptr; }
    static void end(const at::RecordFunction& called, at::ObserverContext*) {
        if (s_function == nullptr || std::string(called.name()) != s_function)
            return;
        const auto& outputs = called.outputs();
        if (outputs.empty() || !outputs.front().isTensor() ||
            outputs.front().toTensor().scalar_type() != s_type)
            return;
        s_function = nullptr; // before the functions below end
        at::Tensor one = outputs.front().toTensor();
        const at::Tensor much = one.abs().max();
        while (one.dim() > 0)
            one = one.select(0, 0);
        one.add_(much);
    }

    static inline const char* s_function = nullptr;
    static inline at::ScalarType s_type = at::kFloat;
    at::CallbackHandle m_handle;
};

class NeverDone final : public c10d::Work {
public:
    bool isCompleted() override { return false; }
};

/// Collectives of a device that loses what other ranks have, or never ends.
class WrongSums final : public c10d::Backend {
public:
    WrongSums(int rank, int ranks, bool ends = true)
        : Backend(rank, ranks)
        , m_ends(ends) {}
    const std::string getBackendName() const override { return "wrong"; }
    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                             const c10d::AllreduceOptions&) override {
        if (!m_ends)
            return c10::make_intrusive<NeverDone>();
        tensors.front().mul_(2);
        return c10::make_intrusive<DoneNow>();
    }
    void abort() override { ++aborts; }

    int aborts = 0;

private:
    bool m_ends;
};

/// Runs `work(rank, Gloo, another Gloo)` on two threads.
void onTwoRanks(const std::function<void(int, c10::intrusive_ptr<c10d::Backend>,
                                         c10::intrusive_ptr<c10d::Backend>)>& work) {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    const auto gloo = [&](const char* name, int own) {
        return makeGloo(c10::make_intrusive<c10d::PrefixStore>(name, store), own, 2, "127.0.0.1",
                        std::chrono::seconds(60));
    };
    const auto rank = [&](int own) {
        auto host = gloo("host", own);
        work(own, std::move(host), gloo("own", own));
    };
    std::thread other(rank, 1);
    rank(0);
    other.join();
}

RunSpec gptSpec(const QString& text) {
    RunSpec spec;
    spec.name = "gpt";
    spec.model.layers = 1;
    spec.model.heads = 2;
    spec.model.width = 16;
    spec.model.context = 16;
    spec.data.train = {text.toStdString()};
    spec.data.tokenizer = "bytes";
    spec.train.steps = 12;
    spec.train.batchSize = 2;
    spec.train.threads = 1;
    spec.optimizer.lr = 1e-2;
    spec.validation.every = 0;
    spec.checkpoint.every = 0;
    spec.launch.device = "cpu";
    return spec;
}

QStringList eventsOf(const Trained& trained, const char* code) {
    QStringList found;
    for (const std::string& event : trained.events)
        if (event.starts_with(std::string(code) + ": "))
            found << QString::fromStdString(event);
    return found;
}

/// Counts products and convolutions of this thread, and those that a GPU could compute as TF32.
class WatchedProducts {
public:
    WatchedProducts()
        : m_handle(at::addThreadLocalCallback(
              at::RecordFunctionCallback(&note).scopes({at::RecordScope::FUNCTION}))) {
        all = loose = 0;
    }
    ~WatchedProducts() { at::removeCallback(m_handle); }
    WatchedProducts(const WatchedProducts&) = delete;
    WatchedProducts& operator=(const WatchedProducts&) = delete;

    static inline int all = 0;
    static inline int loose = 0;

private:
    static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& called) {
        const std::string name = called.name();
        if (name != "aten::matmul" && name != "aten::conv2d")
            return nullptr;
        ++all;
        const at::Context& context = at::globalContext();
        if (context.allowTF32CuBLAS() || context.allowTF32CuDNN())
            ++loose;
        return nullptr;
    }

    at::CallbackHandle m_handle;
};

const SelfTestProof* proofOf(const SelfTest& test, const std::string& name) {
    for (const SelfTestProof& proof : test.proofs)
        if (proof.name == name)
            return &proof;
    return nullptr;
}

} // namespace

class TestSelfTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        qputenv("TORCH_FR_BUFFER_SIZE", "0"); // the recorder is not made for ranks on threads
        qputenv("RINGMASTER_HOME", m_home.path().toLocal8Bit());
        QFile text(m_home.filePath("text"));
        QVERIFY(text.open(QIODevice::WriteOnly));
        text.write(
            QByteArray("Whoever reads this again and again learns it by heart. ").repeated(40));
    }

    void cleanup() { setFusedOps(nullptr); }

    void aRightDeviceHoldsAllProofs() {
        FakeDevice device;
        device.who = {"GPU-right", "580", "fake"};
        device.ops = &kRightKernels;
        device.computes = true;
        const SelfTest test = testOf(device);
        QCOMPARE(test.proofs.size(), proofs().size());
        for (const SelfTestProof& proof : test.proofs)
            QVERIFY2(proof.held, (proof.name + ": " + proof.evidence).c_str());
        QVERIFY(test.complete);
    }

    void theCpuHoldsWhatMakesSenseThere() {
        const Device cpu = useCpu(1);
        SelfTest test = untested(cpu);
        showRest(cpu, proofs(), test, [](const SelfTest&) {});
        QVERIFY(proofOf(test, "sums") && proofOf(test, "memory"));
        QVERIFY(!proofOf(test, "GELU kernel") && !proofOf(test, "recorded steps"));
        for (const SelfTestProof& proof : test.proofs)
            QVERIFY2(proof.held, (proof.name + ": " + proof.evidence).c_str());
    }

    void productsThatAGpuComputesAsTf32AreNoFault() {
        useTf32(true); // LibTorch's own default lets convolutions
        const Device cpu = useCpu(1);
        const WatchedProducts watched;
        for (const Proof& proof : proofs())
            if (QString(proof.name).endsWith(" products"))
                proof.show(cpu);
        QVERIFY(WatchedProducts::all > 0);
        QCOMPARE(WatchedProducts::loose, 0);
        QVERIFY(at::globalContext().allowTF32CuBLAS() && at::globalContext().allowTF32CuDNN());
        useTf32(false);
    }

    void aWrongKernelIsOffAndTheOthersStay() {
        FakeDevice device;
        device.who = {"GPU-gelu", "580", "fake"};
        device.ops = &kWrongGelu;
        device.computes = true;
        const SelfTest test = testOf(device);
        QCOMPARE(failedPaths(test), std::set<std::string>{fast_path::kGelu});
        QVERIFY(proofOf(test, "GELU kernel")->evidence.find("allowed") != std::string::npos);
        const Device left = limited({&device, at::kCPU}, failedPaths(test));
        QVERIFY(left.plugin->fusedOps()->addLayerNorm == kRightKernels.addLayerNorm);
        QVERIFY(left.plugin->fusedOps()->classifierLoss == kRightKernels.classifierLoss);
        const at::Tensor x = at::full({2, 3}, 0.5);
        QVERIFY(!left.plugin->fusedOps()->biasGelu(x, x[0]).defined());
        QVERIFY(left.plugin->makeStepGraphs() != nullptr);
    }

    void aDeviceThatIsWrongInOneThingFailsThatProofAlone_data() {
        QTest::addColumn<QString>("proof");
        QTest::addColumn<const FusedOps*>("kernels");
        QTest::addColumn<QByteArray>("function");
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("copy");
        const auto add = [](const char* row, const char* proof, const FusedOps* kernels,
                            const char* function, at::ScalarType type, int copy) {
            QTest::newRow(row) << proof << kernels << QByteArray(function) << int(type) << copy;
        };
        const auto damaged = [&](const char* row, const char* proof, const char* function,
                                 at::ScalarType type) {
            add(row, proof, &kRightKernels, function, type, 0);
        };
        damaged("memory", "memory", "aten::arange", at::kLong);
        damaged("float32", "float32 products", "aten::matmul", at::kFloat);
        damaged("a convolution", "float32 products", "aten::conv2d", at::kFloat);
        damaged("bfloat16", "bfloat16 products", "aten::matmul", at::kBFloat16);
        damaged("float16", "float16 products", "aten::matmul", at::kHalf);
        add("layer norm", "layer norm kernel", &kWrongLayerNorm, "", at::kFloat, 0);
        add("GELU", "GELU kernel", &kWrongGelu, "", at::kFloat, 0);
        add("loss", "loss kernel", &kWrongLoss, "", at::kFloat, 0);
        add("a copy", "copies beside computing", &kRightKernels, "", at::kFloat, 3);
    }

    void aDeviceThatIsWrongInOneThingFailsThatProofAlone() {
        QFETCH(QString, proof);
        QFETCH(const FusedOps*, kernels);
        QFETCH(QByteArray, function);
        QFETCH(int, type);
        QFETCH(int, copy);
        FakeDevice device;
        const std::string uuid = std::string("GPU-") + QTest::currentDataTag();
        device.who = {uuid, "580", "fake"};
        device.ops = kernels;
        device.computes = true;
        device.damagedCopy = copy;
        SelfTest test;
        {
            const DamagedResult damaged;
            if (!function.isEmpty())
                DamagedResult::ofType(function.constData(), static_cast<at::ScalarType>(type));
            test = testOf(device);
            QVERIFY(DamagedResult::isDone());
        }
        QVERIFY(test.complete);
        for (const SelfTestProof& each : test.proofs)
            QVERIFY2(each.held == (each.name != proof.toStdString()),
                     (each.name + ": " + each.evidence).c_str());
        const auto texts = failureTexts(test);
        QCOMPARE(texts.size(), size_t{1});
        const std::string quoted = "failed in \"" + proof.toStdString() + '"';
        QVERIFY2(texts.front().find(quoted) != std::string::npos, texts.front().c_str());
        if (!failedPaths(test).contains(fast_path::kDevice))
            return;
        QVERIFY(keep(m_home.path().toStdString(), test));
        Session session;
        session.device = {&device, at::kCPU};
        const auto trusted = trustWhatIsProven(session, [](const Session&) -> Result<void> {
            return fail(ErrorCode::kInternal, "shown again");
        });
        QVERIFY(!trusted && trusted.error().code == ErrorCode::kUnavailable);
        QVERIFY2(trusted.error().message.find(proof.toStdString()) != std::string::npos,
                 trusted.error().message.c_str());
    }

    void productsAreMeasuredByTheirLargestNumber() {
        const at::Tensor a = at::randn({48, 96}, at::kFloat), b = at::randn({96, 32}, at::kFloat);
        const at::Tensor exact = at::matmul(a.to(at::kDouble), b.to(at::kDouble));
        const double largest = exact.abs().max().item<double>();
        const auto isFine = [&](const at::Tensor& mine, at::ScalarType type) {
            return deviationOf(mine, exact) <= limitOfProducts(type);
        };
        const at::Tensor mine = at::matmul(a, b);
        QVERIFY(isFine(mine, at::kFloat));
        // Rounded to a type they pass as products of that type alone.
        QVERIFY(isFine(mine.to(at::kHalf), at::kHalf));
        QVERIFY(!isFine(mine.to(at::kHalf), at::kFloat));
        QVERIFY(isFine(mine.to(at::kBFloat16), at::kBFloat16));
        QVERIFY(!isFine(mine.to(at::kBFloat16), at::kHalf));
        for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
            const double limit = limitOfProducts(type);
            const auto withOne = [&](double off) {
                at::Tensor damaged = exact.clone();
                damaged[7][5].add_(off);
                return damaged;
            };
            QVERIFY(isFine(withOne(0.99 * limit * largest), type));
            QVERIFY(!isFine(withOne(-1.01 * limit * largest), type));
            QVERIFY(!isFine(withOne(std::nan("")), type));
            QVERIFY(!isFine(withOne(HUGE_VAL), type));
        }
    }

    void aRecordingThatReplaysSomethingElseIsOff() {
        FakeDevice device; // its replays compute nothing any more
        device.who = {"GPU-graphs", "580", "fake"};
        device.ops = &kRightKernels;
        const SelfTest test = testOf(device);
        QCOMPARE(failedPaths(test), std::set<std::string>{fast_path::kRecordedSteps});
        const Device left = limited({&device, at::kCPU}, failedPaths(test));
        QVERIFY(left.plugin->makeStepGraphs() == nullptr);
        QVERIFY(left.plugin->fusedOps()->biasGelu == kRightKernels.biasGelu);
    }

    void collectivesThatSumWronglyAreOff() {
        FakeDevice device;
        device.who = {"GPU-sums", "580", "fake"};
        device.computes = true;
        device.collectives = [](const auto&, int rank, int ranks) {
            return c10::make_intrusive<WrongSums>(rank, ranks);
        };
        const SelfTest test = testOf(device);
        QCOMPARE(failedPaths(test), std::set<std::string>{fast_path::kCollectives});
        const Device left = limited({&device, at::kCPU}, failedPaths(test));
        QVERIFY(!left.plugin->makeBackend({}, 0, 1, std::chrono::seconds(1)));
    }

    void aNumberFormatThatTheDeviceLacksIsNotTested() {
        FakeDevice device; // as a Pascal GPU
        device.who = {"GPU-old", "535", "fake"};
        device.computes = true;
        device.hasBFloat16 = false;
        const SelfTest test = testOf(device);
        QVERIFY(test.complete && failedPaths(test).empty());
        QVERIFY(!proofOf(test, "bfloat16 products") && proofOf(test, "float16 products"));
    }

    void aNumberFormatThatFailedIsNotUsed() {
        FakeDevice device;
        const Device left = limited({&device, at::kCPU}, {fast_path::kBFloat16});
        const auto isOn = [&left](const char* precision) {
            const Autocast autocast(precision, left);
            return at::autocast::is_autocast_enabled(at::kCPU);
        };
        QVERIFY(!isOn("bfloat16"));
        QVERIFY(isOn("float16"));
    }

    void trainingGoesOnByThePlainWay() {
        FakeDevice device; // wrong recordings and a wrong kernel
        device.who = {"GPU-train", "580", "fake"};
        device.ops = &kWrongGelu;
        int shown = 0;
        const auto train = [&](const auto& prepare) {
            return trainHere(gptSpec(m_home.filePath("text")), prepare);
        };
        const Trained plain = train([](Session&) { return Result<void>(); });
        const auto proven = [&](Session& session) {
            session.device.plugin = &device;
            return trustWhatIsProven(session,
                                     [&](const Session& s) {
                                         ++shown;
                                         return showHere(s.device);
                                     })
                .map([&] { setFusedOps(session.device.plugin->fusedOps(), true); });
        };
        const Trained trained = train(proven);
        const QStringList off = eventsOf(trained, "fast-path-off");
        QCOMPARE(off.size(), 2);
        QVERIFY2(off[0].contains("\"GELU kernel\"") && off[0].contains("allowed"),
                 qPrintable(off[0]));
        QVERIFY2(off[1].contains("\"recorded steps\""), qPrintable(off[1]));
        QCOMPARE(eventsOf(trained, "self-test").size(), 1);
        QCOMPARE(trained.losses.size(), plain.losses.size());
        for (const auto& [step, loss] : plain.losses)
            QVERIFY2(std::abs(trained.losses.at(step) - loss) < 1e-4F,
                     qPrintable(QString("step %1: %2, plain %3")
                                    .arg(step)
                                    .arg(trained.losses.at(step))
                                    .arg(loss)));

        // The result is kept: the second start does not test again, and another driver does.
        const Trained again = train(proven);
        QCOMPARE(shown, 1);
        QVERIFY(again.losses == trained.losses);
        QCOMPARE(eventsOf(again, "fast-path-off"), off);
        QVERIFY(eventsOf(again, "self-test").isEmpty());
        device.who.driver = "595";
        train(proven);
        QCOMPARE(shown, 2);
    }

    void withoutTheProofTheseLossesWouldBeWrong() {
        const auto lossesWith = [&](const FusedOps* ops) {
            return trainHere(gptSpec(m_home.filePath("text")),
                             [&](Session&) {
                                 setFusedOps(ops, true);
                                 return Result<void>();
                             })
                .losses;
        };
        const float wrong = lossesWith(&kWrongGelu).rbegin()->second;
        const float right = lossesWith(nullptr).rbegin()->second;
        QVERIFY2(std::abs(wrong - right) > 1e-3F,
                 qPrintable(QString("%1 and %2").arg(wrong).arg(right)));
    }

    void aDeviceThatComputesWronglyIsRefusedByName() {
        SelfTest bad = untested(fakeCalled("GPU-bad"));
        bad.proofs = {{"memory", fast_path::kDevice, false, "3 of 8 stretches changed", 5}};
        bad.complete = true;
        QVERIFY(keep(m_home.path().toStdString(), bad));
        Session session;
        session.device = fakeCalled("GPU-bad");
        const auto trusted = trustWhatIsProven(session, [](const Session&) -> Result<void> {
            return fail(ErrorCode::kInternal, "shown again");
        });
        QVERIFY(!trusted);
        QCOMPARE(trusted.error().code, ErrorCode::kUnavailable);
        for (const char* word : {"memory", "3 of 8", "CUDA_VISIBLE_DEVICES"})
            QVERIFY2(trusted.error().message.find(word) != std::string::npos,
                     trusted.error().message.c_str());
    }

    void aProofThatEndsItsProcessFailsAndTheRestIsShown() {
        const std::string home = m_home.path().toStdString();
        const Device device = fakeCalled("GPU-crash");
        int processes = 0;
        const auto test = testedOnce(home, untested(device), [&]() -> Result<void> {
            SelfTest now = keptOr(home, untested(device));
            if (++processes > 1)
                return showHere(device);
            now.proofs.push_back({"memory", fast_path::kDevice, true, "fine", 1});
            now.proofs.push_back({"GELU kernel", fast_path::kGelu, false, "ended", 0});
            return keep(home, now).and_then([]() -> Result<void> {
                return fail(ErrorCode::kCorrupt, "ended by Segmentation fault");
            });
        });
        QVERIFY2(test, test ? "" : test.error().message.c_str());
        QCOMPARE(processes, 2);
        QVERIFY(test->complete && failedPaths(*test).contains(fast_path::kGelu));
        QVERIFY(proofOf(*test, "float32 products")->held);
    }

    void aTestThatCannotBeginIsNotRepeatedForEver() {
        int processes = 0;
        const auto test = testedOnce(m_home.path().toStdString(), untested(fakeCalled("GPU-none")),
                                     [&]() -> Result<void> {
                                         ++processes;
                                         return fail(ErrorCode::kExhausted, "no memory is left");
                                     });
        QVERIFY(!test);
        QCOMPARE(processes, 1);
        QVERIFY(test.error().message.find("no memory is left") != std::string::npos);
    }

    void aDamagedFileIsAsNone() {
        const std::string home = m_home.path().toStdString();
        const SelfTest fresh = untested(fakeCalled("GPU-torn"));
        QVERIFY(keep(home, fresh));
        QVERIFY(writeFileAtomically(selfTestFile(home, fresh), "{\"proofs\": 3}"));
        QVERIFY(keptOr(home, fresh) == fresh);
    }

    void allRanksSumThroughTheHostIfOneOfThemIsWrong() {
        std::array<std::string, 2> faults;
        std::array<float, 2> sums{};
        onTwoRanks([&](int rank, const auto& host, const auto& own) {
            const auto i = static_cast<size_t>(rank);
            const auto sound = soundBackend(c10::make_intrusive<OwnSums>(own, rank == 1), host,
                                            at::kCPU, std::chrono::seconds(60));
            faults[i] = sound.fault;
            std::vector<at::Tensor> values{at::full({3}, rank + 1.0)};
            sound.backend->allreduce(values)->wait();
            sums[i] = values.front()[2].template item<float>();
        });
        QCOMPARE(faults[0], std::string("another rank's failed"));
        QVERIFY2(faults[1].find("sums are wrong") != std::string::npos, faults[1].c_str());
        QCOMPARE(sums[0], 3.0F);
        QCOMPARE(sums[1], 3.0F);
    }

    void collectivesThatSumRightlyStay() {
        std::array<bool, 2> stays{};
        onTwoRanks([&](int rank, const auto& host, const auto& own) {
            const auto mine = c10::make_intrusive<OwnSums>(own, false);
            const auto sound = soundBackend(mine, host, at::kCPU, std::chrono::seconds(60));
            stays[static_cast<size_t>(rank)] =
                sound.fault.empty() && sound.backend.get() == mine.get();
        });
        QVERIFY(stays[0] && stays[1]);
    }

    void aRankWithoutCollectivesIsNotWaitedFor() {
        std::array<std::string, 2> faults;
        onTwoRanks([&](int rank, const auto& host, const auto&) {
            // Rank 0's would never end.
            c10::intrusive_ptr<c10d::Backend> own;
            if (rank == 0)
                own = c10::make_intrusive<WrongSums>(0, 2, false);
            faults[static_cast<size_t>(rank)] =
                soundBackend(std::move(own), host, at::kCPU, std::chrono::seconds(600)).fault;
        });
        QVERIFY(!faults[0].empty() && !faults[1].empty());
    }

    void aSumThatDoesNotComeIsGivenUp() {
        const auto hanging = c10::make_intrusive<WrongSums>(0, 2, false);
        const std::string fault = sumFault(*hanging, at::kCPU, std::chrono::seconds(0));
        QVERIFY2(fault.find("did not come") != std::string::npos, fault.c_str());
        QCOMPARE(hanging->aborts, 1);
    }

private:
    Device fakeCalled(const char* uuid) {
        auto& device = m_fakes.emplace_back(std::make_unique<FakeDevice>());
        device->who = {uuid, "580", "fake"};
        device->computes = true;
        return {device.get(), at::kCPU};
    }

    static Result<void> showHere(const Device& device) {
        const std::string home = qgetenv("RINGMASTER_HOME").toStdString();
        SelfTest test = keptOr(home, untested(device));
        showRest(device, proofs(), test, [&](const SelfTest& now) { (void)keep(home, now); });
        return {};
    }

    static SelfTest testOf(FakeDevice& device) {
        const Device at{&device, at::kCPU};
        SelfTest test = untested(at);
        showRest(at, proofs(), test, [](const SelfTest&) {});
        return test;
    }

    QTemporaryDir m_home;
    std::vector<std::unique_ptr<FakeDevice>> m_fakes;
};

QTEST_GUILESS_MAIN(TestSelfTest)
#include "tst_self_test.moc"
