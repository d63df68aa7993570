// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include <string>

namespace rm {

/// A password or passphrase. Every copy is overwritten before its memory is freed or takes another.
///
/// Beyond our reach, and overwritten by nobody: what QLineEdit holds (the text and its undo), the
/// jobs of QtKeychain, the buffer of /dev/tty's stream, CBOR and sockets on the way to another
/// process of Ringmaster, and what the kernel swaps out. libssh overwrites its own.
class Secret {
public:
    Secret() = default;
    // Implicit, as a text is one wherever a secret is wanted.
    Secret(std::string text);
    Secret(const char* text);
    explicit Secret(QString text); ///< as UTF-8
    Secret(const Secret&) = default;
    Secret& operator=(const Secret& other);
    ~Secret();

    const std::string& text() const { return m_text; }
    bool operator==(const Secret&) const = default;

private:
    std::string m_text;
};

/// Overwrites with zeros what held a secret on its way to or from one. A text that is shared with
/// somebody is left alone: it is theirs.
void cleanse(std::string& text);
void cleanse(QByteArray& bytes);
void cleanse(QString& text);

} // namespace rm
