// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/text/token_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include <string>
#include <vector>

namespace rm::test {

/// A folder of files to learn from, which goes away with it.
class Folder {
public:
    std::string path(const char* name = "") const { return m_dir.filePath(name).toStdString(); }
    std::string write(const char* name, const QByteArray& content) const {
        QDir(m_dir.path()).mkpath(QFileInfo(name).path());
        QFile file(m_dir.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write(content);
        return path(name);
    }

private:
    QTemporaryDir m_dir;
};

/// Writes a shard of `tokens`; its path.
inline std::string shard(const Folder& folder, const char* name, const std::vector<int32_t>& tokens,
                         int64_t vocabSize) {
    auto writer = TokenFileWriter::create(folder.path(name), vocabSize);
    static_cast<void>(writer->append(tokens.data(), tokens.size()));
    static_cast<void>(writer->finish());
    return folder.path(name);
}

inline std::vector<int64_t> readAll(const TokenStream& stream) {
    std::vector<int64_t> tokens(static_cast<size_t>(stream.count()));
    stream.read(0, stream.count(), tokens.data());
    return tokens;
}

} // namespace rm::test
