// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/spec_words.h"

#include "app/ui/look/format.h"
#include "shared/spec/model_family.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace rm {

namespace {

struct SpecWords {
    Q_DECLARE_TR_FUNCTIONS(SpecWords)
};

QString number(double value) {
    return QString::number(value, 'g', 6);
}

QString steps(int64_t count) {
    return counted(count, SpecWords::tr("1 step"), SpecWords::tr("%1 steps"));
}

/// "every 100 steps", "every epoch", both or, where nothing is due by itself, nothing.
QStringList whenWords(int64_t everySteps, int64_t everyEpochs) {
    QStringList when;
    if (everySteps > 0)
        when << SpecWords::tr("every %1").arg(steps(everySteps));
    if (everyEpochs > 0)
        when << SpecWords::tr("every %1")
                    .arg(counted(everyEpochs, SpecWords::tr("epoch"), SpecWords::tr("%1 epochs")));
    return when;
}

QString modelWords(const RunSpec& spec) {
    const auto& model = spec.model;
    const ModelFamily* family = findFamily(model.type);
    const DataKind data = family ? family->data : DataKind::kText;
    if (data == DataKind::kPictures)
        return SpecWords::tr("%1, pictures of %2 × %2")
            .arg(QString::fromStdString(model.type), QString::number(model.imageSize));
    const QString layers = QString::number(model.layers);
    return SpecWords::tr("%1, %2 layers, width %3, %4 heads, context %5")
        .arg(QString::fromStdString(model.type),
             data == DataKind::kPairs ? layers + " + " + layers : layers,
             QString::number(model.width), QString::number(model.heads),
             QString::number(model.context));
}

QString dataWords(const RunSpec& spec) {
    QStringList parts;
    if (spec.data.validation.empty())
        parts << SpecWords::tr("%1 held out").arg(formatPercent(spec.data.validationShare));
    else
        parts << SpecWords::tr("separate validation data");
    if (usesField(spec, "data.tokenizer"))
        parts << QString::fromStdString(spec.data.tokenizer);
    if (spec.data.stage)
        parts << SpecWords::tr("sent to the nodes");
    return parts.join(", ");
}

QString trainWords(const RunSpec& spec) {
    const auto& train = spec.train;
    QStringList parts{SpecWords::tr("seed %1").arg(spec.seed)};
    if (train.globalBatch > 0)
        parts << SpecWords::tr("%1 samples a step").arg(train.globalBatch);
    else if (train.accumulation > 1)
        parts << SpecWords::tr("%1 batches a step").arg(train.accumulation);
    if (train.labelSmoothing > 0)
        parts << SpecWords::tr("label smoothing %1").arg(number(train.labelSmoothing));
    if (train.ema > 0)
        parts << SpecWords::tr("weights averaged");
    if (train.activationCheckpointing)
        parts << SpecWords::tr("activations computed again");
    if (!spec.rules.empty())
        parts << counted(static_cast<int64_t>(spec.rules.size()), SpecWords::tr("1 rule"),
                         SpecWords::tr("%1 rules"));
    parts << (train.patience > 0 ? SpecWords::tr("ends early by %1").arg(train.watch.c_str())
                                 : SpecWords::tr("best by %1").arg(train.watch.c_str()));
    return parts.join(", ");
}

QString optimizerWords(const RunSpec& spec) {
    const auto& schedule = spec.schedule;
    QStringList parts{QString::fromStdString(spec.optimizer.type)};
    if (spec.optimizer.weightDecay > 0)
        parts << SpecWords::tr("weight decay %1").arg(number(spec.optimizer.weightDecay));
    if (spec.optimizer.clip > 0)
        parts << SpecWords::tr("clip %1").arg(number(spec.optimizer.clip));
    if (schedule.warmupSteps > 0)
        parts << SpecWords::tr("%1 of warm-up").arg(steps(schedule.warmupSteps));
    parts << QString::fromStdString(schedule.type);
    return parts.join(", ");
}

QString validationWords(const RunSpec& spec) {
    const auto& validation = spec.validation;
    if (!validates(spec))
        return SpecWords::tr("never");
    QStringList parts = whenWords(validation.every, validation.everyEpochs);
    parts << counted(validation.batches, SpecWords::tr("1 batch"), SpecWords::tr("%1 batches"));
    if (usesField(spec, "validation.beams"))
        parts << (validation.beams > 1 ? SpecWords::tr("%1 beams").arg(validation.beams)
                                       : SpecWords::tr("greedy"));
    if (usesField(spec, "validation.prompt") && validation.sampleTokens > 0)
        parts << SpecWords::tr("a sample of %1 tokens").arg(validation.sampleTokens);
    if (usesField(spec, "validation.pictures") && validation.pictures > 0)
        parts << counted(validation.pictures, SpecWords::tr("1 picture kept"),
                         SpecWords::tr("%1 pictures kept"));
    return parts.join(", ");
}

QString checkpointWords(const RunSpec& spec) {
    const auto& checkpoint = spec.checkpoint;
    const QStringList due = whenWords(checkpoint.every, checkpoint.everyEpochs);
    const QString when =
        due.empty() ? SpecWords::tr("at the end, and when asked for") : due.join(", ");
    QString which = SpecWords::tr("last %1").arg(checkpoint.keepLast);
    if (checkpoint.keepEvery > 0)
        which += ", " + SpecWords::tr("every %1").arg(steps(checkpoint.keepEvery));
    if (checkpoint.keepBest && checkpoint.keepBestCount == 1)
        which += SpecWords::tr(" and best");
    else if (checkpoint.keepBest)
        which += SpecWords::tr(" and best %1").arg(checkpoint.keepBestCount);
    return when + ", " + SpecWords::tr("%1 stay").arg(which);
}

QString launchWords(const RunSpec& spec) {
    QStringList parts{spec.launch.device == "auto" ? SpecWords::tr("GPUs if available")
                                                   : QString::fromStdString(spec.launch.device)};
    parts << (spec.launch.interface.empty() ? SpecWords::tr("network chosen by the check")
                                            : QString::fromStdString(spec.launch.interface));
    if (spec.distribution.compression != "none")
        parts << SpecWords::tr("gradients as %1").arg(spec.distribution.compression.c_str());
    if (!spec.launch.environment.empty())
        parts << counted(static_cast<int64_t>(spec.launch.environment.size()),
                         SpecWords::tr("1 variable"), SpecWords::tr("%1 variables"));
    return parts.join(", ");
}

} // namespace

