// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/named_nodes.h"
#include "app/cli/terminal.h"
#include "app/core/findings/text.h"
#include "app/core/machines/machine_words.h"
#include "shared/amounts.h"
#include "shared/io/random_hex.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;
using OrderedJson = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr auto kMachinesAnswer = 25s; ///< a login may take 15 s, and an agent is sent
constexpr auto kBetweenLooks = 150ms; ///< until all have answered once
constexpr size_t kCommandWidth = 60;  ///< characters

struct MachineOptions {
    std::vector<std::string> names;
    bool watch = false;
    bool processes = false;
    bool login = false;
    double interval = 1;
};

const char* machineStateWord(MachineState state) {
    switch (state) {
    case MachineState::kConnecting:
        return "connecting";
    case MachineState::kLive:
        return "live";
    case MachineState::kLost:
        return "unreachable";
    case MachineState::kRefused:
        return "refused";
    case MachineState::kFailed:
        return "failed";
    case MachineState::kCluster:
        return "cluster";
    }
    return "";
}

std::string percent(const std::optional<double>& share) {
    return share ? std::to_string(std::llround(100 * *share)) + " %" : "-";
}

std::string withUnit(const std::optional<double>& value, const char* unit) {
    return value ? std::to_string(std::llround(*value)) + unit : "-";
}

/// "13.1 GiB of 16.0 GiB".
std::string usedOf(const std::optional<double>& used, int64_t all) {
    const std::string total = all > 0 ? " of " + memoryWords(all) : "";
    return (used ? memoryWords(static_cast<int64_t>(*used)) : "-") + total;
}

/// Nodes with what is to be printed of them.
class MachinesView {
public:
    MachinesView(CommandContext& context, const MachineOptions& options,
                 std::vector<std::string> nodes)
        : m_context(context)
        , m_options(options)
        , m_nodes(std::move(nodes))
        , m_board("terminal-" + randomHex(16)) {
        m_board.setNodes(m_nodes);
    }
    ~MachinesView();
    MachinesView(const MachinesView&) = delete;
    MachinesView& operator=(const MachinesView&) = delete;

    int run();

private:
    Result<void> look(const Interruption& interruption);
    Result<void> lookUntilSettled(const Interruption& interruption);
    std::vector<std::string> refused() const;
    int watch(const Interruption& interruption);
    int exitCode() const;

    void print() const;
    void printTable() const;
    void addDevices(const ShownMachine& machine, Rows& rows) const;
    void addProcesses(const ShownMachine& machine, Rows& rows) const;
    OrderedJson json(const ShownMachine& machine) const;

    CommandContext& m_context;
    const MachineOptions& m_options;
    std::vector<std::string> m_nodes;
    MachineBoard m_board;
};

/// Nothing samples on the nodes any more once this has ended.
MachinesView::~MachinesView() {
    const auto left = m_context.engine().ask(LeaveMachinesRequest{m_board.by()});
    awaitUntil([&left] { return left.isFinished(); }, 1s);
}

Result<void> MachinesView::look(const Interruption& interruption) {
    const auto ms = static_cast<int>(std::lround(1000 * m_options.interval));
    const auto asked = m_context.engine().ask(LookAtMachinesRequest{
        m_board.next(ms, m_options.processes ? m_nodes : std::vector<std::string>())});
    awaitUntil([&] { return asked.isFinished() || interruption.isRequested(); });
    if (asked.resultCount() == 0)
        return {};
    const auto& news = asked.result();
    if (!news)
        return tl::unexpected(news.error());
    m_board.take(*news);
    return {};
}

Result<void> MachinesView::lookUntilSettled(const Interruption& interruption) {
    const auto deadline = std::chrono::steady_clock::now() + kMachinesAnswer;
    for (;;) {
        if (auto looked = look(interruption); !looked)
            return looked;
        if (m_board.isSettled() || interruption.isRequested() ||
            std::chrono::steady_clock::now() > deadline)
            return {};
        awaitUntil([&interruption] { return interruption.isRequested(); }, kBetweenLooks);
    }
}

