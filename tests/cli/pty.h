// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QProcess>
#include <QStringList>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// What a VT52 shows after it has got these bytes: a terminal with so few sequences that a test can
/// read it. Text is UTF-8, one cell for each character.
class Vt52 {
public:
    Vt52(int width, int height);
    void resize(int width, int height);
    void feed(const QByteArray& bytes);
    QByteArray row(int y) const;
    QByteArray rows() const;

private:
    void put(const QByteArray& character);
    void escape(char code);
    void clear(int fromX, int fromY, bool toEnd);

    int m_width, m_height;
    int m_x = 0, m_y = 0;
    std::vector<std::vector<QByteArray>> m_cells;
    QByteArray m_pending; ///< the begin of a sequence or character
};

/// A program in a terminal of its own, as a person has it.
class Pty {
public:
    /// Starts it in that terminal. `environment` is added to that of this process.
    Pty(const QString& program, const QStringList& arguments, int width, int height,
        const std::vector<std::pair<QString, QString>>& environment);
    ~Pty(); ///< kills it

    void type(const QByteArray& keys);
    void resize(int width, int height);
    /// Reads what has come; returns what the terminal shows now.
    QByteArray screen();
    bool shows(const QByteArray& text) { return screen().contains(text); }
    /// All bytes so far, of a terminal that is no VT52.
    const QByteArray& output() const { return m_output; }
    bool wrote(const QByteArray& bytes);
    /// Lines are edited and echoed, as a shell needs it.
    bool isPlain() const;
    qint64 pid() const { return m_process.processId(); }
    bool waitForEnd(int limitMs);
    int exitCode() const { return m_process.exitCode(); }

private:
    void read();

    int m_master = -1;
    int m_slave = -1;
    QProcess m_process;
    Vt52 m_screen;
    QByteArray m_output;
};

} // namespace rm
