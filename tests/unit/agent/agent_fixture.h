// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/frame.h"
#include "shared/journal/journal.h"
#include "shared/spec/node_plan.h"
#include "shared/wire/messages.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rm::test {

/// A node of its own: homes in a temporary folder, a bundle with the fake trainer, and the real
/// agent program. Whatever still runs at the end is stopped through the agent.
class AgentFixture {
public:
    AgentFixture();
    ~AgentFixture();

    struct Answer {
        int exitCode = -1;
        QByteArray out, err;
        QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
    };
    Answer agent(const QStringList& arguments, const QByteArray& input = {}) const;
    std::unique_ptr<QProcess> spawn(const QStringList& arguments) const;

    /// What rank `rank` of this test's trainers does (see fake_trainer.cpp).
    void script(int rank, const QString& action);
    /// Of the session that starts the agent.
    void setVariable(const QString& name, const QString& value) {
        m_environment.insert(name, value);
    }
    /// Agents from now on are refused what another user's folders do not let one see, as root is
    /// not.
    void obeyPermissions() { m_obeysPermissions = true; }
    NodePlan plan(int ranks) const;
    Answer start(const NodePlan& plan, const std::string& spec = "[launch]\nmax_restarts = 0\n");
    void useTrainer(const QByteArray& shellScript);

    QString runDir() const { return m_dir.filePath("state/ringmaster/runs/r1/node-00000"); }
    QString runFolder() const { return m_dir.filePath("state/ringmaster/runs/r1"); }
    /// "journal/NAME" of the newest segment of "journal/rank-00000" or "journal/node-00000", once
    /// there is one; other names as they are.
    std::string fileOf(const std::string& name) const;
    QString home() const { return m_dir.filePath("home"); }
    QString path(const QString& name) const { return m_dir.filePath(name); }
    QProcessEnvironment environment() const { return m_environment; }
    QJsonObject agentState() const;
    qint64 rankPid(int localRank) const;
    std::vector<Record> nodeJournal() const;

    template <class T>
    std::vector<T> nodeRecords() const {
        std::vector<T> found;
        for (const Record& record : nodeJournal())
            if (const T* one = std::get_if<T>(&record))
                found.push_back(*one);
        return found;
    }

private:
    QTemporaryDir m_dir;
    QProcessEnvironment m_environment;
    bool m_obeysPermissions = false;
};

bool processRuns(qint64 pid); ///< a zombie does not

/// The app's end of `ringmaster-agent attach`.
class AttachClient {
public:
    explicit AttachClient(const AgentFixture& fixture, std::vector<FileCursor> cursors = {});
    ~AttachClient();

    void say(const Message& message);
    /// Takes what has come; false when a file's bytes are not gap-free.
    bool pump(int waitMs = 20);
    bool isGapFree() const { return m_isGapFree; }
    const std::string& file(const std::string& name) { return m_files[name]; }
    /// When its bytes were written, of a log.
    const std::vector<LogStamp>& stamps(const std::string& name) { return m_stamps[name]; }
    uint64_t cursor(const std::string& name) { return m_starts[name] + m_files[name].size(); }
    /// Without slices, which are in file().
    const std::vector<Message>& messages() const { return m_messages; }
    QProcess& process() { return *m_process; }

    template <class T>
    std::vector<T> all() const {
        std::vector<T> found;
        for (const Message& message : m_messages)
            if (const T* one = std::get_if<T>(&message))
                found.push_back(*one);
        return found;
    }

private:
    void take(const Message& message);

    std::unique_ptr<QProcess> m_process;
    FrameScanner m_frames;
    std::vector<Message> m_messages;
    std::map<std::string, std::string> m_files;
    std::map<std::string, std::vector<LogStamp>> m_stamps;
    std::map<std::string, uint64_t> m_starts;
    bool m_isGapFree = true;
    QElapsedTimer m_sinceBeat;
};

} // namespace rm::test