std::vector<std::string> MachinesView::refused() const {
    std::vector<std::string> nodes;
    for (const ShownMachine& machine : m_board.machines())
        if (machine.state == MachineState::kRefused)
            nodes.push_back(machine.node);
    return nodes;
}

int MachinesView::run() {
    const Interruption interruption;
    auto looked = lookUntilSettled(interruption);
    if (looked && m_options.login && !refused().empty() && !interruption.isRequested() &&
        openAsking(m_context, refused()))
        looked = lookUntilSettled(interruption);
    if (!looked)
        return printError(m_context, looked.error());
    if (interruption.isRequested())
        return interruption.exitCode();
    print();
    return m_options.watch ? watch(interruption) : exitCode();
}

/// Until Ctrl+C. A terminal shows the newest in the place of what was there before.
int MachinesView::watch(const Interruption& interruption) {
    const bool isTerminal = ::isatty(STDOUT_FILENO) == 1 && !m_context.json();
    const auto pause = std::chrono::milliseconds(std::lround(1000 * m_options.interval));
    while (!interruption.isRequested()) {
        awaitUntil([&interruption] { return interruption.isRequested(); }, pause);
        if (interruption.isRequested())
            break;
        if (const auto looked = look(interruption); !looked)
            return printError(m_context, looked.error());
        std::cout << (isTerminal ? "\033[H\033[J" : m_context.json() ? "" : "\n");
        print();
    }
    return interruption.exitCode();
}

/// What was named is expected to answer; of all nodes that are listed one may be away.
int MachinesView::exitCode() const {
    const auto isLive = [](const ShownMachine& machine) {
        return machine.state == MachineState::kLive || machine.state == MachineState::kCluster;
    };
    const bool isGood = m_options.names.empty() ? std::ranges::any_of(m_board.machines(), isLive)
                                                : std::ranges::all_of(m_board.machines(), isLive);
    return static_cast<int>(isGood ? ExitCode::kOk : ExitCode::kUnavailable);
}

void MachinesView::addDevices(const ShownMachine& machine, Rows& rows) const {
    const MachineSample* now = machine.now();
    const std::string node = oneLine(machine.node);
    if (!now || !machine.facts) {
        rows.push_back({node, "-", "-", "-", "-", "-", chipOf(machine).text});
        return;
    }
    const MachineFacts& facts = *machine.facts;
    for (size_t i = 0; i < std::min(now->gpus.size(), facts.gpus.size()); ++i) {
        const GpuFigures& gpu = now->gpus[i];
        rows.push_back({node, "GPU " + std::to_string(i), percent(gpu.utilization),
                        usedOf(gpu.memoryBytes, facts.gpus[i].memoryBytes),
                        withUnit(gpu.temperatureC, " °C"), withUnit(gpu.powerW, " W"),
                        oneLine(ownerOf(machine, i))});
    }
    if (!now->gpus.empty())
        return;
    const auto share =
        now->cpu && facts.cpus > 0 ? std::optional(*now->cpu / facts.cpus) : std::nullopt;
    rows.push_back({node, "CPU", percent(share),
                    usedOf(static_cast<double>(now->memoryBytes), facts.memoryBytes), "-", "-",
                    oneLine(cpuOwnerOf(machine))});
}

void MachinesView::addProcesses(const ShownMachine& machine, Rows& rows) const {
    for (const ProcessFigures& process : machine.processes) {
        std::string gpus;
        double gpuBytes = 0;
        for (const ProcessGpu& each : process.gpus) {
            append(gpus, std::to_string(each.gpu), ",");
            gpuBytes += static_cast<double>(each.bytes);
        }
        std::string command = process.command.empty() ? process.name : process.command;
        command = cutBehind(oneLine(command), kCommandWidth);
        const bool isOurs = process.rank >= 0;
        rows.push_back({oneLine(machine.node), std::to_string(process.pid), oneLine(process.user),
                        percent(process.cpu), memoryWords(process.memoryBytes),
                        gpus.empty() ? "-" : gpus,
                        gpuBytes > 0 ? memoryWords(static_cast<int64_t>(gpuBytes)) : "-",
                        isOurs ? oneLine(ownerOf(process)) : "-", oneLine(command)});
    }
}

