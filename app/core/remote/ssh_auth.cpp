// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_auth.h"

#include "app/core/remote/error_tail.h"
#include "app/core/remote/ssh_error.h"
#include "shared/return_if_error.h"

#include <QDir>

#include <memory>

namespace rm {

namespace {

using Key = std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)>;
using Need = ConnectFailure::Need;
constexpr auto kLogin = ConnectFailure::Cause::kLogin;

/// One login. Each method returns whether the host accepted it; the host may require several.
class Login {
public:
    Login(SshLink& link, const Node& node, const Credentials& credentials, const Patience& patience)
        : m_link(link)
        , m_node(node)
        , m_credentials(credentials)
        , m_patience(patience)
        , m_attempt("log in to " + link.where()) {
        link.keyLock().passphrase = credentials.passphrase ? &*credentials.passphrase : nullptr;
    }
    ~Login() { m_link.keyLock().passphrase = nullptr; }
    Login(const Login&) = delete;
    Login& operator=(const Login&) = delete;

    tl::expected<void, ConnectFailure> run();

private:
    using Way = Result<bool> (Login::*)();

    /// Repeats the call until libssh returns something other than SSH_AUTH_AGAIN, which it does for
    /// ever where the server hung up between two keys.
    template <class Step>
    Result<int> drive(Step step) {
        const auto stepUnlessGone = [&] {
            const int answer = step();
            const bool isGone = ssh_is_connected(m_link.get()) == 0;
            return answer == SSH_AUTH_AGAIN && isGone ? int{SSH_AUTH_ERROR} : answer;
        };
        const auto answer = m_link.drive(stepUnlessGone, SSH_AUTH_AGAIN, m_attempt, m_patience);
        if (answer && *answer == SSH_AUTH_ERROR)
            return tl::unexpected(sshError(m_link, m_attempt));
        if (answer && *answer == SSH_AUTH_PARTIAL)
            m_halfWay = m_nextStage = true;
        return answer;
    }
    template <class Step>
    Result<bool> ask(Step step) {
        return drive(step).map([](int answer) { return answer == SSH_AUTH_SUCCESS; });
    }
    bool takes(unsigned method) const {
        return (static_cast<unsigned>(ssh_userauth_list(m_link.get(), nullptr)) & method) != 0;
    }
    Result<bool> none() {
        return ask([this] { return ssh_userauth_none(m_link.get(), nullptr); });
    }
    Result<bool> namedKey();
    Result<bool> keys();
    Result<bool> password();
    Result<bool> dialogue();
    Result<void> answerPrompts();
    Result<bool> tryEachWay();
    ConnectFailure refusal() const;
    ConnectFailure refusalOfKeys() const;
    ConnectFailure denied(const std::string& why, Need need) const {
        return {{ErrorCode::kDenied, m_attempt + ": " + why}, need, {}, kLogin};
    }

