// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal.h"

#include "app/core/await.h"
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"

#include <QList>
#include <QString>
#include <QtConcurrent>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string_view>

namespace rm::cli {

namespace {

constexpr int64_t kPlainEveryNs = 5'000'000'000;

/// Of UTF-8.
bool beginsCharacter(char byte) {
    return (byte & 0xC0) != 0x80;
}

size_t widthOf(const std::string& utf8) {
    return static_cast<size_t>(std::ranges::count_if(utf8, beginsCharacter));
}

std::string format(const char* pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value);
    return text;
}

std::string printable(const std::string& text, std::u32string_view kept) {
    QList<uint> points = QString::fromStdString(text).toUcs4();
    for (uint& point : points)
        if (!QChar::isPrint(point) && kept.find(point) == std::u32string_view::npos)
            point = U' ';
    const auto* data = reinterpret_cast<const char32_t*>(points.constData());
    return QString::fromUcs4(data, points.size()).toStdString();
}

/// The part of `text` that fits into one terminal line; a wrapped line could not be overwritten.
std::string fitted(const std::string& text) {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return text;
    return QString::fromStdString(text).left(size.ws_col - 1).toStdString();
}

/// Lines that scrolled off the screen could not be overwritten.
std::vector<std::string> withinScreen(std::vector<std::string> lines) {
    winsize size{};
    const size_t rows =
        ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 3 ? size.ws_row - 3u : 3u;
    if (lines.size() <= rows)
        return lines;
    const size_t more = lines.size() - rows + 1;
    lines.resize(rows - 1);
    lines.push_back("  and " + std::to_string(more) + " more");
    return lines;
}

} // namespace

std::string formatTable(const std::vector<std::vector<std::string>>& rows) {
    std::vector<size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (size_t c = 0; c < row.size(); ++c)
            widths[c] = std::max(widths[c], widthOf(row[c]));
    }
    std::string out;
    for (const auto& row : rows) {
        for (size_t c = 0; c < row.size(); ++c) {
            out += row[c];
            if (c + 1 < row.size())
                out.append(widths[c] - widthOf(row[c]) + 2, ' ');
        }
        out += '\n';
    }
    return out;
}

std::string formatDuration(double seconds) {
    const auto whole = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
    if (whole < 60)
        return std::to_string(whole) + " s";
    if (whole < 3600)
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    if (whole < 86400)
        return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
    return std::to_string(whole / 86400) + " d " + std::to_string(whole / 3600 % 24) + " h";
}

std::string formatAgo(int64_t wallNs) {
    if (wallNs <= 0)
        return "-";
    const double seconds = static_cast<double>(wallNowNs() - wallNs) / 1e9;
    return seconds < 5 ? "just now" : formatDuration(seconds) + " ago";
}

std::string formatNumber(double value) {
    return format("%.4g", value);
}

std::string oneLine(const std::string& text) {
    return printable(text, {});
}

std::string safeText(const std::string& text) {
    return printable(text, U"\n\t");
}

std::string cutBehind(const std::string& utf8, size_t characters) {
    size_t end = 0;
    for (; end < utf8.size(); ++end)
        if (beginsCharacter(utf8[end]) && characters-- == 0)
            break;
    return utf8.substr(0, end);
}

std::string progressBar(double share, int width) {
    const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width));
    return "[" + std::string(static_cast<size_t>(full), '#') +
           std::string(static_cast<size_t>(width - full), '-') + "]";
}

StatusLine::StatusLine()
    : m_isTerminal(isatty(STDERR_FILENO)) {}

StatusLine::~StatusLine() {
    if (m_isTerminal && !m_text.empty())
        std::cerr << std::endl;
}

void StatusLine::clear() {
    if (!m_isTerminal || m_text.empty())
        return;
    for (size_t line = 0; line < m_details.size(); ++line)
        std::cerr << "\r\033[K\033[A";
    std::cerr << "\r\033[K";
}

void StatusLine::draw() const {
    std::cerr << fitted(m_text);
    for (const std::string& line : m_details)
        std::cerr << '\n' << fitted(line);
    std::cerr << std::flush;
}

void StatusLine::update(const std::string& text, const std::vector<std::string>& details) {
    if (text == m_text && (details == m_details || !m_isTerminal))
        return;
    if (m_isTerminal) {
        clear();
        m_text = text;
        m_details = text.empty() ? std::vector<std::string>() : withinScreen(details);
        draw();
    } else if (!text.empty() && monotonicNowNs() - m_printedNs >= kPlainEveryNs) {
        std::cerr << text << std::endl;
        m_text = text;
        m_printedNs = monotonicNowNs();
    }
}

void StatusLine::print(const std::string& text) {
    clear();
    std::cerr << text << std::endl;
    if (m_isTerminal)
        draw();
}

namespace {

/// Reads in a thread of its own: the event loop must run on, as it may be serving other terminals.
std::string readLine(std::fstream& terminal) {
    return await(QtConcurrent::run([&terminal] {
        std::string line;
        std::getline(terminal, line);
        return line;
    }));
}

} // namespace

bool askYesNo(const std::string& question) {
    std::fstream terminal("/dev/tty");
    if (!terminal)
        return false;
    terminal << question << " [yes/no] " << std::flush;
    const std::string answer = readLine(terminal);
    return answer == "yes" || answer == "y";
}

Secret askSecret(const std::string& question) {
    std::fstream terminal("/dev/tty");
    const Descriptor settings(::open("/dev/tty", O_RDWR | O_CLOEXEC));
    termios before{};
    if (!terminal || !settings || tcgetattr(settings.get(), &before) != 0)
        return {};
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(settings.get(), TCSANOW, &silent);
    terminal << question << ": " << std::flush;
    std::string answer = readLine(terminal);
    tcsetattr(settings.get(), TCSANOW, &before);
    std::cerr << std::endl;
    const Secret secret(answer);
    cleanse(answer);
    return secret;
}

} // namespace rm::cli
