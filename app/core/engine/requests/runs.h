// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/run_folder.h"
#include "app/core/store/requested_command.h"
#include "shared/result.h"

#include <QByteArray>
#include <QFuture>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

class LocalEngine;

/// How long a run stays in the trash.
inline constexpr int kTrashDays = 30;

// Edits by a person are answered when the database has them.

struct NotesRequest {
    using Answer = Result<void>;

    QString run;
    QString notes;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const NotesRequest&) const = default;
};

struct TagsRequest {
    using Answer = Result<void>;

    QString run;
    QStringList tags;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const TagsRequest&) const = default;
};

struct StarRequest {
    using Answer = Result<void>;

    QString run;
    bool starred = false;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const StarRequest&) const = default;
};

/// Takes a run out of the lists, or puts it back. kInvalid: it has not ended.
struct ArchiveRequest {
    using Answer = Result<void>;

    QString run;
    bool archived = false;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const ArchiveRequest&) const = default;
};

/// See StoreWriter::setName().
struct RenameRequest {
    using Answer = Result<void>;

    QString run;
    QString name;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const RenameRequest&) const = default;
};

/// Moves a run to the trash, or back. kInvalid: it has not ended. What is in the trash for
/// kTrashDays is forgotten by the next engine that can write.
struct DeletedRequest {
    using Answer = Result<void>;

    QString run;
    bool deleted = false;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const DeletedRequest&) const = default;
};

/// Forgets for good what was moved to the trash before that moment; what it has on its nodes stays
/// there.
struct EmptyTrashRequest {
    using Answer = Result<void>;

    int64_t deletedBeforeNs = 0;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const EmptyTrashRequest&) const = default;
};

/// Tells what the run has on its nodes (see RunFolder): what RemoveFromNodesRequest would delete.
struct OnNodesRequest {
    using Answer = Result<std::vector<RunFolder>>;

    QString run;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const OnNodesRequest&) const = default;
};

/// Deletes the run's folder on each of its nodes, with the checkpoints in it; what is stored of the
/// run stays. kInvalid: it has not ended. Once done it is stored as a command (kClean).
struct RemoveFromNodesRequest {
    using Answer = Result<void>;

    QString run;
    Requester by = {};

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const RemoveFromNodesRequest&) const = default;
};

/// Brings the window to the front; false: this process serves none. FaceServer asks the others.
struct WindowRequest {
    using Answer = bool;

    QByteArray activationToken; ///< of the desktop ($XDG_ACTIVATION_TOKEN), may be empty

    std::string attempt() const;
    bool failed(const Error&) const { return false; }
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const WindowRequest&) const = default;
};

} // namespace rm
