// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/data_files.h"
#include "shared/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// Pictures in classes by folder, ROOT/CLASS/**/*.{jpg,jpeg,png,webp,bmp} in any case, as
/// torchvision.datasets.ImageFolder reads them. Folders of the same name in several roots are one
/// class. Ignores hidden files and folders. A symbolic link is a picture of its own, so that one
/// may be of several classes or count several times. Copies of this object share the names.
class ImageFolder {
public:
    /// kNotFound / kDenied / kInvalid (no pictures in folders there) name the path.
    static Result<ImageFolder> scan(const std::vector<std::string>& roots,
                                    Others others = Others::kRefused);

    /// Sorted by name; each has at least one picture.
    const std::vector<std::string>& classes() const { return m_names->classes; }

    int64_t count() const { return static_cast<int64_t>(m_pictures.size()); }
    std::string path(int64_t index) const;
    int64_t label(int64_t index) const { return m_pictures[static_cast<size_t>(index)].label; }

    /// A hash that is the same on every machine with the same classes and names below its roots.
    std::string identity() const;
    /// A hash of the sizes of its files, and of bytes of some, by which a later start can tell that
    /// pictures were replaced. Of a million pictures it looks at every twentieth or so.
    std::string content() const;

    /// Splits off `share` of the pictures by name alone: pictures whose names differ only in root
    /// and extension stay together. At least one remains; at least one is held out unless share is
    /// 0 or there is only one name. Returns {rest, held out}.
    std::pair<ImageFolder, ImageFolder> split(double share) const;

    /// The same pictures, labelled by these classes. kInvalid names a class that is not among them.
    Result<ImageFolder> relabelled(const std::vector<std::string>& classes) const;

private:
    /// A picture in 16 bytes, so that 1.3 million with their names take 60 MB.
    struct Picture {
        uint32_t root = 0;
        uint32_t label = 0;
        uint64_t name = 0; ///< where in Names::text "CLASS/.../FILE" begins; ends with a zero
    };
    struct Names {
        std::vector<std::string> roots;
        std::vector<std::string> classes;
        std::string text;
    };

    const char* name(const Picture& picture) const { return m_names->text.data() + picture.name; }
    std::string_view stem(const Picture& picture) const;

    std::shared_ptr<const Names> m_names;
    std::vector<Picture> m_pictures; ///< by class, name, root
};

} // namespace rm
