// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/image_folder.h"

#include "shared/io/data_files.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"
#include "trainer/train/data/data_identity.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rm {
namespace fs = std::filesystem;
namespace {

std::string extensionOf(const fs::path& path) {
    std::string extension = path.extension().string();
    std::ranges::transform(extension, extension.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    return extension;
}

constexpr const char* kPictureNames = ".jpg, .jpeg, .png, .webp or .bmp";

bool isPicture(const std::string& extension) {
    const auto endings = endingsOf(DataKind::kPictures);
    return std::ranges::find(endings, extension) != endings.end();
}

/// Pictures all the same, which are not read: without them a class would be another. (Debian's
/// libtiff is linked to a library under the GPL, which may not meet NVIDIA's in one program.)
bool isOtherPicture(const std::string& extension) {
    constexpr std::string_view kOthers[] = {".tif", ".tiff", ".gif",  ".ppm",  ".pgm",  ".pnm",
                                            ".pbm", ".jp2",  ".avif", ".heic", ".heif", ".jxl",
                                            ".tga", ".svg",  ".ico",  ".jfif", ".jpe"};
    return std::ranges::find(kOthers, extension) != std::end(kOthers);
}

std::string attempt(const fs::path& path) {
    return "read pictures in " + path.string();
}

using ByClass = std::map<std::string, std::vector<std::string>>;

/// The folders of the root: a class each, without pictures so far.
Result<ByClass> classFolders(const std::string& root) {
    ByClass classes;
    std::error_code error;
    for (fs::directory_iterator entry(root, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (std::error_code gone; !name.starts_with('.') && entry->is_directory(gone))
            classes[name];
    }
    if (error)
        return failErrno(attempt(root), error.value());
    return classes;
}

/// What datasets call their parts, which are no classes.
bool areParts(const ByClass& classes) {
    constexpr std::string_view kParts[] = {"train",      "training", "val", "valid",
                                           "validation", "test",     "dev"};
    return classes.size() > 1 && std::ranges::all_of(classes, [&](const auto& each) {
               return std::ranges::find(kParts, each.first) != std::end(kParts);
           });
}

/// Names below the root, "CLASS/.../FILE", by class. kInvalid names a class without pictures, a
/// picture of a kind that is not read or of no class, and folders that are parts of a dataset.
Result<ByClass> picturesIn(const std::string& root, Others others) {
    RM_ASSIGN_OR_RETURN(auto classes, classFolders(root));
    const bool refuses = others == Others::kRefused;
    if (refuses && areParts(classes))
        return fail(ErrorCode::kInvalid,
                    attempt(root) + ": its folders are parts of a dataset, no classes: name " +
                        classes.begin()->first +
                        " and the others by data.train and data.validation");
    std::string other, loose;
    const auto visit = [&](const std::string& name) {
        const size_t slash = name.find('/');
        const std::string extension = extensionOf(name);
        if (slash == std::string::npos)
            loose = loose.empty() && isPicture(extension) ? name : loose;
        else if (isPicture(extension))
            classes[name.substr(0, slash)].push_back(name);
        else if (other.empty() && isOtherPicture(extension))
            other = name;
        return true;
    };
    RM_RETURN_IF_ERROR(visitDataFiles(root, visit, Repeated::kAlways));
    if (refuses && !loose.empty() && !classes.empty())
        return fail(ErrorCode::kInvalid, attempt(root) + ": " + loose +
                                             " lies beside the folders of the classes, so that it "
                                             "has none; move it into one, or away");
    if (!other.empty())
        return fail(ErrorCode::kInvalid, attempt(root) + ": " + other +
                                             " is of a kind that is not read; convert it and "
                                             "its like to .png or .jpg");
    for (const auto& [name, pictures] : classes)
        if (pictures.empty())
            return fail(ErrorCode::kInvalid, attempt(root) + ": the class " + name + " has no " +
                                                 kPictureNames +
                                                 " files of its own; "
                                                 "remove that folder, or put pictures there");
    return classes;
}

std::string withoutSlash(std::string path) {
    while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    return path;
}

} // namespace

Result<ImageFolder> ImageFolder::scan(const std::vector<std::string>& roots, Others others) {
    auto names = std::make_shared<Names>();
    ImageFolder folder;
    std::map<std::string, std::vector<Picture>> byClass;
    for (const std::string& path : roots) {
        const auto root = static_cast<uint32_t>(names->roots.size());
        names->roots.push_back(withoutSlash(path));
        RM_ASSIGN_OR_RETURN(const auto found, picturesIn(names->roots.back(), others));
        if (found.empty())
            return fail(ErrorCode::kInvalid, attempt(path) +
                                                 ": it has no folders (one a class) with " +
                                                 kPictureNames + " files");
        for (const auto& [name, pictures] : found)
            for (const std::string& picture : pictures) {
                byClass[name].push_back({root, 0, names->text.size()});
                names->text.append(picture).push_back('\0');
            }
    }
    for (auto& [name, pictures] : byClass) {
        const auto label = static_cast<uint32_t>(names->classes.size());
        names->classes.push_back(name);
        for (Picture& picture : pictures) {
            picture.label = label;
            folder.m_pictures.push_back(picture);
        }
    }
    folder.m_names = std::move(names);
    std::ranges::sort(folder.m_pictures, [&](const Picture& a, const Picture& b) {
        if (a.label != b.label)
            return a.label < b.label;
        const int order = std::strcmp(folder.name(a), folder.name(b));
        return order != 0 ? order < 0 : a.root < b.root;
    });
    return folder;
}

std::string ImageFolder::path(int64_t index) const {
    const Picture& picture = m_pictures[static_cast<size_t>(index)];
    return m_names->roots[picture.root] + "/" + name(picture);
}

std::string ImageFolder::identity() const {
    std::string text;
    for (const std::string& name : classes())
        text.append(name).push_back('\0');
    for (const Picture& picture : m_pictures)
        text.append(std::to_string(picture.root) + "/" + name(picture)).push_back('\0');
    return sha256Hex(std::as_bytes(std::span<const char>(text)));
}

std::string ImageFolder::content() const {
    constexpr int64_t kMost = 50'000;
    return sampledContent(count(), kMost, [this](int64_t at) { return path(at); });
}

std::string_view ImageFolder::stem(const Picture& picture) const {
    const std::string_view whole = name(picture);
    return whole.substr(0, whole.rfind('.'));
}

std::pair<ImageFolder, ImageFolder> ImageFolder::split(double share) const {
    const auto rank = [this](const Picture& picture) {
        const std::string_view text = stem(picture);
        return XXH3_64bits(text.data(), text.size());
    };
    std::vector<uint64_t> ranks;
    for (const Picture& picture : m_pictures)
        ranks.push_back(rank(picture));
    std::ranges::sort(ranks);
    const auto repeated = std::ranges::unique(ranks);
    ranks.erase(repeated.begin(), repeated.end());
    auto heldOut = static_cast<size_t>(std::llround(static_cast<double>(ranks.size()) * share));
    heldOut = std::clamp<size_t>(heldOut, share > 0 ? 1 : 0, ranks.size() - 1);
    const uint64_t limit = ranks[heldOut]; // the first that stays
    std::pair<ImageFolder, ImageFolder> parts;
    parts.first.m_names = parts.second.m_names = m_names;
    for (const Picture& picture : m_pictures)
        (rank(picture) < limit ? parts.second : parts.first).m_pictures.push_back(picture);
    return parts;
}

Result<ImageFolder> ImageFolder::relabelled(const std::vector<std::string>& known) const {
    std::vector<uint32_t> labels;
    for (const std::string& name : classes()) {
        const auto found = std::ranges::find(known, name);
        if (found == known.end())
            return fail(ErrorCode::kInvalid, attempt(m_names->roots.front()) + ": the class \"" +
                                                 name + "\" is not among the training data's");
        labels.push_back(static_cast<uint32_t>(found - known.begin()));
    }
    ImageFolder folder;
    auto names = std::make_shared<Names>(*m_names);
    names->classes = known;
    folder.m_names = std::move(names);
    for (Picture picture : m_pictures) {
        picture.label = labels[picture.label];
        folder.m_pictures.push_back(picture);
    }
    return folder;
}

} // namespace rm
