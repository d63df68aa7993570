// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QTemporaryDir>

#include <random>
#include <string>

namespace rm::torture {

/// A checkpoint that is damaged and made whole again.
class DamagedCopy {
public:
    /// Of `original`; `other` is one whose files have the same names. In `place`, or in a folder of
    /// its own.
    DamagedCopy(const std::string& original, const std::string& other,
                const std::string& place = {});

    std::string folder() const { return m_folder.toStdString(); }
    /// Flips a bit of one of its files, cuts or removes one, or puts the other's in its place.
    /// Returns what it did.
    QByteArray damage(std::mt19937_64& random);
    void repair() const;

private:
    void write(const QByteArray& bytes) const;

    QTemporaryDir m_own;
    QString m_folder, m_other;
    QString m_file; ///< the damaged one
    QByteArray m_whole;
};

/// Bytes as a peer of ours would not send them: noise, a frame around noise, a huge length.
QByteArray hostileBytes(std::mt19937_64& random);

/// Sends them to a local socket, and waits until it is closed: "", or what is wrong. What it says
/// meanwhile is passed over.
QByteArray answerTo(const QString& socket, const QByteArray& bytes);

} // namespace rm::torture
