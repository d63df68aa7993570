// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/ranks_on_threads.h"
#include "tests/unit/train/training_pass.h"
#include "trainer/train/device/device.h"
#include "trainer/train/workloads/resnet/batch_norm.h"
#include "trainer/train/workloads/resnet/resnet.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <map>

using namespace rm;

namespace {

const World kAlone;

ResNet makeResNet(const char* type, int64_t classes = 1000, bool checkpointsActivations = false) {
    ResNet model({type, classes, {"cat", "dog"}, 224, 0.1, false, checkpointsActivations}, kAlone);
    model.initialize(at::detail::createCPUGenerator(3));
    return model;
}

std::map<std::string, at::Tensor> tensorsOf(const Model& model) {
    std::map<std::string, at::Tensor> tensors;
    for (const Parameter& parameter : model.parameters())
        tensors[parameter.name] = parameter.value.detach();
    for (const Buffer& buffer : model.buffers())
        tensors[buffer.name] = buffer.value;
    return tensors;
}

Batch someBatch(int64_t rows, int64_t pixels = 32) {
    const auto generator = at::detail::createCPUGenerator(5);
    return {{at::randint(256, {rows, 3, pixels, pixels}, generator, at::TensorOptions(at::kByte))
                 .contiguous(at::MemoryFormat::ChannelsLast),
             at::randint(10, {rows}, generator, at::TensorOptions(at::kLong))},
            rows};
}

constexpr int64_t kChannels = 5;

NormTensors someNorm() {
    const auto generator = at::detail::createCPUGenerator(9);
    const at::TensorOptions precise(at::kDouble);
    NormTensors norm{at::rand({kChannels}, generator, precise),
                     at::rand({kChannels}, generator, precise), at::zeros({kChannels}, precise),
                     at::ones({kChannels}, precise), at::zeros({}, at::kLong)};
    norm.weight.set_requires_grad(true);
    norm.bias.set_requires_grad(true);
    return norm;
}

/// What a batch norm made of (its rows of) a batch, and of the gradient that came back.
struct ResnetOutcome {
    NormTensors norm = someNorm();
    at::Tensor y, gradient;

    void run(const at::Tensor& rows, const at::Tensor& dy, const World* over) {
        at::Tensor x = rows.clone();
        x.set_requires_grad(true);
        y = batchNorm(x, norm, true, over);
        y.backward(dy);
        gradient = x.grad();
    }
};

double apart(const at::Tensor& mine, const at::Tensor& expected) {
    return (mine - expected).abs().max().item<double>();
}

} // namespace