std::span<const SpecPart> specParts() {
    static const std::vector<SpecPart> parts = {
        {"model", QT_TRANSLATE_NOOP("SpecWords", "Model"), {"model"}, modelWords},
        {"data", QT_TRANSLATE_NOOP("SpecWords", "Data"), {"data"}, dataWords},
        {"train", QT_TRANSLATE_NOOP("SpecWords", "Training"), {"", "train"}, trainWords},
        {"optimizer",
         QT_TRANSLATE_NOOP("SpecWords", "Optimizer and schedule"),
         {"optimizer", "schedule"},
         optimizerWords},
        {"validation",
         QT_TRANSLATE_NOOP("SpecWords", "Validation and samples"),
         {"validation"},
         validationWords},
        {"checkpoint",
         QT_TRANSLATE_NOOP("SpecWords", "Checkpoints"),
         {"checkpoint"},
         checkpointWords},
        {"launch",
         QT_TRANSLATE_NOOP("SpecWords", "Distribution and environment"),
         {"distribution", "launch"},
         launchWords}};
    return parts;
}

std::string_view sectionOf(std::string_view key) {
    const size_t dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

std::vector<const SchemaRow*> changedFields(const RunSpec& spec, const RunSpec& base) {
    std::vector<const SchemaRow*> changed;
    RunSpec a = spec, b = base;
    for (const SchemaRow& field : schemaRows()) {
        const bool same =
            std::visit([&](auto* mine) { return *mine == *std::get<decltype(mine)>(field.ref(b)); },
                       field.ref(a));
        if (!same && usesField(spec, field))
            changed.push_back(&field);
    }
    return changed;
}

QString partSummary(const SpecPart& part, const RunSpec& spec, const RunSpec& base) {
    const auto fields = changedFields(spec, base);
    const auto count = std::ranges::count_if(fields, [&](const SchemaRow* field) {
        return !field->isBasic &&
               std::ranges::find(part.sections, sectionOf(field->key)) != part.sections.end();
    });
    const QString words = part.summary(spec);
    return count == 0 ? words : words + kSeparator + SpecWords::tr("%1 changed").arg(count);
}

} // namespace rm
