// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/settings.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QTest>

using namespace rm;

namespace {

/// As transformers 5 writes it.
QJsonObject config() {
    return {{"model_type", "llama"},
            {"hidden_size", 64},
            {"intermediate_size", 112},
            {"num_hidden_layers", 2},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 2},
            {"head_dim", 16},
            {"vocab_size", 96},
            {"max_position_embeddings", 64},
            {"rms_norm_eps", 1e-5},
            {"hidden_act", "silu"},
            {"tie_word_embeddings", true},
            {"attention_bias", false},
            {"bos_token_id", 1},
            {"eos_token_id", QJsonArray{2, 5, 2, 4000}},
            {"rope_parameters", QJsonObject{{"rope_type", "default"}, {"rope_theta", 500.0}}}};
}

QJsonObject llama3() {
    return {{"rope_type", "llama3"},   {"rope_theta", 5000.0},
            {"factor", 8.0},           {"low_freq_factor", 1.0},
            {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 16}};
}

Result<LlamaSettings> read(const QJsonObject& object) {
    return llamaSettings(QJsonDocument(object).toJson().toStdString(), "a folder");
}

QJsonObject with(const char* key, const QJsonValue& value) {
    QJsonObject object = config();
    object[QLatin1String(key)] = value;
    return object;
}

QJsonObject withRope(const char* key, const QJsonValue& value) {
    QJsonObject rope = llama3();
    rope[QLatin1String(key)] = value;
    return with("rope_parameters", rope);
}

} // namespace

