// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/pty.h"

#include <QElapsedTimer>
#include <QTest>

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

namespace rm {

Vt52::Vt52(int width, int height)
    : m_width(width)
    , m_height(height) {
    resize(width, height);
}

void Vt52::resize(int width, int height) {
    m_width = width;
    m_height = height;
    m_cells.resize(static_cast<size_t>(height));
    for (auto& row : m_cells)
        row.resize(static_cast<size_t>(width), " ");
    m_x = std::min(m_x, width - 1);
    m_y = std::min(m_y, height - 1);
}

void Vt52::put(const QByteArray& character) {
    m_cells[static_cast<size_t>(m_y)][static_cast<size_t>(m_x)] = character;
    m_x = std::min(m_x + 1, m_width - 1);
}

void Vt52::clear(int fromX, int fromY, bool toEnd) {
    for (int y = fromY; y < (toEnd ? m_height : fromY + 1); ++y)
        for (int x = y == fromY ? fromX : 0; x < m_width; ++x)
            m_cells[static_cast<size_t>(y)][static_cast<size_t>(x)] = " ";
}

void Vt52::escape(char code) {
    switch (code) {
    case 'A':
        m_y = std::max(0, m_y - 1);
        break;
    case 'B':
        m_y = std::min(m_height - 1, m_y + 1);
        break;
    case 'C':
        m_x = std::min(m_width - 1, m_x + 1);
        break;
    case 'D':
        m_x = std::max(0, m_x - 1);
        break;
    case 'H':
        m_x = m_y = 0;
        break;
    case 'I': // scrolls down at the top
        if (m_y == 0)
            std::rotate(m_cells.begin(), m_cells.end() - 1, m_cells.end());
        if (m_y == 0)
            clear(0, 0, false);
        m_y = std::max(0, m_y - 1);
        break;
    case 'J':
        clear(m_x, m_y, true);
        break;
    case 'K':
        clear(m_x, m_y, false);
        break;
    default:
        break; // modes
    }
}

void Vt52::feed(const QByteArray& bytes) {
    for (const char byte : bytes) {
        const auto code = static_cast<unsigned char>(byte);
        if (!m_pending.isEmpty() && m_pending[0] == '\x1b') {
            m_pending += byte;
            if (m_pending[1] == 'Y' && m_pending.size() < 4)
                continue;
            if (m_pending[1] == 'Y') {
                m_y = std::clamp(static_cast<unsigned char>(m_pending[2]) - 32, 0, m_height - 1);
                m_x = std::clamp(static_cast<unsigned char>(m_pending[3]) - 32, 0, m_width - 1);
            } else {
                escape(m_pending[1]);
            }
            m_pending.clear();
        } else if (code == 0x1b) {
            m_pending = QByteArray(1, byte);
        } else if (code >= 0x80) {
            m_pending += byte;
            const auto first = static_cast<unsigned char>(m_pending[0]);
            const int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
            if (m_pending.size() < length)
                continue;
            put(m_pending);
            m_pending.clear();
        } else if (code >= 0x20) {
            put(QByteArray(1, byte));
        } else if (byte == '\r') {
            m_x = 0;
        } else if (byte == '\b') {
            m_x = std::max(0, m_x - 1);
        } else if (byte == '\t') {
            m_x = std::min(m_width - 1, (m_x / 8 + 1) * 8);
        } else if (byte == '\n') {
            if (m_y == m_height - 1) {
                std::rotate(m_cells.begin(), m_cells.begin() + 1, m_cells.end());
                clear(0, m_height - 1, false);
            }
            m_y = std::min(m_height - 1, m_y + 1);
        }
    }
}

QByteArray Vt52::row(int y) const {
    QByteArray text;
    for (const QByteArray& cell : m_cells[static_cast<size_t>(y)])
        text += cell;
    while (text.endsWith(' '))
        text.chop(1);
    return text;
}

QByteArray Vt52::rows() const {
    QByteArray all;
    for (int y = 0; y < m_height; ++y)
        all += row(y) + '\n';
    return all;
}

Pty::Pty(const QString& program, const QStringList& arguments, int width, int height,
         const std::vector<std::pair<QString, QString>>& environment)
    : m_screen(width, height) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(width);
    size.ws_row = static_cast<unsigned short>(height);
    if (::openpty(&m_master, &m_slave, nullptr, nullptr, &size) != 0)
        qFatal("openpty failed");
    ::fcntl(m_master, F_SETFL, O_NONBLOCK);
    ::fcntl(m_master, F_SETFD, FD_CLOEXEC);
    QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : environment)
        all.insert(name, value);
    m_process.setProcessEnvironment(all);
    m_process.setChildProcessModifier([slave = m_slave] {
        ::setsid();
        ::ioctl(slave, TIOCSCTTY, 0);
        for (int each = 0; each < 3; ++each)
            ::dup2(slave, each);
        if (slave > 2)
            ::close(slave);
    });
    m_process.start(program, arguments);
    m_process.waitForStarted();
}

Pty::~Pty() {
    if (m_process.state() != QProcess::NotRunning) {
        m_process.kill();
        m_process.waitForFinished();
    }
    ::close(m_slave);
    ::close(m_master);
}

void Pty::type(const QByteArray& keys) {
    if (::write(m_master, keys.constData(), static_cast<size_t>(keys.size())) != keys.size())
        qWarning("not all keys were typed");
}

void Pty::resize(int width, int height) {
    read();
    m_screen.resize(width, height);
    winsize size{};
    size.ws_col = static_cast<unsigned short>(width);
    size.ws_row = static_cast<unsigned short>(height);
    ::ioctl(m_master, TIOCSWINSZ, &size);
}

void Pty::read() {
    char bytes[4096];
    for (ssize_t count = 0; (count = ::read(m_master, bytes, sizeof bytes)) > 0;) {
        const QByteArray more(bytes, static_cast<qsizetype>(count));
        m_output += more;
        m_screen.feed(more);
    }
}

QByteArray Pty::screen() {
    read();
    return m_screen.rows();
}

bool Pty::wrote(const QByteArray& bytes) {
    read();
    return m_output.contains(bytes);
}

bool Pty::isPlain() const {
    termios settings{};
    return ::tcgetattr(m_slave, &settings) == 0 && (settings.c_lflag & ICANON) &&
           (settings.c_lflag & ECHO);
}

bool Pty::waitForEnd(int limitMs) {
    // The terminal is read meanwhile, as a full one would keep the program.
    return QTest::qWaitFor(
        [this] {
            read();
            return m_process.state() == QProcess::NotRunning || m_process.waitForFinished(10);
        },
        limitMs);
}

} // namespace rm
