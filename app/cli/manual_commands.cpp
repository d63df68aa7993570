// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/core/manual/manual.h"

#include <iostream>

namespace rm::cli {

namespace {

int showTopic(CommandContext& context, const Manual& manual, const std::string& name) {
    const auto topic = manual.topic(name.empty() ? kManualIndex : QString::fromStdString(name));
    if (!topic) {
        Error error = topic.error();
        error.message += "; of a command: ringmaster " + name + " --help";
        return printError(context, error);
    }
    if (context.json())
        printJson({{"topic", topic->name.toStdString()},
                   {"title", topic->title.toStdString()},
                   {"text", topic->text.toStdString()}});
    else
        std::cout << topic->text.toStdString() << std::flush;
    return 0;
}

int showHits(CommandContext& context, const Manual& manual, const std::string& words) {
    const std::vector<ManualHit> hits = manual.find(QString::fromStdString(words));
    auto lines = nlohmann::ordered_json::array();
    for (const ManualHit& hit : hits)
        lines.push_back({{"topic", hit.topic.toStdString()},
                         {"heading", hit.heading.toStdString()},
                         {"text", hit.text.toStdString()}});
    if (context.json()) {
        printJson(lines);
        return 0;
    }
    if (hits.empty())
        std::cerr << "no paragraph of the manual has these words: " << words << std::endl;
    for (const ManualHit& hit : hits)
        std::cout << hit.topic.toStdString() << ", " << hit.heading.toStdString() << ": "
                  << hit.text.toStdString() << '\n';
    std::cout << std::flush;
    return 0;
}

int runHelp(CommandContext& context, const std::string& topic, const std::string& words) {
    const auto manual = Manual::read();
    if (!manual)
        return printError(context, manual.error());
    return words.empty() ? showTopic(context, *manual, topic) : showHits(context, *manual, words);
}

} // namespace

void addManual(CommandLine& line) {
    struct Options {
        std::string topic, words;
    };
    auto& o = line.keep<Options>();
    auto* help = line.add("help", "Print a topic of the manual", [&o](CommandContext& context) {
        return runHelp(context, o.topic, o.words);
    });
    line.needNoEngine(*help);
    auto* topic = help->add_option("TOPIC", o.topic, "Default: index, which lists them");
    help->add_option("--search", o.words, "Instead the paragraphs of all topics with these words")
        ->excludes(topic);
}

} // namespace rm::cli