void MachinesView::printTable() const {
    Rows devices = {{"NODE", "DEVICE", "USE", "MEMORY", "TEMPERATURE", "POWER", "WHOSE"}};
    Rows processes = {
        {"NODE", "PID", "USER", "CPU", "MEMORY", "GPU", "GPU MEMORY", "RUN", "COMMAND"}};
    const auto same = sameMachines(m_board.machines());
    std::string lines;
    for (const ShownMachine& machine : m_board.machines()) {
        addDevices(machine, devices);
        addProcesses(machine, processes);
        std::vector<std::string> parts;
        if (machine.now() && machine.facts)
            parts = {modelWords(*machine.facts), joined(footOf(machine), " · ")};
        for (const std::string& warning : warningsOf(machine))
            parts.push_back(warning);
        for (const std::string& more : {machine.why, machine.fix})
            if (!more.empty())
                parts.push_back(more);
        if (const auto found = same.find(machine.node); found != same.end())
            parts.push_back(found->second);
        lines += oneLine(machine.node) + ": " + oneLine(joined(parts)) + "\n";
    }
    std::cout << formatTable(devices) << "\n" << lines;
    if (m_options.processes)
        std::cout << "\n" << formatTable(processes);
    std::cout << std::flush;
}

/// Facts, sample and processes have the keys of MACHINE.md.
OrderedJson MachinesView::json(const ShownMachine& machine) const {
    OrderedJson out = {
        {"node", machine.node}, {"state", machineStateWord(machine.state)}, {"why", machine.why},
        {"fix", machine.fix},   {"warnings", warningsOf(machine)},          {"facts", nullptr},
        {"sample", nullptr}};
    const auto inner = [](const std::string& line, const char* key) {
        return OrderedJson::parse(line, nullptr, false)[key];
    };
    if (machine.facts)
        out["facts"] = inner(toJson(*machine.facts), "facts");
    if (const MachineSample* now = machine.now()) {
        MachineSample sample = *now;
        sample.processes = machine.processes;
        if (!m_options.processes)
            std::erase_if(*sample.processes, [](const ProcessFigures& process) {
                return process.gpus.empty() && process.rank < 0;
            });
        out["sample"] = inner(toJson(sample), "sample");
    }
    return out;
}

void MachinesView::print() const {
    if (!m_context.json())
        return printTable();
    auto all = OrderedJson::array();
    for (const ShownMachine& machine : m_board.machines())
        all.push_back(json(machine));
    printJson(all);
}

int runMachines(CommandContext& context, const MachineOptions& options) {
    auto named = namedNodes(context.fleet().nodes(), options.names);
    if (!named)
        return printError(context, named.error());
    if (options.names.empty())
        for (const Node& node : context.fleet().nodes())
            named->push_back(node.name);
    for (const std::string& name : *named)
        if (!context.fleet().find(QString::fromStdString(name)))
            return printError(context, {ErrorCode::kNotFound,
                                        "look at " + name + ": it is not in the list of nodes"});
    return MachinesView(context, options, std::move(*named)).run();
}

} // namespace

void addMachines(CommandLine& line) {
    auto& o = line.keep<MachineOptions>();
    auto* machines =
        line.add("machines", "Show what machines do at this moment: GPUs, CPU, memory, processes",
                 [&o](CommandContext& context) { return runMachines(context, o); });
    line.needNodes(*machines);
    machines->add_option("NODE", o.names, "Names or @GROUPs; default: all");
    machines->add_flag("--watch", o.watch, "Show it again and again until Ctrl+C");
    machines->add_option("--interval", o.interval, "Seconds from one look to the next")
        ->check([](const std::string& typed) -> std::string {
            char* end = nullptr;
            const double seconds = std::strtod(typed.c_str(), &end);
            return *end == '\0' && seconds >= 0.2 && seconds <= 60
                       ? ""
                       : "takes seconds from 0.2 to 60, not " + typed;
        });
    machines->add_flag("--processes", o.processes, "Also list the processes that use most");
    machines->add_flag("--login", o.login, "Ask for passwords and host keys that nodes want");
}

} // namespace rm::cli
