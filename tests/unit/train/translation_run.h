// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <QFile>

#include <string>

namespace rm::test {

/// A few hundred made-up sentences of several lengths with their translations, as TSV.
inline QByteArray translatedSentences() {
    const std::pair<QByteArray, QByteArray> nouns[] = {
        {"file", "il file"},         {"window", "la finestra"}, {"network", "la rete"},
        {"printer", "la stampante"}, {"user", "l'utente"},      {"key", "la chiave"},
    };
    const std::pair<QByteArray, QByteArray> sentences[] = {
        {"%n", "%n"},
        {"open the %n number %i", "apri %n numero %i"},
        {"the %n is not there", "%n non c'è"},
        {"cannot read the %n: line %i, please try again", "lettura impossibile: %n, riga %i"},
        {"%i of the first %i bytes of the %n could not be written, and were lost for ever",
         "%i dei primi %i byte non sono stati scritti e sono andati perduti: %n"},
    };
    QByteArray lines;
    for (int i = 1; i <= 12; ++i) {
        const QByteArray number = QByteArray::number(i);
        for (const auto& [english, italian] : nouns)
            for (const auto& [source, target] : sentences) {
                lines += QByteArray(source).replace("%n", english).replace("%i", number) + "\t";
                lines += QByteArray(target).replace("%n", italian).replace("%i", number) + "\n";
            }
    }
    return lines;
}

/// A translation of them that the real trainer finishes in about a second; writes them to `path`.
/// A position of its data is a batch, however many ranks there are.
inline RunSpec translationSpec(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(translatedSentences()) < 0)
        qFatal("cannot write %s", qPrintable(path));
    RunSpec spec;
    spec.name = "translation";
    spec.model.type = "translation";
    spec.model.layers = 2;
    spec.model.heads = 4;
    spec.model.width = 32;
    spec.model.feedForward = 48;
    spec.model.context = 64;
    spec.data.train = {path.toStdString()};
    spec.data.tokenizer = "sentencepiece";
    spec.data.vocabSize = 400;
    spec.data.validationShare = 0.1;
    spec.train.steps = 12;
    spec.train.batchTokens = 128;
    spec.train.labelSmoothing = 0.1;
    spec.train.threads = 1;
    spec.optimizer.lr = 3e-3;
    spec.schedule.warmupSteps = 3;
    spec.validation.every = 0;
    spec.validation.batches = 2;
    spec.validation.sampleTokens = 24;
    spec.checkpoint.every = 0;
    spec.launch.device = "cpu";
    return spec;
}

} // namespace rm::test
