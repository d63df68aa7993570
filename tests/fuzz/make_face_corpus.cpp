// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the seeds of the target face_message into FOLDER/face_message/: every message once.
#include "shared/io/file.h"
#include "tests/unit/core/engine/face_examples.h"

#include <cstdio>

using namespace rm;

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_face_corpus FOLDER\n");
        return 2;
    }
    const std::string folder = std::string(argv[1]) + "/face_message";
    auto done = makeFolders(folder);
    size_t number = 0;
    for (const face::Message& message : example::faceMessages()) {
        const std::string name = (number < 10 ? "message-0" : "message-") + std::to_string(number);
        if (done)
            done =
                writeFileAtomically(folder + "/" + name, encodeFaceMessage(message).toStdString());
        ++number;
    }
    if (!done)
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
}