class TestResNet : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Every bit of torchvision's ToTensor and Normalize, however a processor's registers cut a
    /// row.
    void picturesAreNormalizedAsTorchvisionDoes() {
        const at::Tensor pictures =
            at::randint(256, {5, 3, 37, 41}, at::kByte).contiguous(at::MemoryFormat::ChannelsLast);
        at::Tensor expected = at::empty(pictures.sizes(), at::kFloat);
        constexpr double kMean[] = {0.485, 0.456, 0.406}, kDeviation[] = {0.229, 0.224, 0.225};
        for (int64_t channel = 0; channel < 3; ++channel)
            expected.select(1, channel)
                .copy_(pictures.select(1, channel).to(at::kFloat).div_(255))
                .sub_(kMean[channel])
                .div_(kDeviation[channel]);
        const at::Tensor normalized = normalizePictures(pictures);
        QVERIFY(normalized.is_contiguous(at::MemoryFormat::ChannelsLast));
        QVERIFY(normalized.equal(expected));
    }

    void namesAndShapesAreTorchvisions() {
        const ResNet eighteen = makeResNet("resnet18");
        QCOMPARE(parameterCount(eighteen), int64_t{11689512});
        QCOMPARE(eighteen.buffers().size(), size_t{20 * 3});
        const ResNet fifty = makeResNet("resnet50");
        QCOMPARE(parameterCount(fifty), int64_t{25557032});
        QCOMPARE(fifty.buffers().size(), size_t{53 * 3});
        const auto tensors = tensorsOf(fifty);
        using Shape = std::vector<int64_t>;
        QCOMPARE(tensors.at("conv1.weight").sizes().vec(), (Shape{64, 3, 7, 7}));
        QCOMPARE(tensors.at("layer2.0.conv2.weight").sizes().vec(), (Shape{128, 128, 3, 3}));
        QCOMPARE(tensors.at("layer4.0.downsample.0.weight").sizes().vec(),
                 (Shape{2048, 1024, 1, 1}));
        QCOMPARE(tensors.at("bn1.num_batches_tracked").scalar_type(), at::kLong);
        QVERIFY(tensors.at("layer1.0.conv2.weight").is_contiguous(at::MemoryFormat::ChannelsLast));
    }

    void onlyMatricesDecay() {
        const ResNet model = makeResNet("resnet18");
        for (const Parameter& parameter : model.parameters())
            QCOMPARE(parameter.decays, parameter.value.dim() > 1);
    }

    void firstValuesAreTorchvisions() {
        const auto tensors = tensorsOf(makeResNet("resnet50"));
        const auto deviation = [&](const char* name) {
            return tensors.at(name).std().item<double>();
        };
        QVERIFY(std::abs(deviation("layer3.0.conv2.weight") / std::sqrt(2.0 / (256 * 9)) - 1) <
                0.01);
        const double bound = 1 / std::sqrt(2048.0);
        QVERIFY(tensors.at("fc.weight").abs().max().item<double>() <= bound);
        QVERIFY(std::abs(deviation("fc.weight") - bound / std::sqrt(3.0)) < 0.001);
        QCOMPARE(tensors.at("layer1.0.bn3.weight").min().item<double>(), 1.0);
        QCOMPARE(tensors.at("layer1.0.bn3.bias").abs().max().item<double>(), 0.0);
        QCOMPARE(tensors.at("bn1.running_var").min().item<double>(), 1.0);
    }

    void onlyTrainingSmoothsAndKeepsStatistics() {
        ResNet model = makeResNet("resnet18", 10);
        const Batch batch = someBatch(4);
        const auto count = [&] {
            return tensorsOf(model).at("layer1.0.bn1.num_batches_tracked").item<int64_t>();
        };
        const auto before = model.loss(batch, false).item<double>();
        QCOMPARE(count(), int64_t{0});
        QCOMPARE(model.loss(batch, false).item<double>(), before);
        static_cast<void>(model.loss(batch, true));
        QCOMPARE(count(), int64_t{1});
        QVERIFY(model.loss(batch, false).item<double>() != before);
    }

    void checkpointedActivationsGiveTheSameStep_data() {
        QTest::addColumn<QByteArray>("type");
        QTest::newRow("18") << QByteArray("resnet18");
        QTest::newRow("50") << QByteArray("resnet50");
    }

    /// The running statistics, too: the batch counts once.
    void checkpointedActivationsGiveTheSameStep() {
        QFETCH(QByteArray, type);
        ResNet kept = makeResNet(type, 10);
        ResNet again = makeResNet(type, 10, true);
        const Batch batch = someBatch(4);
        QVERIFY(test::areEqual(test::lossAndGradients(again, batch),
                               test::lossAndGradients(kept, batch)));
        const auto expected = tensorsOf(kept);
        for (const auto& [name, tensor] : tensorsOf(again))
            QVERIFY2(tensor.equal(expected.at(name)), name.c_str());
    }

    void checkpointedActivationsNeedLessMemory() {
        ResNet kept = makeResNet("resnet50", 10);
        ResNet again = makeResNet("resnet50", 10, true);
        const Batch batch = someBatch(4, 96);
        int64_t gradients = 0;
        for (const Parameter& parameter : kept.parameters())
            gradients += static_cast<int64_t>(parameter.value.nbytes());
        const int64_t most = test::trainingPeak(kept, batch) - gradients;
        const int64_t less = test::trainingPeak(again, batch) - gradients;
        QVERIFY2(less * 3 < most * 2, qPrintable(QString("%1 and %2 bytes").arg(less).arg(most)));
    }

    void configNamesArchitectureAndClasses() {
        const auto config =
            QJsonDocument::fromJson(QByteArray::fromStdString(makeResNet("resnet50").configJson()))
                .object();
        QCOMPARE(config["architecture"].toString(), "resnet50");
        QCOMPARE(config["num_classes"].toInt(), 1000);
        QCOMPARE(config["id2label"].toObject()["1"].toString(), "dog");
        QCOMPARE(config["pretrained_cfg"].toObject()["input_size"].toArray().at(2).toInt(), 224);
    }

    void synchronizedNormIsThatOfTheWholeBatch_data() {
        QTest::addColumn<int>("firstRows");
        QTest::newRow("halves") << 3;
        QTest::newRow("uneven") << 1;
    }

    /// In double, so that only a wrong formula could tell them apart.
    void synchronizedNormIsThatOfTheWholeBatch() {
        QFETCH(int, firstRows);
        const auto generator = at::detail::createCPUGenerator(4);
        const std::vector<int64_t> shape{6, kChannels, 4, 3};
        const at::Tensor x = at::randn(shape, generator, at::kDouble) * 3 + 100;
        const at::Tensor dy = at::randn(shape, generator, at::kDouble);
        ResnetOutcome whole, first, second;
        whole.run(x, dy, nullptr);
        const auto rows = [&](const at::Tensor& of, int rank) {
            return rank == 0 ? of.narrow(0, 0, firstRows) : of.narrow(0, firstRows, 6 - firstRows);
        };
        test::onRanks(2, [&](const World& world) {
            ResnetOutcome& mine = world.isFirst() ? first : second;
            mine.run(rows(x, world.rank()), rows(dy, world.rank()), &world);
        });
        QVERIFY(apart(at::cat({first.y, second.y}), whole.y) < 1e-10);
        QVERIFY(apart(at::cat({first.gradient, second.gradient}), whole.gradient) < 1e-10);
        const auto sum = [](const at::Tensor& a, const at::Tensor& b) {
            return a.grad() + b.grad();
        };
        QVERIFY(apart(sum(first.norm.weight, second.norm.weight), whole.norm.weight.grad()) < 1e-9);
        QVERIFY(apart(sum(first.norm.bias, second.norm.bias), whole.norm.bias.grad()) < 1e-10);
        for (const ResnetOutcome* one : {&first, &second}) {
            QVERIFY(apart(one->norm.mean, whole.norm.mean) < 1e-12);
            QVERIFY(apart(one->norm.variance, whole.norm.variance) < 1e-10);
            QCOMPARE(one->norm.batches.item<int64_t>(), int64_t{1});
        }
    }
};

QTEST_GUILESS_MAIN(TestResNet)
#include "tst_resnet.moc"
