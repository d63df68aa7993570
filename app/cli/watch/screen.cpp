// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <ncursesw/curses.h>

namespace rm::cli {

namespace {

constexpr int kEscapeMs = 25; ///< after which Esc is no start of another key
constexpr int kControlL = 0x0c;

const char* const kInstead = "; `ringmaster attach RUN` or `ringmaster run SPEC --wait` follows a "
                             "run in lines, `ringmaster show RUN` prints how it is";

/// What the person's locale says; Qt takes UTF-8 whatever that says.
Glyphs glyphsOfLocale() {
    const locale_t persons = ::newlocale(LC_CTYPE_MASK, "", nullptr);
    if (!persons)
        return Glyphs::kAscii;
    const std::string set = ::nl_langinfo_l(CODESET, persons);
    ::freelocale(persons);
    return set == "UTF-8" ? Glyphs::kUtf8 : Glyphs::kAscii;
}

bool isSet(const char* name) {
    const char* value = std::getenv(name);
    return value && *value != '\0';
}

/// How an ink looks: with a colour, and without.
struct Look {
    short colour = -1;     ///< of eight; -1: the terminal's own
    attr_t attributes = 0; ///< with colours
    attr_t plain = 0;      ///< without
};

Look lookOf(Ink ink) {
    switch (ink) {
    case Ink::kPlain:
        break;
    case Ink::kDim:
        return {-1, A_DIM, A_DIM};
    case Ink::kTitle:
        return {-1, A_BOLD, A_BOLD};
    case Ink::kGood:
        return {COLOR_GREEN, 0, 0};
    case Ink::kWarn:
        return {COLOR_YELLOW, 0, A_BOLD};
    case Ink::kBad:
        return {COLOR_RED, A_BOLD, A_BOLD | A_UNDERLINE};
    case Ink::kAccent:
        return {COLOR_CYAN, 0, 0};
    case Ink::kLine0:
        return {COLOR_CYAN, A_BOLD, A_BOLD};
    case Ink::kLine1:
        return {COLOR_MAGENTA, A_BOLD, 0};
    case Ink::kLine2:
        return {COLOR_GREEN, 0, 0};
    case Ink::kLine3:
        return {COLOR_YELLOW, 0, 0};
    case Ink::kLine4:
        return {COLOR_RED, 0, 0};
    case Ink::kBand:
        return {COLOR_BLUE, 0, A_DIM};
    }
    return {};
}

short pairOf(Ink ink) {
    return static_cast<short>(static_cast<int>(ink) + 1);
}

Key named(Key::Named name) {
    return {name, 0};
}

Key functionKey(wint_t code) {
    switch (code) {
    case KEY_RESIZE:
        return named(Key::Named::kRedraw);
    case KEY_ENTER:
        return named(Key::Named::kEnter);
    case KEY_BACKSPACE:
    case KEY_DC:
        return named(Key::Named::kBackspace);
    case KEY_UP:
        return named(Key::Named::kUp);
    case KEY_DOWN:
        return named(Key::Named::kDown);
    case KEY_LEFT:
        return named(Key::Named::kLeft);
    case KEY_RIGHT:
        return named(Key::Named::kRight);
    case KEY_PPAGE:
        return named(Key::Named::kPageUp);
    case KEY_NPAGE:
        return named(Key::Named::kPageDown);
    case KEY_HOME:
        return named(Key::Named::kHome);
    case KEY_END:
        return named(Key::Named::kEnd);
    default:
        return named(Key::Named::kOther);
    }
}

Key character(wint_t code) {
    switch (code) {
    case '\r':
    case '\n':
        return named(Key::Named::kEnter);
    case 0x1b:
        return named(Key::Named::kEscape);
    case 0x7f:
    case '\b':
        return named(Key::Named::kBackspace);
    case '\t':
        return named(Key::Named::kTab);
    case kControlL:
        return named(Key::Named::kRedraw);
    default:
        return {Key::Named::kCharacter, static_cast<char32_t>(code)};
    }
}

} // namespace

struct Screen::Impl {
    SCREEN* screen = nullptr;
    bool hasColours = false;
};

Screen::Screen()
    : m_impl(std::make_unique<Impl>())
    , m_glyphs(glyphsOfLocale()) {}

Result<std::unique_ptr<Screen>> Screen::open(const std::string& attempt) {
    const char* terminal = std::getenv("TERM");
    const std::string name = terminal ? terminal : "";
    if (!::isatty(STDOUT_FILENO) || !::isatty(STDIN_FILENO))
        return fail(ErrorCode::kInvalid,
                    attempt + ": it draws in a terminal, and " +
                        (::isatty(STDOUT_FILENO) ? "standard input" : "standard output") +
                        " is none" + kInstead);
    if (name.empty() || name == "dumb" || name == "unknown")
        return fail(ErrorCode::kInvalid, attempt + ": this terminal cannot be drawn on (TERM is " +
                                             (name.empty() ? "not set" : name) + ")" + kInstead);
    std::unique_ptr<Screen> screen(new Screen);
    screen->m_impl->screen = ::newterm(nullptr, stdout, stdin);
    if (!screen->m_impl->screen)
        return fail(ErrorCode::kInvalid, attempt + ": nothing is known here of a terminal \"" +
                                             name + "\" (TERM)" + kInstead);
    ::set_term(screen->m_impl->screen);
    ::set_escdelay(kEscapeMs);
    ::cbreak();
    ::noecho();
    ::nonl();
    ::nodelay(stdscr, true);
    ::keypad(stdscr, true);
    ::leaveok(stdscr, true);
    ::curs_set(0);
    if (!isSet("NO_COLOR") && ::has_colors() && ::start_color() == OK) {
        const bool hasDefault = ::use_default_colors() == OK;
        screen->m_impl->hasColours = true;
        for (int ink = 0; ink < kInks; ++ink) {
            const short colour = lookOf(static_cast<Ink>(ink)).colour;
            const auto plain = static_cast<short>(hasDefault ? -1 : COLOR_WHITE);
            const auto ground = static_cast<short>(hasDefault ? -1 : COLOR_BLACK);
            ::init_pair(pairOf(static_cast<Ink>(ink)), colour < 0 ? plain : colour, ground);
        }
    }
    return screen;
}

Screen::~Screen() {
    if (!m_impl->screen)
        return;
    ::endwin();
    ::delscreen(m_impl->screen);
}

int Screen::width() const {
    return getmaxx(stdscr);
}

int Screen::height() const {
    return getmaxy(stdscr);
}

void Screen::show(const Canvas& canvas) {
    if (m_isDirty) {
        ::clearok(stdscr, true);
        m_isDirty = false;
    }
    ::werase(stdscr);
    for (int y = 0; y < canvas.height(); ++y)
        for (int x = 0; x < canvas.width(); ++x) {
            const Cell& cell = canvas.at(x, y);
            if (cell.glyph == 0 || (cell.glyph == U' ' && !cell.isReverse))
                continue;
            const Look look = lookOf(cell.ink);
            const attr_t attributes = (m_impl->hasColours ? look.attributes : look.plain) |
                                      (cell.isReverse ? A_REVERSE : 0);
            const wchar_t text[2] = {static_cast<wchar_t>(cell.glyph), L'\0'};
            cchar_t shown;
            if (::setcchar(&shown, text, attributes, m_impl->hasColours ? pairOf(cell.ink) : 0,
                           nullptr) == OK)
                ::mvwadd_wch(stdscr, y, x, &shown);
        }
    ::wrefresh(stdscr);
}

std::optional<Key> Screen::nextKey() {
    wint_t code = 0;
    switch (::wget_wch(stdscr, &code)) {
    case OK:
        if (code == kControlL)
            m_isDirty = true;
        return character(code);
    case KEY_CODE_YES:
        return functionKey(code);
    default:
        return std::nullopt;
    }
}

void Screen::suspend() {
    ::endwin();
}

void Screen::resume() {
    m_isDirty = true;
    ::wrefresh(stdscr);
}

} // namespace rm::cli