class TestLlamaConfig : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everySizeIsRead() {
        const auto settings = read(config());
        QVERIFY2(settings, settings ? "" : settings.error().message.c_str());
        LlamaSettings expected;
        expected.layers = 2;
        expected.width = 64;
        expected.heads = 4;
        expected.kvHeads = 2;
        expected.headDim = 16;
        expected.feedForward = 112;
        expected.context = 64;
        expected.vocab = 96;
        expected.ropeBase = 500;
        expected.normEps = 1e-5;
        expected.tiesEmbeddings = true;
        expected.begin = 1;
        expected.ends = {2, 5};
        QVERIFY(*settings == expected);
    }

    void whatIsAbsentHasTheDefaultOfTransformers() {
        QJsonObject object = config();
        for (const char* key : {"num_key_value_heads", "head_dim", "rms_norm_eps", "hidden_act",
                                "tie_word_embeddings", "bos_token_id", "rope_parameters"})
            object.remove(QLatin1String(key));
        object["eos_token_id"] = QJsonValue::Null;
        const auto settings = read(object);
        QVERIFY(settings);
        QCOMPARE(settings->kvHeads, int64_t{4});
        QCOMPARE(settings->headDim, int64_t{16});
        QCOMPARE(settings->normEps, 1e-6);
        QCOMPARE(settings->ropeBase, 10000.0);
        QVERIFY(!settings->tiesEmbeddings && !settings->begin && settings->ends.empty());
    }

    void bothFormsOfRotaryEmbeddingsAreOne() {
        const auto now = read(with("rope_parameters", llama3()));
        QJsonObject earlier = config();
        earlier.remove("rope_parameters");
        earlier["rope_theta"] = 5000.0;
        QJsonObject scaling = llama3();
        scaling.remove("rope_theta");
        earlier["rope_scaling"] = scaling;
        QVERIFY(now);
        QVERIFY(*read(earlier) == *now);
        QVERIFY(now->ropeScaling == (RopeScaling{RopeScaling::Kind::kLlama3, 8, 1, 4, 16}));
        earlier["rope_scaling"] = QJsonObject{{"type", "linear"}, {"factor", 2}};
        const auto linear = read(earlier);
        QVERIFY(linear);
        QVERIFY(linear->ropeScaling == (RopeScaling{RopeScaling::Kind::kLinear, 2}));
        QCOMPARE(linear->ropeBase, 5000.0);
    }

    void whatIsWrittenIsReadAgain() {
        for (const QJsonObject& object :
             {config(), with("rope_parameters", llama3()), with("eos_token_id", 3),
              with("rope_parameters",
                   QJsonObject{{"rope_type", "linear"}, {"factor", 2.5}, {"rope_theta", 7.5}}),
              with("bos_token_id", QJsonValue::Null), with("attention_dropout", 0.1)}) {
            const auto settings = read(object);
            QVERIFY(settings);
            const std::string written = llamaConfig(*settings);
            const auto again = llamaSettings(written, "it");
            QVERIFY(again);
            QVERIFY2(*again == *settings, written.c_str());
        }
    }

    void wrongValuesAreNamed_data() {
        QTest::addColumn<QJsonObject>("object");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const QJsonObject& object, const char* says) {
            QTest::newRow(name) << object << QString(says);
        };
        row("missing", with("hidden_size", QJsonValue::Null), "it has no hidden_size");
        row("text", with("hidden_size", "64"), "hidden_size is no whole number");
        row("half", with("hidden_size", 64.5), "hidden_size is no whole number");
        row("negative", with("num_hidden_layers", -1),
            "num_hidden_layers is -1, it must be from 1 to 1024");
        row("zero heads", with("num_attention_heads", 0), "num_attention_heads is 0");
        row("huge", with("vocab_size", 9e15), "it must be from 1 to 16777216");
        row("uneven heads", with("num_attention_heads", 3),
            "num_attention_heads does not divide hidden_size");
        row("uneven groups", with("num_key_value_heads", 3),
            "num_key_value_heads does not divide num_attention_heads");
        row("odd heads", with("head_dim", 15), "the width of a head is 15");
        row("eps", with("rms_norm_eps", 2), "rms_norm_eps is 2.0, it must be from 0.0 to 1.0");
        row("eps text", with("rms_norm_eps", "a"), "rms_norm_eps is no number");
        row("biases", with("attention_bias", true), "attention_bias is true");
        row("more biases", with("mlp_bias", true), "mlp_bias is true");
        row("activation", with("hidden_act", "gelu"), "hidden_act is \"gelu\", ours is \"silu\"");
        row("flag", with("tie_word_embeddings", 1), "tie_word_embeddings is neither");
        row("model", with("model_type", "mistral"), "model_type is \"mistral\"");
        row("rope", with("rope_parameters", 3), "rope_parameters is no object");
        row("yarn", withRope("rope_type", "yarn"), "scaled by \"yarn\"");
        row("dynamic", with("rope_scaling", QJsonObject{{"type", "dynamic"}, {"factor", 2}}),
            "scaled by \"dynamic\"; we have \"default\", \"linear\" and \"llama3\"");
        row("factor", withRope("factor", 0.5), "factor is 0.5");
        row("no factor", withRope("factor", QJsonValue::Null), "it has no factor");
        row("frequencies", withRope("low_freq_factor", 4), "not below high_freq_factor");
        row("base", withRope("rope_theta", 0), "rope_theta is 0");
        row("partial", withRope("partial_rotary_factor", 0.5), "partial_rotary_factor");
    }

    void wrongValuesAreNamed() {
        QFETCH(QJsonObject, object);
        QFETCH(QString, says);
        const auto settings = read(object);
        QVERIFY(!settings);
        QVERIFY(settings.error().code == ErrorCode::kInvalid);
        const QString message = QString::fromStdString(settings.error().message);
        QVERIFY2(message.contains("a folder") && message.contains(says), qPrintable(message));
    }

    void manyWrongsAreToldTogether() {
        QJsonObject object = with("hidden_act", "relu");
        object.remove("vocab_size");
        const QString message = QString::fromStdString(read(object).error().message);
        QVERIFY2(message.endsWith("it has no vocab_size; hidden_act is \"relu\", ours is "
                                  "\"silu\""),
                 qPrintable(message));
    }

    void whatIsNoConfigIsRefused() {
        for (const char* text : {"", "[]", "3", "{", "{\"hidden_size\": 1e999}", "null"})
            QVERIFY2(!llamaSettings(text, "it"), text);
    }
};

QTEST_GUILESS_MAIN(TestLlamaConfig)
#include "tst_llama_config.moc"
