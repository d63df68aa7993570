// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_auth.h"

#include <QDir>

#include <memory>

namespace rm {

namespace {

using Key = std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)>;
using Need = ConnectFailure::Need;

/// One login. Each way answers whether the host is content; a host may ask for several in turn.
class Login {
public:
    Login(SshLink& link, const Node& node, const Credentials& credentials, const Patience& patience)
        : m_link(link)
        , m_node(node)
        , m_credentials(credentials)
        , m_patience(patience)
        , m_attempt("log in to " + link.where()) {}

    tl::expected<void, ConnectFailure> run();

private:
    using Way = Result<bool> (Login::*)();

    template <class Step>
    Result<bool> ask(Step step) {
        const auto answer = m_link.drive(step, SSH_AUTH_AGAIN, m_attempt, m_patience);
        if (!answer)
            return tl::unexpected(answer.error());
        if (*answer == SSH_AUTH_ERROR)
            return tl::unexpected(sshError(m_link, m_attempt));
        return *answer == SSH_AUTH_SUCCESS;
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
    ConnectFailure refusal() const;

    SshLink& m_link;
    const Node& m_node;
    const Credentials& m_credentials;
    const Patience& m_patience;
    std::string m_attempt;
    std::string m_tried;
    std::string m_hint;
};

Result<bool> Login::namedKey() {
    if (m_node.identityFile.empty() || !takes(SSH_AUTH_METHOD_PUBLICKEY))
        return false;
    const std::string path = underHome(m_node.identityFile);
    ssh_key loaded = nullptr;
    const int rc = ssh_pki_import_privkey_file(path.c_str(), nullptr, nullptr, nullptr, &loaded);
    const Key key(loaded, &ssh_key_free);
    m_tried += path + ", ";
    if (rc == SSH_OK)
        return ask([&] { return ssh_userauth_publickey(m_link.get(), nullptr, key.get()); });
    m_hint = rc == SSH_EOF ? "; " + path + " cannot be read"
                           : "; " + path +
                                 " has a passphrase or is no key: add it to the SSH "
                                 "agent with ssh-add";
    return false;
}

Result<bool> Login::keys() {
    if (!takes(SSH_AUTH_METHOD_PUBLICKEY))
        return false;
    m_tried += "the SSH agent, the key files in " + m_link.option(SSH_OPTIONS_SSH_DIR) + ", ";
    return ask([this] { return ssh_userauth_publickey_auto(m_link.get(), nullptr, nullptr); });
}

Result<bool> Login::password() {
    if (!m_credentials.password)
        return false;
    if (!takes(SSH_AUTH_METHOD_PASSWORD))
        return takes(SSH_AUTH_METHOD_INTERACTIVE) ? dialogue() : false;
    return ask([this] {
        return ssh_userauth_password(m_link.get(), nullptr, m_credentials.password->c_str());
    });
}

/// Keyboard-interactive with one hidden prompt is how PAM asks for a password.
Result<bool> Login::dialogue() {
    for (int round = 0; round < 5; ++round) {
        const auto answer =
            m_link.drive([this] { return ssh_userauth_kbdint(m_link.get(), nullptr, nullptr); },
                         SSH_AUTH_AGAIN, m_attempt, m_patience);
        if (!answer)
            return tl::unexpected(answer.error());
        if (*answer == SSH_AUTH_ERROR)
            return tl::unexpected(sshError(m_link, m_attempt));
        if (*answer != SSH_AUTH_INFO)
            return *answer == SSH_AUTH_SUCCESS;
        const int prompts = ssh_userauth_kbdint_getnprompts(m_link.get());
        for (int at = 0; at < prompts; ++at) {
            char shown = 1;
            ssh_userauth_kbdint_getprompt(m_link.get(), static_cast<unsigned>(at), &shown);
            if (shown != 0)
                return fail(ErrorCode::kDenied,
                            m_attempt + ": the host asks for more than a password");
            ssh_userauth_kbdint_setanswer(m_link.get(), static_cast<unsigned>(at),
                                          m_credentials.password->c_str());
        }
    }
    return false;
}

ConnectFailure Login::refusal() const {
    const bool asksPassword = takes(SSH_AUTH_METHOD_PASSWORD) || takes(SSH_AUTH_METHOD_INTERACTIVE);
    if (m_credentials.password && asksPassword)
        return {{ErrorCode::kDenied, m_attempt + ": wrong password"}, Need::kPassword, {}};
    const std::string tried =
        m_tried.empty() ? "" : " (tried " + m_tried.substr(0, m_tried.size() - 2) + ')';
    if (asksPassword)
        return {{ErrorCode::kDenied,
                 m_attempt + ": no key was accepted" + tried + m_hint + "; a password is needed"},
                Need::kPassword,
                {}};
    return {{ErrorCode::kDenied, m_attempt + ": no key was accepted" + tried + m_hint +
                                     "; the host takes only keys: add yours with ssh-copy-id"},
            Need::kNothing,
            {}};
}

tl::expected<void, ConnectFailure> Login::run() {
    for (const Way way : {&Login::none, &Login::namedKey, &Login::keys, &Login::password}) {
        const auto content = (this->*way)();
        if (!content)
            return tl::unexpected(ConnectFailure{content.error(), Need::kNothing, {}});
        if (*content)
            return {};
    }
    return tl::unexpected(refusal());
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
