// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/watch/canvas.h"
#include "app/cli/watch/watch_keys.h"
#include "shared/result.h"

#include <memory>
#include <optional>

namespace rm::cli {

/// The terminal of standard input and output, taken over by ncurses until this is destroyed, which
/// gives it back as it was. Only one at a time, in the main thread.
class Screen {
public:
    /// kInvalid, with what to do instead: there is no terminal that can be drawn on. `attempt`:
    /// how the message begins.
    static Result<std::unique_ptr<Screen>> open(const std::string& attempt);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    int width() const;
    int height() const;
    Glyphs glyphs() const { return m_glyphs; }

    void show(const Canvas& canvas);
    /// The next key that was pressed, without waiting. kRedraw also when the terminal has another
    /// size.
    std::optional<Key> nextKey();
    /// Gives the terminal back until resume().
    void suspend();
    void resume();
    /// Draws every cell anew with the next show().
    void redraw() { m_isDirty = true; }

private:
    Screen();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    Glyphs m_glyphs;
    bool m_isDirty = true;
};

} // namespace rm::cli
