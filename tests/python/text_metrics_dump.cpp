// SPDX-License-Identifier: Apache-2.0
// text_metrics_dump LINES: BLEU, chrF, CER and WER of LINES (translation TAB reference), as JSON:
// of all of them as one corpus, and of each alone.
#include "trainer/train/text_metrics/bleu.h"
#include "trainer/train/text_metrics/chrf.h"
#include "trainer/train/text_metrics/edit_rate.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>

namespace {

struct Counts {
    rm::BleuCounts bleu;
    rm::ChrfCounts chrf;
    rm::EditCounts characters, words;

    void add(const std::string& translation, const std::string& reference) {
        rm::addSentence(bleu, translation, reference);
        rm::addSentence(chrf, translation, reference);
        rm::addCharacters(characters, translation, reference);
        rm::addWords(words, translation, reference);
    }
    nlohmann::json scores() const {
        return {rm::bleu(bleu), rm::chrf(chrf), rm::errorRate(characters), rm::errorRate(words)};
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: text_metrics_dump LINES\n", stderr);
        return 2;
    }
    Counts all;
    nlohmann::json scores;
    std::ifstream lines(argv[1]);
    for (std::string line; std::getline(lines, line);) {
        const size_t tab = line.find('\t');
        Counts one;
        for (Counts* counts : {&all, &one})
            counts->add(line.substr(0, tab), line.substr(tab + 1));
        scores["sentences"].push_back(one.scores());
    }
    scores["corpus"] = all.scores();
    std::puts(scores.dump().c_str());
    return 0;
}
