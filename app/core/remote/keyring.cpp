// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/keyring.h"

#include "app/core/findings/text.h"

#include <qt6keychain/keychain.h>

namespace rm {

namespace {

const QString kService = QStringLiteral("ringmaster");

QString entryOf(const Node& node) {
    const std::string jump = node.jumpHost.empty() ? "" : " through " + node.jumpHost;
    return QString::fromStdString("ssh:" + node.user + '@' + node.sshHost + ':' +
                                  std::to_string(node.port) + jump);
}

} // namespace

void Keyring::read(const Node& node, std::function<void(std::optional<Secret>)> done) {
    auto* job = new QKeychain::ReadPasswordJob(kService, this);
    job->setKey(entryOf(node));
    connect(job, &QKeychain::Job::finished, this, [job, done = std::move(done)] {
        const bool found = job->error() == QKeychain::NoError;
        done(found ? std::optional<Secret>(job->textData()) : std::nullopt);
    });
    job->start();
}

void Keyring::write(const Node& node, const Secret& password,
                    std::function<void(Result<void>)> done) {
    auto* job = new QKeychain::WritePasswordJob(kService, this);
    job->setKey(entryOf(node));
    job->setTextData(QString::fromStdString(password.text()));
    connect(job, &QKeychain::Job::finished, this, [job, name = node.name, done = std::move(done)] {
        if (job->error() == QKeychain::NoError)
            return done({});
        // "Unknown error" is its own word where no keyring runs.
        const std::string why =
            job->error() == QKeychain::OtherError
                ? say("ssh.password-not-kept")
                : say("ssh.password-not-kept-as", {{"why", job->errorString().toStdString()}});
        done(failAs(say("ssh.keep-password", {{"node", name}}), {ErrorCode::kUnavailable, why}));
    });
    job->start();
}

void Keyring::remove(const Node& node) {
    auto* job = new QKeychain::DeletePasswordJob(kService, this);
    job->setKey(entryOf(node));
    job->start();
}

} // namespace rm
