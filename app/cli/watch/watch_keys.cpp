// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/watch_keys.h"

#include "shared/spec/live_settings.h"

#include <algorithm>
#include <charconv>

namespace rm::cli {

namespace {

constexpr size_t kMostTyped = 200;
constexpr int kPage = 5;

/// The command that a key is for; nullopt: it is for none.
std::optional<CommandKind> commandOf(char32_t key, const WatchData& data) {
    switch (key) {
    case U'h':
        return data.live.held || data.run.held ? CommandKind::kContinue : CommandKind::kHold;
    case U'n':
        return CommandKind::kStep;
    case U'p':
        return CommandKind::kPause;
    case U'c':
        return CommandKind::kCheckpoint;
    case U'v':
        return CommandKind::kValidate;
    case U'g':
        return CommandKind::kSample;
    case U'=':
        return CommandKind::kSet;
    case U'x':
        return CommandKind::kStop;
    default:
        return std::nullopt;
    }
}

bool needsArgument(CommandKind kind) {
    return kind == CommandKind::kStep || kind == CommandKind::kSet;
}

void setMessage(WatchView& view, const std::string& message, Ink ink) {
    view.message = message;
    view.messageInk = ink;
}

/// The command with what was typed; nullopt, with a message: that is not understood.
std::optional<SendCommand> typedCommand(WatchView& view) {
    const CommandKind kind = *view.prompted;
    if (kind == CommandKind::kStep) {
        int64_t steps = 0;
        const char* end = view.typed.data() + view.typed.size();
        const auto parsed = std::from_chars(view.typed.data(), end, steps);
        if (parsed.ec == std::errc() && parsed.ptr == end && steps > 0 &&
            steps <= kMostCommandSteps)
            return SendCommand{kind, {{"steps", view.typed}}};
        setMessage(view, "not a whole number of steps: \"" + view.typed + "\"", Ink::kBad);
        return std::nullopt;
    }
    const size_t equals = view.typed.find('=');
    if (equals == std::string::npos) {
        setMessage(view, "write KEY=VALUE, as optimizer.lr=1e-4", Ink::kBad);
        return std::nullopt;
    }
    const std::string key = view.typed.substr(0, equals);
    const std::string value = view.typed.substr(equals + 1);
    if (const auto parsed = parseLiveSetting(key, value); !parsed) {
        setMessage(view, parsed.error().message, Ink::kBad);
        return std::nullopt;
    }
    return SendCommand{kind, {{key, value}}};
}

WatchAction pressInPrompt(WatchView& view, const Key& key) {
    switch (key.named) {
    case Key::Named::kEnter: {
        const auto command = typedCommand(view);
        view.prompted.reset();
        view.typed.clear();
        return command ? WatchAction(*command) : WatchAction();
    }
    case Key::Named::kEscape:
        view.prompted.reset();
        view.typed.clear();
        setMessage(view, "nothing was sent", Ink::kDim);
        break;
    case Key::Named::kBackspace:
        if (!view.typed.empty())
            view.typed.pop_back();
        break;
    case Key::Named::kCharacter:
        if (key.character > U' ' && key.character < 0x7f && view.typed.size() < kMostTyped)
            view.typed += static_cast<char>(key.character);
        break;
    default:
        break;
    }
    return {};
}

WatchAction pressAtQuestion(WatchView& view, const Key& key) {
    if (key.named == Key::Named::kRedraw)
        return {};
    const CommandKind kind = *view.confirmed;
    view.confirmed.reset();
    if (key.named == Key::Named::kCharacter && (key.character == U'y' || key.character == U'Y'))
        return SendCommand{kind, view.args};
    setMessage(view, "nothing was sent", Ink::kDim);
    return {};
}

WatchAction pressInList(WatchView& view, const WatchData& data, const Key& key) {
    const size_t last = data.runs.empty() ? 0 : data.runs.size() - 1;
    view.chosen = std::min(view.chosen, last);
    switch (key.named) {
    case Key::Named::kUp:
        view.chosen -= view.chosen > 0 ? 1 : 0;
        return {};
    case Key::Named::kDown:
        view.chosen = std::min(view.chosen + 1, last);
        return {};
    case Key::Named::kHome:
        view.chosen = 0;
        return {};
    case Key::Named::kEnd:
        view.chosen = last;
        return {};
    case Key::Named::kEnter:
        if (data.runs.empty())
            return {};
        view.isList = false;
        return OpenRun{data.runs[view.chosen].id};
    case Key::Named::kEscape:
        view.isList = data.run.id.isEmpty();
        return view.isList ? WatchAction(LeaveWatch{}) : WatchAction();
    default:
        break;
    }
    return key.character == U'q' ? WatchAction(LeaveWatch{}) : WatchAction();
}

template <class Enum>
Enum nextOf(Enum value, int count) {
    return static_cast<Enum>((static_cast<int>(value) + 1) % count);
}

void showPane(WatchView& view, WatchPane pane) {
    view.pane = pane;
    view.scroll = 0;
}

void askFor(WatchView& view, const WatchData& data, CommandKind kind) {
    if (hasEnded(data.run.state))
        return setMessage(view, "the run has ended, so that no rank takes a command", Ink::kWarn);
    view.message.clear();
    if (needsArgument(kind)) {
        view.prompted = kind;
        return;
    }
    view.confirmed = kind;
    view.question = confirmationOf(kind);
    view.args.clear();
}

/// Asks whether the newest change of a setting is to be set back.
void askToSetBack(WatchView& view, const WatchData& data) {
    if (!data.change)
        return setMessage(view, "no change of a setting is in force", Ink::kWarn);
    if (const auto possible = checkSetBack(data.run, *data.change); !possible)
        return setMessage(view, possible.error().message, Ink::kWarn);
    view.message.clear();
    view.confirmed = CommandKind::kSet;
    view.args = settingsBefore(*data.change);
    view.question = "Set it back? " + changeWords(*data.change) + " at step " +
                    std::to_string(data.change->step);
}

void turnCharts(WatchView& view, const WatchData& data, size_t by) {
    const size_t count = std::max<size_t>(1, data.titles.size());
    view.chart = (view.chart + by) % count;
}

WatchAction pressCharacter(WatchView& view, const WatchData& data, char32_t key) {
    if (const auto kind = commandOf(key, data)) {
        askFor(view, data, *kind);
        return {};
    }
    if (key >= U'1' && key <= U'9') {
        const auto chart = static_cast<size_t>(key - U'1');
        if (chart < data.titles.size())
            view.chart = chart;
        return {};
    }
    switch (key) {
    case U'q':
        return LeaveWatch{};
    case U'?':
        view.isHelp = true;
        break;
    case U'w':
        view.isList = true;
        view.chosen = 0;
        break;
    case U'm':
        view.map = nextOf(view.map, kRankMapKinds);
        break;
    case U's':
        ++view.smoothing;
        setMessage(view, "smoothing: " + smoothingWords(view), Ink::kDim);
        break;
    case U'z':
        ++view.span;
        setMessage(view, "steps: " + spanWords(view), Ink::kDim);
        break;
    case U'y':
        view.isLog = !view.isLog;
        setMessage(view, view.isLog ? "vertical axis: logarithmic" : "vertical axis: linear",
                   Ink::kDim);
        break;
    case U'e':
        showPane(view, WatchPane::kEvents);
        break;
    case U'l':
        showPane(view, WatchPane::kLog);
        break;
    case U'r':
        showPane(view, WatchPane::kCommands);
        break;
    case U'u':
        askToSetBack(view, data);
        break;
    case U'L':
        return LogIn{};
    default:
        break;
    }
    return {};
}

} // namespace

const std::vector<KeyRow>& keyRows() {
    static const std::vector<KeyRow> rows = {
        {"?", "help", "this help; any key leaves it"},
        {"q", "leave", "leave; the run goes on"},
        {"h", "hold", "hold all ranks at the next step, or let them continue"},
        {"n", "steps", "while held: do so many steps and hold again"},
        {"p", "pause", "save a checkpoint, end the ranks and free the devices"},
        {"c", "checkpoint", "save a checkpoint at the next step"},
        {"v", "validate", "validate at the next step"},
        {"g", "sample", "generate a sample at the next step"},
        {"=", "set", "change a setting: KEY=VALUE, behind a checkpoint"},
        {"u", "", "set the newest change of a setting back to what it was"},
        {"x", "stop", "end the run at the next step, without a checkpoint"},
        {"1-9", "", "show that chart first; left and right turn to the next"},
        {"s", "", "smoothing: none, some, more, most"},
        {"z", "", "steps: all, or the last 1000, 200 or 50"},
        {"y", "", "logarithmic or linear vertical axis"},
        {"m", "", "map of ranks by busy time, utilization or phase"},
        {"e l r", "", "below: events, log, commands; Tab turns to the next"},
        {"PgUp PgDn", "", "earlier and later lines there"},
        {"w", "", "another run"},
        {"L", "", "log in to nodes that refuse the login"},
        {"Ctrl+L", "", "draw all again"},
    };
    return rows;
}

const char* confirmationOf(CommandKind kind) {
    switch (kind) {
    case CommandKind::kHold:
        return "Hold all ranks at the next step? The devices stay taken.";
    case CommandKind::kContinue:
        return "Let all ranks continue?";
    case CommandKind::kPause:
        return "Save a checkpoint, end the ranks and free the devices?";
    case CommandKind::kCheckpoint:
        return "Save a checkpoint at the next step?";
    case CommandKind::kValidate:
        return "Validate at the next step?";
    case CommandKind::kSample:
        return "Generate a sample at the next step?";
    case CommandKind::kStop:
        return "End the run at the next step, without a checkpoint?";
    case CommandKind::kStep:
    case CommandKind::kSet:
    case CommandKind::kKill:
    case CommandKind::kTrace:
        break;
    }
    return "";
}

const char* promptOf(CommandKind kind) {
    return kind == CommandKind::kStep ? "Steps to do, then hold again: "
                                      : "Setting to change, KEY=VALUE: ";
}

WatchAction pressKey(WatchView& view, const WatchData& data, const Key& key) {
    if (key.named == Key::Named::kOther)
        return {};
    if (view.isHelp) {
        view.isHelp = key.named == Key::Named::kRedraw;
        return {};
    }
    if (view.isList)
        return pressInList(view, data, key);
    if (view.prompted)
        return pressInPrompt(view, key);
    if (view.confirmed)
        return pressAtQuestion(view, key);
    switch (key.named) {
    case Key::Named::kTab:
        showPane(view, nextOf(view.pane, kWatchPanes));
        break;
    case Key::Named::kRight:
        turnCharts(view, data, 1);
        break;
    case Key::Named::kLeft:
        turnCharts(view, data, std::max<size_t>(1, data.titles.size()) - 1);
        break;
    case Key::Named::kUp:
    case Key::Named::kPageUp:
        view.scroll += key.named == Key::Named::kUp ? 1 : kPage;
        break;
    case Key::Named::kDown:
    case Key::Named::kPageDown:
        view.scroll = std::max(0, view.scroll - (key.named == Key::Named::kDown ? 1 : kPage));
        break;
    case Key::Named::kEnd:
        view.scroll = 0;
        break;
    case Key::Named::kCharacter:
        return pressCharacter(view, data, key.character);
    default:
        break;
    }
    return {};
}

} // namespace rm::cli