    SshLink& m_link;
    const Node& m_node;
    const Credentials& m_credentials;
    const Patience& m_patience;
    std::string m_attempt;
    std::string m_tried;
    std::string m_hint;
    std::string m_locked;     ///< key file that no passphrase has opened
    bool m_halfWay = false;   ///< one method was accepted and the host requires another
    bool m_nextStage = false; ///< that happened in this stage
    bool m_passwordSent = false;
    bool m_passwordRefused = false;
};

Result<bool> Login::namedKey() {
    if (m_node.identityFile.empty() || !takes(SSH_AUTH_METHOD_PUBLICKEY))
        return false;
    const std::string path = underHome(m_node.identityFile);
    KeyLock& lock = m_link.keyLock();
    lock.met = false;
    ssh_key loaded = nullptr;
    const int rc =
        ssh_pki_import_privkey_file(path.c_str(), nullptr, &KeyLock::answer, &lock, &loaded);
    const Key key(loaded, &ssh_key_free);
    m_tried += path + ", ";
    if (rc == SSH_OK)
        return ask([&] { return ssh_userauth_publickey(m_link.get(), nullptr, key.get()); });
    if (lock.met)
        m_locked = path;
    else
        m_hint = "; " + path + (rc == SSH_EOF ? " cannot be read" : " is no private key");
    return false;
}

Result<bool> Login::keys() {
    if (!takes(SSH_AUTH_METHOD_PUBLICKEY))
        return false;
    const std::string folder = underHome("~/.ssh");
    m_tried += "the SSH agent, the key files in " + folder + ", ";
    m_link.keyLock().met = false;
    const auto content =
        ask([this] { return ssh_userauth_publickey_auto(m_link.get(), nullptr, nullptr); });
    if (m_link.keyLock().met && m_locked.empty())
        m_locked = "a key file in " + folder;
    return content;
}

Result<bool> Login::password() {
    if (!m_credentials.password || m_passwordSent)
        return false;
    Result<bool> content = false;
    if (takes(SSH_AUTH_METHOD_PASSWORD)) {
        m_passwordSent = true;
        content = ask([this] {
            return ssh_userauth_password(m_link.get(), nullptr, m_credentials.password->c_str());
        });
    } else if (takes(SSH_AUTH_METHOD_INTERACTIVE)) {
        content = dialogue();
    }
    m_passwordRefused = m_passwordSent && content && !*content && !m_nextStage;
    return content;
}

/// Keyboard-interactive with one hidden prompt is how PAM asks for a password.
Result<bool> Login::dialogue() {
    for (;;) {
        const auto answer =
            drive([this] { return ssh_userauth_kbdint(m_link.get(), nullptr, nullptr); });
        if (!answer)
            return tl::unexpected(answer.error());
        if (*answer != SSH_AUTH_INFO)
            return *answer == SSH_AUTH_SUCCESS;
        RM_RETURN_IF_ERROR(answerPrompts());
    }
}

Result<void> Login::answerPrompts() {
    const int prompts = ssh_userauth_kbdint_getnprompts(m_link.get());
    for (int at = 0; at < prompts; ++at) {
        char shown = 1;
        const char* prompt =
            ssh_userauth_kbdint_getprompt(m_link.get(), static_cast<unsigned>(at), &shown);
        if (shown != 0 || m_passwordSent)
            return fail(ErrorCode::kDenied,
                        m_attempt + ": the host asks for more than a password: \"" +
                            lastLine(withoutEscapes(prompt == nullptr ? "" : prompt)) + '"');
        m_passwordSent = true;
        ssh_userauth_kbdint_setanswer(m_link.get(), static_cast<unsigned>(at),
                                      m_credentials.password->c_str());
    }
    return {};
}

ConnectFailure Login::refusalOfKeys() const {
    std::string why = "no key was accepted";
    if (!m_tried.empty())
        why += " (tried " + m_tried.substr(0, m_tried.size() - 2) + ')';
    why += m_hint;
    if (takes(SSH_AUTH_METHOD_PASSWORD) || takes(SSH_AUTH_METHOD_INTERACTIVE))
        return denied(why + "; a password is needed", Need::kPassword);
    return denied(why + "; the host takes only keys: add yours with ssh-copy-id", Need::kNothing);
}

ConnectFailure Login::refusal() const {
    if (m_passwordRefused)
        return denied("wrong password", Need::kPassword);
    if (m_halfWay && !m_credentials.password)
        return denied("the host accepted the key and asks for a password too", Need::kPassword);
    if (m_locked.empty())
        return refusalOfKeys();
    if (m_credentials.passphrase)
        return denied("the passphrase does not open " + m_locked, Need::kPassphrase);
    return denied(m_locked + " is protected by a passphrase, which is needed unless the key is "
                             "added to the SSH agent with ssh-add",
                  Need::kPassphrase);
}

Result<bool> Login::tryEachWay() {
    m_nextStage = false;
    for (const Way way : {&Login::namedKey, &Login::keys, &Login::password}) {
        const auto content = (this->*way)();
        if (!content || *content || m_nextStage)
            return content;
    }
    return false;
}

tl::expected<void, ConnectFailure> Login::run() {
    constexpr int kMostStages = 4; // methods that a host may require
    Result<bool> content = none();
    m_nextStage = true;
    for (int stage = 0; content && !*content && m_nextStage && stage < kMostStages; ++stage)
        content = tryEachWay();
    if (!content)
        return tl::unexpected(ConnectFailure{content.error(), Need::kNothing, {}, kLogin});
    if (!*content)
        return tl::unexpected(refusal());
    return {};
}

} // namespace

std::string underHome(const std::string& path) {
    if (path != "~" && path.substr(0, 2) != "~/")
        return path;
    return QDir::homePath().toStdString() + path.substr(1);
}

tl::expected<void, ConnectFailure> authenticate(SshLink& link, const Node& node,
                                                const Credentials& credentials,
                                                const Patience& patience) {
    return Login(link, node, credentials, patience).run();
}

} // namespace rm
