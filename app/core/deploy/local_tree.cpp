// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/deploy.h"
#include "app/core/findings/text.h"
#include "app/core/settings/paths.h"
#include "shared/io/data_files.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/wire/receive.h"

#include <QDir>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

namespace rm {

namespace fs = std::filesystem;

namespace {

tl::unexpected<Error> cannotRead(const fs::path& path, const std::error_code& cause) {
    return failErrno(say("deploy.read", {{"file", path.string()}}), cause.value());
}

tl::unexpected<Error> cannotStage(const std::string& path, const std::string& why) {
    return failAs(say("deploy.stage", {{"path", path}}), {ErrorCode::kInvalid, why});
}

Result<void> append(LocalTree& tree, const std::string& name, const fs::path& local) {
    if (!isTreePath(name))
        return cannotStage(local.string(), say("deploy.odd-name"));
    tree.files.push_back({name, local.string(), false});
    return {};
}

/// What the trainer reads of that folder.
Result<void> appendFolder(LocalTree& tree, const std::string& name, const fs::path& folder,
                          Repeated repeated) {
    const auto files = dataFiles(folder.string(), repeated);
    if (!files)
        return failAs(say("deploy.stage", {{"path", folder.string()}}), files.error());
    for (const std::string& below : *files)
        RM_RETURN_IF_ERROR(append(tree, name + '/' + below, folder / below));
    return {};
}

void leaveOutRepeated(LocalTree& tree) {
    std::set<std::string> seen;
    std::erase_if(tree.files, [&](const LocalTree::File& file) {
        std::error_code none;
        return !seen.insert(fs::canonical(file.local, none).string()).second;
    });
}

/// Whether one of them is the other one, or a folder above it.
bool areInEachOther(const std::string& a, const std::string& b) {
    return a == b || a.starts_with(b + '/') || b.starts_with(a + '/');
}

/// "corpus", and "2/corpus" for the next of that name: its folder keeps its name, which may tell a
/// language.
std::string freeName(const std::vector<std::string>& taken, const std::string& name) {
    std::string free = name;
    const auto isTaken = [&](const std::string& each) { return areInEachOther(each, free); };
    for (int number = 2; std::ranges::any_of(taken, isTaken); ++number)
        free = std::to_string(number) + '/' + name;
    return free;
}

/// ".../it" of gettext's ".../it/LC_MESSAGES" and of a file in that; empty: the path is another.
fs::path languageFolder(const fs::path& path) {
    for (const fs::path& folder : {path, path.parent_path()})
        if (folder.filename() == "LC_MESSAGES" && folder.parent_path().has_filename())
            return folder.parent_path();
    return {};
}

fs::path pathOf(const std::string& text) {
    const QString here = QString::fromStdString(text);
    return text.starts_with("~/") ? (QDir::homePath() + here.mid(1)).toStdString() : text;
}

Result<void> appendPath(LocalTree& tree, const std::string& name, const std::string& text,
                        Repeated repeated) {
    const fs::path path = pathOf(text);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (error)
        return cannotRead(path, error);
    if (fs::is_directory(status))
        return appendFolder(tree, name, path, repeated);
    if (fs::is_regular_file(status))
        return append(tree, name, path);
    return cannotStage(text, say("deploy.no-file-or-folder"));
}

} // namespace

std::vector<std::string> stagedNames(const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    for (const std::string& path : paths) {
        const fs::path plain = fs::absolute(pathOf(path)).lexically_normal();
        const fs::path whole = plain.has_filename() ? plain : plain.parent_path();
        const std::string last = whole.filename().string();
        const fs::path language = languageFolder(whole);
        const std::string name = language.empty()
                                     ? (last.empty() ? "root" : last)
                                     : whole.lexically_relative(language.parent_path()).string();
        names.push_back(freeName(names, name));
    }
    return names;
}

Result<LocalTree> dataTree(const std::vector<std::string>& paths, Repeated repeated) {
    LocalTree tree{"data", {}};
    const std::vector<std::string> names = stagedNames(paths);
    for (size_t i = 0; i < paths.size(); ++i) {
        RM_RETURN_IF_ERROR(appendPath(tree, names[i], paths[i], repeated));
    }
    if (repeated == Repeated::kOnce)
        leaveOutRepeated(tree);
    if (tree.files.empty())
        return cannotStage(joined(paths, " "), say("deploy.nothing-in-it"));
    std::ranges::sort(tree.files, {}, &LocalTree::File::path);
    return tree;
}

Result<LocalTree> trainerBundle(const std::string& runtime) {
    const std::string prefix = installPrefix().toStdString();
    const std::string manifest = prefix + "/share/ringmaster/bundle-" + runtime + ".txt";
    const auto text = readFile(manifest);
    if (!text && runtime != "cpu")
        return failAs(say("deploy.find-gpu-trainer", {{"runtime", runtime}}),
                      {ErrorCode::kNotFound,
                       say("deploy.no-gpu-trainer",
                           {{"file", manifest}, {"command", "packaging/run --" + runtime}})});
    if (!text)
        return failAs(say("deploy.find-trainer"), text.error());
    const std::string attempt = say("deploy.make-bundle");
    LocalTree tree{"bundles", {}};
    tree.label = std::string(RINGMASTER_RELEASE " ") + runtime;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        const size_t tab = line.find('\t');
        if (line.empty() || tab == std::string::npos)
            continue;
        const std::string path = line.substr(0, tab);
        const fs::path local = fs::path(prefix) / line.substr(tab + 1);
        if (std::error_code error; !fs::is_regular_file(local, error))
            return failAs(attempt, {ErrorCode::kNotFound,
                                    say("deploy.file-missing", {{"file", local.string()}})});
        tree.isInPlace |= local == fs::path(prefix) / path;
        tree.files.push_back({path, local.string(), path.starts_with("bin/")});
    }
    if (tree.files.empty())
        return failAs(attempt,
                      {ErrorCode::kCorrupt, say("deploy.file-empty", {{"file", manifest}})});
    return tree;
}

std::string trainerIdentity(const LocalTree& bundle) {
    constexpr size_t kDigits = 16;
    std::string digests;
    for (const LocalTree::File& file : bundle.files) {
        if (!file.path.starts_with("bin/") && file.path != "lib/libringmaster-cuda.so")
            continue;
        const auto digest = sha256HexOfFile(file.local);
        if (!digest)
            return {};
        digests += *digest;
    }
    const auto bytes = std::as_bytes(std::span(digests));
    return bundle.label + ' ' + sha256Hex(bytes).substr(0, kDigits);
}

} // namespace rm
