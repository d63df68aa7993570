// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/engine.h"
#include "app/core/remote/credential_store.h"
#include "app/core/remote/secret.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <malloc.h>

#include <array>
#include <cstdlib>
#include <new>
#include <string_view>

using namespace rm;

namespace {

std::string_view s_secret;  ///< empty: nothing is looked for
int s_freedWithSecret = 0;  ///< blocks that still held it
int s_freedThatMayHold = 0; ///< blocks of its size or more

void freeBlock(void* at) {
    if (at != nullptr && !s_secret.empty()) {
        const std::string_view block(static_cast<char*>(at), ::malloc_usable_size(at));
        s_freedThatMayHold += block.size() >= s_secret.size() ? 1 : 0;
        s_freedWithSecret += block.find(s_secret) != std::string_view::npos ? 1 : 0;
    }
    std::free(at);
}

} // namespace

void* operator new(std::size_t size) {
    if (void* block = std::malloc(size))
        return block;
    throw std::bad_alloc();
}
void operator delete(void* at) noexcept {
    freeBlock(at);
}
void operator delete(void* at, std::size_t) noexcept {
    freeBlock(at);
}

/// What is left in memory of passwords.
class SecretTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void noFreedBlockHoldsOne();
    void aShortOneIsOverwrittenWhereItLies();
    void textsOnTheWayAreOverwritten();
};

/// A long one does not lie in the object itself.
void SecretTest::noFreedBlockHoldsOne() {
    const std::string text = "a secret that is too long to lie in a small string";
    const QTemporaryDir home; // without an ssh_config
    qputenv("HOME", home.path().toLocal8Bit());
    Node node;
    node.name = "a";
    node.sshHost = "a.invalid";
    s_secret = text;
    const auto reset = qScopeGuard([] { s_secret = {}; });
    {
        CheckRequest request{"a", {text, Secret(QString::fromStdString(text)), {}}};
        EngineRequest kept = request;
        Credentials entered = std::get<CheckRequest>(kept).credentials;
        entered.password = "another that is even longer than the first, so that it needs more room";
        entered.passphrase.reset();
        request.credentials.password = "short";
        CredentialStore store;
        store.grant(node, std::get<CheckRequest>(kept).credentials);
        store.grant(node, entered);
        store.forget(node);
    }
    QVERIFY(s_freedThatMayHold > 0);
    QCOMPARE(s_freedWithSecret, 0);
    delete new std::string(text);
    QVERIFY2(s_freedWithSecret > 0, "the test sees none of them");
}

void SecretTest::aShortOneIsOverwrittenWhereItLies() {
    alignas(Secret) std::array<char, sizeof(Secret)> room{};
    const auto holdsIt = [&room] {
        return std::string_view(room.data(), room.size()).find("short") != std::string_view::npos;
    };
    auto* secret = new (room.data()) Secret("short");
    QVERIFY(holdsIt());
    *secret = "x";
    QVERIFY(!holdsIt());
    *secret = "short";
    secret->~Secret();
    QVERIFY(!holdsIt());
}

void SecretTest::textsOnTheWayAreOverwritten() {
    QString text = QString("of a dialog").toUpper();
    QByteArray bytes = text.toUtf8();
    const QString shared = text;
    cleanse(text);
    cleanse(bytes);
    QCOMPARE(shared, QString("OF A DIALOG"));
    QCOMPARE(bytes, QByteArray(bytes.size(), '\0'));
    text.detach();
    cleanse(text);
    QCOMPARE(text, QString(text.size(), QChar(u'\0')));
    QCOMPARE(Secret(QString("gr\u00fcn")).text(), std::string("gr\xc3\xbcn"));
}

QTEST_GUILESS_MAIN(SecretTest)
#include "tst_secret.moc"
