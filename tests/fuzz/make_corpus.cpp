// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of every target into FOLDER/TARGET/: one whole example of each kind, and a few
// inputs that are wrong in one way. What fuzzing found is kept beside them by hand.
#include "shared/io/file.h"
#include "shared/io/frame.h"
#include "tests/unit/shared/examples.h"

#include <cstdio>

using namespace rm;

namespace {

class Corpus {
public:
    explicit Corpus(std::string folder)
        : m_folder(std::move(folder)) {}

    void add(const std::string& target, const std::string& name, const std::string& text) {
        const std::string folder = m_folder + "/" + target;
        auto done = makeFolders(folder);
        if (done)
            done = writeFileAtomically(folder + "/" + name, text);
        if (!done) {
            std::fprintf(stderr, "%s\n", done.error().message.c_str());
            m_failed = true;
        }
    }
    void add(const std::string& target, const std::string& name, std::span<const std::byte> bytes) {
        add(target, name, example::textOf(bytes));
    }
    bool failed() const { return m_failed; }

private:
    std::string m_folder;
    bool m_failed = false;
};

std::string numbered(const char* name, size_t number) {
    return name + std::string(number < 10 ? "-0" : "-") + std::to_string(number);
}

void addPayloads(Corpus& corpus) {
    size_t number = 0;
    for (const Record& record : example::allRecords())
        corpus.add("record", numbered("record", number++), encodeRecord(record));
    corpus.add("record", "future", example::futureRecord());
    number = 0;
    for (const Message& message : example::messages()) {
        corpus.add("job_files", numbered("relay", number), frameMessage(message));
        corpus.add("message", numbered("message", number++), encodeMessage(message));
    }
    corpus.add("message", "future", example::futureMessage());
    number = 0;
    for (const Transfer& transfer : example::transfers())
        corpus.add("receive", numbered("transfer", number++), encodeTransfer(transfer));
}

void addStreams(Corpus& corpus) {
    const auto journal = example::journalFile();
    corpus.add("frame", "wire", example::wireStream());
    corpus.add("frame", "receive", example::transferStream());
    corpus.add("frame", "torn", std::span(journal).subspan(16, 200));
    corpus.add("journal", "whole", journal);
    corpus.add("journal", "torn", std::span(journal).first(journal.size() - 5));
    auto newer = journal;
    newer[8] = std::byte{2};
    corpus.add("journal", "newer", newer);
    auto damaged = journal;
    damaged[100] ^= std::byte{1};
    corpus.add("journal", "damaged", damaged);
}

void addTexts(Corpus& corpus) {
    corpus.add("spec", "every-key", toToml(example::spec()));
    corpus.add("spec", "defaults", toToml(RunSpec{}));
    corpus.add("spec", "mistakes", "seed = 1.5\n[optimiser]\nlrr = 'x'\n[[data]]\ntrain = [1]\n");
    corpus.add("rule", "whole", "validation/loss rises 3 times: lr / 2 and checkpoint");
    corpus.add("rule", "bound", "train/grad_norm above 1e3 2 times: checkpoint and pause");
    corpus.add("rule", "stalls", "validation/bleu stalls 5 times: stop");
    corpus.add("rule", "mistake", "train/loss below: lr * nan and hold and stop");
    corpus.add("node_plan", "whole", toToml(example::plan()));
    corpus.add("node_plan", "impossible", "run_id = 'a'\nworld_size = 9223372036854775807\n");
    corpus.add("node_report", "whole", toJson(example::nodeReport()));
    corpus.add("node_report", "empty", toJson(NodeReport{}));
    corpus.add("machine_sample", "facts", toJson(example::machineFacts()));
    corpus.add("machine_sample", "sample", toJson(example::machineSample()));
    corpus.add("machine_sample", "empty", toJson(MachineSample{}));
    corpus.add(
        "machine_sample", "mistakes",
        std::string(R"({"sample":{"cpu":-1,"gpus":[{"utilization":1e999},[]],"wall_ns":2.5}})"));
    corpus.add("measures", "all_reduce", toJson(example::allReduceReport()));
    corpus.add("measures", "step_profile", toJson(example::stepProfile()));
    corpus.add("measures", "try_answer", toJson(example::tryAnswer()));
    corpus.add("measures", "mistakes",
               std::string(R"({"device":"","fault":"","groups":[{"nodes":[-1],"ranks":0}]})"));
    corpus.add("self_test", "whole", toJson(example::selfTest()));
    corpus.add("self_test", "begun", toJson(SelfTest{}));
    corpus.add("self_test", "mistakes",
               std::string(R"({"complete":1,"proofs":[{"ms":1e9},[]],"wall_ns":"x"})"));
    corpus.add("node_report", "mistakes",
               std::string(R"({"cores":1e300,"gpus":[{"memory_bytes":-1},[]],"at_logout":"x"})"));
    corpus.add("manifest", "whole", toJson(example::manifest()));
    corpus.add("manifest", "newer", std::string("{\"version\":2}"));
}

void addPages(Corpus& corpus) {
    const auto file = example::safetensorsFile();
    corpus.add("safetensors", "whole", file);
    corpus.add("safetensors", "torn", std::span(file).first(file.size() - 1));
    corpus.add("board", "whole", example::boardPage());
    corpus.add("board", "zeros", std::vector<std::byte>(4096));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_corpus FOLDER\n");
        return 2;
    }
    Corpus corpus(argv[1]);
    addPayloads(corpus);
    addStreams(corpus);
    addTexts(corpus);
    addPages(corpus);
    return corpus.failed() ? 1 : 0;
}
