// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/pairs/pair_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include <algorithm>
#include <random>

namespace rm::test {

/// A folder for files of pairs, which goes with it.
class PairFolder {
public:
    std::string path(const char* name = "") const { return m_dir.filePath(name).toStdString(); }

    std::string write(const char* name, const std::string& content) const {
        QDir(m_dir.path()).mkpath(QFileInfo(name).path());
        QFile file(m_dir.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write(QByteArray::fromStdString(content));
        return path(name);
    }

    QStringList files(const char* folder = "") const {
        return QDir(m_dir.filePath(folder)).entryList(QDir::Files, QDir::Name);
    }

private:
    QTemporaryDir m_dir;
};

using Ids = std::vector<int32_t>;

/// A shard of ids with these vocabularies of 1000.
inline std::string writeIds(const PairFolder& folder, const char* name,
                            const std::vector<std::pair<Ids, Ids>>& pairs) {
    auto writer = PairFileWriter::create(folder.path(name), {2, 1000, 1000, "", ""});
    for (const auto& [source, target] : pairs)
        static_cast<void>(writer->append(source, target));
    static_cast<void>(writer->finish());
    return folder.path(name);
}

/// Ids from 3 on with 0 behind, `length` in all.
inline Ids someIds(int length, std::mt19937& engine) {
    Ids ids(static_cast<size_t>(length), 0);
    std::generate(ids.begin(), ids.end() - 1, [&] { return int32_t(3 + engine() % 900); });
    return ids;
}

/// Pairs of all lengths from 1 to `longest`.
inline std::vector<std::pair<Ids, Ids>> somePairs(int count, int longest) {
    std::mt19937 engine(5);
    std::vector<std::pair<Ids, Ids>> pairs;
    for (int i = 0; i < count; ++i) {
        const int source = 1 + int(engine() % unsigned(longest));
        const int target = std::min(longest, 1 + source / 2 + int(engine() % unsigned(source)));
        pairs.emplace_back(someIds(source, engine), someIds(target, engine));
    }
    return pairs;
}

} // namespace rm::test
