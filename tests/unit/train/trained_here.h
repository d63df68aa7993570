// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/journal.h"
#include "shared/journal/segment.h"
#include "trainer/train/loop/train_loop.h"

#include <QFile>
#include <QTemporaryDir>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rm::test {

struct Trained {
    using Series = std::map<int64_t, float>; ///< by step
    std::map<MetricId, Series> samples;
    Series losses, norms;            ///< two of these
    std::vector<std::string> events; ///< "code: message"
};

inline Trained readRun(const std::string& folder) {
    Trained trained;
    const auto records = readSegments(folder, rankName(0));
    if (!records)
        qFatal("%s", records.error().message.c_str());
    for (const Record& record : *records) {
        if (const auto* event = std::get_if<Event>(&record))
            trained.events.push_back(event->code + ": " + event->message);
        const auto* samples = std::get_if<Samples>(&record);
        for (size_t i = 0; samples && i < samples->metric.size(); ++i)
            trained.samples[samples->metric[i]][samples->step] = samples->value[i];
    }
    trained.losses = trained.samples[metric::kTrainLoss];
    trained.norms = trained.samples[metric::kTrainGradNorm];
    return trained;
}

/// Trains in this process, alone, after `prepare` has seen to the session's device.
inline Trained trainHere(const RunSpec& spec,
                         const std::function<Result<void>(Session&)>& prepare) {
    const QTemporaryDir folder;
    QFile file(folder.filePath("spec.toml"));
    if (!file.open(QIODevice::WriteOnly) || file.write(toToml(spec).c_str()) < 0)
        qFatal("cannot write %s", qPrintable(file.fileName()));
    file.close();
    Options options;
    options.spec = file.fileName().toStdString();
    options.runDir = folder.path().toStdString();
    auto session = openSession(options, {});
    if (!session)
        qFatal("%s", session.error().message.c_str());
    if (const auto prepared = prepare(*session); !prepared)
        qFatal("%s", prepared.error().message.c_str());
    session->world = *World::join(session->environment, session->device); // alone: cannot fail
    {
        const auto loop = TrainLoop::create(*session);
        if (!loop)
            qFatal("%s", loop.error().message.c_str());
        const auto ending = (*loop)->run();
        if (!ending || ending->code != ExitCode::kOk)
            qFatal("the run failed");
    }
    session->telemetry->flush();
    return readRun(session->runDir + "/journal");
}

} // namespace rm::test
