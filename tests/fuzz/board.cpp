// SPDX-License-Identifier: Apache-2.0
#include "shared/board/board.h"

#include "shared/board/page.h"
#include "shared/io/descriptor.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

using namespace rm;

namespace {

// A file that lives in memory alone, by its name in /proc.
const std::string& pagePath() {
    static const int fd = ::memfd_create("board", 0);
    static const std::string path = "/proc/self/fd/" + std::to_string(fd);
    return path;
}

void writePage(std::span<const std::byte> content) {
    auto file = openFile(pagePath(), O_WRONLY | O_TRUNC);
    RM_HOLDS(file.has_value());
    RM_HOLDS(writeAll(file->get(), content, pagePath()).has_value());
}

void use(const std::string& path) {
    auto board = Board::open(path);
    if (!board)
        return;
    (void)collectiveName(board->status().main.kind);
    const bool waiting = board->pendingCommand().has_value();
    const auto posted = board->postCommand({"id", CommandKind::kHold, {}});
    RM_HOLDS(posted.has_value());
    RM_HOLDS(!waiting || !*posted);
    board->commandDone();
    RM_HOLDS(!board->pendingCommand());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::vector<std::byte> page(fuzz::bytes(data, size).begin(), fuzz::bytes(data, size).end());
    writePage(page);
    use(pagePath());
    // The same as a page of the right size and layout.
    page.resize(sizeof(BoardPage));
    const BoardPage fresh;
    const auto head = std::as_bytes(std::span(&fresh, 1)).first(12);
    std::copy(head.begin(), head.end(), page.begin());
    writePage(page);
    use(pagePath());
    return 0;
}
