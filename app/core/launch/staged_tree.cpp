// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/staged_tree.h"

#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"

namespace rm {

namespace {

/// What these paths lead to, as often as the trainer reads it, below `folder`.
Result<void> append(LocalTree& staged, const RunSpec& spec, const std::vector<std::string>& paths,
                    const std::string& folder) {
    if (paths.empty())
        return {};
    const bool arePictures = familyOf(spec).data == DataKind::kPictures;
    RM_ASSIGN_OR_RETURN(const auto tree,
                        dataTree(paths, arePictures ? Repeated::kAlways : Repeated::kOnce));
    for (const LocalTree::File& file : tree.files)
        staged.files.push_back({folder + "/" + file.path, file.local, false});
    return {};
}

/// Whatever its original name, the file or folder is staged under `folder`, where specForNode()
/// expects it; a file as `nameOfFile`, unless that is empty.
Result<void> appendOne(LocalTree& staged, const std::string& path, const std::string& folder,
                       const std::string& nameOfFile) {
    if (path.empty())
        return {};
    // By each of its names, as programs ask for files of a folder of weights by them.
    RM_ASSIGN_OR_RETURN(const auto tree, dataTree({path}, Repeated::kAlways));
    for (const LocalTree::File& file : tree.files) {
        const size_t slash = file.path.find('/');
        const std::string own = nameOfFile.empty() ? file.path : nameOfFile;
        const std::string name = slash == file.path.npos ? own : file.path.substr(slash + 1);
        staged.files.push_back({folder + "/" + name, file.local, false});
    }
    return {};
}

} // namespace

Result<LocalTree> stagedTree(const RunSpec& spec) {
    LocalTree staged{"data", {}};
    RM_RETURN_IF_ERROR(append(staged, spec, spec.data.train, "train"));
    RM_RETURN_IF_ERROR(append(staged, spec, spec.data.validation, "validation"));
    const std::string tokenizer =
        spec.data.tokenizer == "tokenizer.json" ? "tokenizer.json" : "tokenizer.model";
    RM_RETURN_IF_ERROR(appendOne(staged, spec.data.tokenizerFile, "tokenizer", tokenizer));
    RM_RETURN_IF_ERROR(appendOne(staged, spec.model.startFrom, "start_from", ""));
    return staged;
}

} // namespace rm
