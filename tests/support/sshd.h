// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"
#include "tests/support/own_files.h"
#include "tests/support/seeded_folder.h"

#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <sys/types.h>

#include <memory>
#include <vector>

namespace rm {

/// Whether OpenSSH's server and key tool are on this machine; else why not.
Result<void> canRunSshd();

/// Makes an ed25519 key pair at `path`; the answer is the public line. Without a passphrase
/// unless one is given.
Result<QString> makeSshKey(const QString& path, const QString& passphrase = {});

/// A real OpenSSH server of its own: temporary folder, host key, authorized keys, log. It serves
/// the user who runs the test, without PAM. One thread. Ended with all its sessions by the
/// destructor; a test that crashes takes the server with it.
class SshServer {
public:
    struct Options {
        QString space = {};            ///< network namespace; empty: this process's
        QString address = "127.0.0.1"; ///< to listen on
        int port = 0;                  ///< 0: a free one (this process's namespace only)
        QString authorizedKey = {};    ///< public line
        QString home = {};             ///< see home(); empty: one of its own
        QString seed = {};             ///< what HOME's data/ringmaster begins with; empty: nothing
        QStringList environment = {};  ///< "NAME=value" beside HOME and XDG_*
        QStringList settings = {};     ///< further lines of sshd_config, before ours
        /// What the server and its logins see in the place of the machine's own files, e.g. a
        /// shadowWith(); needs canMountOwnFiles().
        std::vector<OwnFile> files = {};
        std::vector<OwnDrive> drives = {}; ///< likewise
        /// The folder of temporary files is its own, as another machine's: of what lies there it
        /// has its home, the drives and what it makes itself. Needs canMountOwnFiles().
        bool hasOwnTemporary = false;
    };
    static Result<std::unique_ptr<SshServer>> start(const Options& options);
    ~SshServer();

    QString address() const { return m_options.address; }
    int port() const { return m_options.port; }
    pid_t pid() const { return static_cast<pid_t>(m_process.processId()); }

    /// HOME of who logs in; XDG_*_HOME lie below it.
    QString home() const {
        return m_options.home.isEmpty() ? m_dir.filePath("home") : m_options.home;
    }
    /// "SHA256:..." of the host key.
    QString fingerprint() const;
    /// The line that known_hosts needs to know this server.
    QString knownHostsLine() const;
    /// All that the server said so far, at DEBUG1.
    QString log() const;

    /// Sets root's password from the next login on; one of the options' files must be a
    /// shadowWith().
    Result<void> changePassword(const QString& password);
    /// Changes the host key; the port stays.
    Result<void> changeHostKey();
    /// SIGKILLs the processes that serve connections: the links die, the server stays.
    void cutSessions();
    void stop();
    Result<void> restart();

private:
    explicit SshServer(Options options);
    Result<void> prepare();
    Result<void> launch();
    QString configuration() const;

    Options m_options;
    QTemporaryDir m_dir;
    std::unique_ptr<SeededFolder> m_seeded;
    QProcess m_process;
};

} // namespace rm
