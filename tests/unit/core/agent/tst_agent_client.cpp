// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/agent_client.h"
#include "app/core/remote/local_session.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {

/// An agent that says the first times that nothing is there, as while a folder is mounted again.
class AgentOfAway {
public:
    AgentOfAway(int times, const QByteArray& answer)
        : m_path(m_folder.filePath("agent").toStdString()) {
        QFile script(m_folder.filePath("agent"));
        if (!script.open(QIODevice::WriteOnly))
            qFatal("write %s", m_path.c_str());
        const QByteArray asked = m_folder.filePath("asked").toUtf8();
        script.write("#!/bin/sh\necho >> " + asked + "\nif [ $(wc -l < " + asked + ") -le " +
                     QByteArray::number(times) +
                     " ]; then echo 'nothing is there' >&2; exit 3; fi\necho '" + answer + "'\n");
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }

    const std::string& path() const { return m_path; }
    int asked() const {
        QFile file(m_folder.filePath("asked"));
        return file.open(QIODevice::ReadOnly) ? static_cast<int>(file.readAll().count('\n')) : 0;
    }

private:
    QTemporaryDir m_folder;
    std::string m_path;
};

} // namespace

class TestAgentClient : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatIsAwayForAMomentIsSeen() {
        LocalSession session;
        const AgentOfAway agent(1, R"({"attempt":3,"alive":true})");
        const auto run = runOnNode(session, agent.path(), "r1", {});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->attempt, 3);
        QVERIFY(run->isAlive);
        const AgentOfAway other(1, R"({"state":"stopped"})");
        const auto stopped = stopOnNode(session, other.path(), "r1", {});
        QVERIFY2(stopped && *stopped, stopped ? "" : stopped.error().message.c_str());
    }

    void nothingThereIsBelievedWhenItIsSaidTwice() {
        LocalSession session;
        const AgentOfAway agent(1000, {});
        const auto run = runOnNode(session, agent.path(), "r1", {});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->attempt, 0);
        QVERIFY(!run->isAlive);
        QCOMPARE(agent.asked(), 2);
        const auto stopped = stopOnNode(session, agent.path(), "r1", {});
        QVERIFY2(stopped && !*stopped, stopped ? "" : stopped.error().message.c_str());
        QCOMPARE(agent.asked(), 4);
    }

    void whatIsThereIsAskedOnce() {
        LocalSession session;
        const AgentOfAway agent(0, R"({"attempt":1,"alive":false})");
        QVERIFY(runOnNode(session, agent.path(), "r1", {}));
        QCOMPARE(agent.asked(), 1);
    }
};

QTEST_GUILESS_MAIN(TestAgentClient)
#include "tst_agent_client.moc"
