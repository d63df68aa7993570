// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_auth.h"

#include "app/core/findings/text.h"
#include "app/core/remote/chosen_keys_agent.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/ssh_error.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <memory>

namespace rm {

namespace {

using Need = ConnectFailure::Need;
constexpr auto kLogin = ConnectFailure::Cause::kLogin;

/// One login. Each method returns whether the host accepted it; the host may require several.
class Login {
public:
    Login(SshLink& link, const KeyFiles& keys, const Credentials& credentials,
          const Patience& patience)
        : m_link(link)
        , m_keys(keys)
        , m_credentials(credentials)
        , m_patience(patience)
        , m_attempt(say("ssh.log-in", {{"where", link.where()}})) {}

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
    Result<bool> keyOfNode();
    Result<bool> agent();
    Result<bool> otherKeys();
    Result<bool> use(const KeyFile& file);
    void limitAgent();
    Result<bool> password();
    Result<bool> dialogue();
    Result<void> answerPrompts();
    Result<bool> tryEachWay();
    ConnectFailure refusal() const;
    std::string noKeyAccepted() const;
    ConnectFailure refusalOfKeys() const;
    ConnectFailure denied(const std::string& why, Need need) const {
        return {failAs(m_attempt, {ErrorCode::kDenied, why}).value(), need, {}, kLogin};
    }

    SshLink& m_link;
    const KeyFiles& m_keys;
    const Credentials& m_credentials;
    const Patience& m_patience;
    std::string m_attempt;
    std::vector<std::string> m_tried; ///< keys, in words
    std::string m_locked;             ///< key file that no passphrase has opened
    bool m_halfWay = false;           ///< one method was accepted and the host requires another
    bool m_nextStage = false;         ///< that happened in this stage
    bool m_passwordSent = false;
    bool m_passwordRefused = false;
    std::unique_ptr<ChosenKeysAgent> m_agent; ///< libssh talks to it if it is there
};

Result<bool> Login::use(const KeyFile& file) {
    if (file.certified) {
        const auto content = ask(
            [&] { return ssh_userauth_publickey(m_link.get(), nullptr, file.certified.get()); });
        if (!content || *content || m_nextStage)
            return content;
    }
    if (file.key)
        return ask([&] { return ssh_userauth_publickey(m_link.get(), nullptr, file.key.get()); });
    if (!file.isLocked)
        return false;
    // Nobody is asked for the passphrase of a key that the host would not take.
    Result<bool> taken = !file.publicHalf && !file.certificate;
    for (const SshKey* half : {&file.certificate, &file.publicHalf})
        if (taken && !*taken && *half)
            taken =
                ask([&] { return ssh_userauth_try_publickey(m_link.get(), nullptr, half->get()); });
    if (!taken || !*taken)
        return taken;
    if (m_locked.empty())
        m_locked = file.path;
    return false;
}

Result<bool> Login::keyOfNode() {
    if (!m_keys.ofNode || !takes(SSH_AUTH_METHOD_PUBLICKEY))
        return false;
    m_tried.push_back(m_keys.ofNode->path);
    return use(*m_keys.ofNode);
}

Result<bool> Login::agent() {
    if (m_keys.agentSocket.empty() || !takes(SSH_AUTH_METHOD_PUBLICKEY))
        return false;
    m_tried.push_back(say(m_keys.isAgentLimited ? "ssh.keys-in-agent" : "ssh.agent"));
    if (m_keys.isAgentLimited && !m_agent)
        limitAgent();
    if (m_keys.isAgentLimited && !m_agent)
        return false;
    return ask([this] { return ssh_userauth_agent(m_link.get(), nullptr); });
}

void Login::limitAgent() {
    QByteArrayList named;
    const auto add = [&named](const KeyFile& file) {
        char* text = nullptr;
        if (file.publicHalf && ssh_pki_export_pubkey_base64(file.publicHalf.get(), &text) == SSH_OK)
            named << QByteArray::fromBase64(text);
        ssh_string_free_char(text);
    };
    if (m_keys.ofNode)
        add(*m_keys.ofNode);
    std::ranges::for_each(m_keys.others, add);
    m_agent = ChosenKeysAgent::start(m_keys.agentSocket, named);
    if (m_agent)
        ssh_set_agent_socket(m_link.get(), m_agent->takeClientEnd());
}

Result<bool> Login::otherKeys() {
    if (!takes(SSH_AUTH_METHOD_PUBLICKEY))
        return false;
    if (m_keys.areUsual)
        m_tried.push_back(say("ssh.key-files-in", {{"folder", underHome("~/.ssh")}}));
    for (const KeyFile& file : m_keys.others) {
        if (!m_keys.areUsual)
            m_tried.push_back(file.path);
        const auto content = use(file);
        if (!content || *content || m_nextStage)
            return content;
    }
    return false;
}

Result<bool> Login::password() {
    if (!m_credentials.password || m_passwordSent)
        return false;
    Result<bool> content = false;
    if (takes(SSH_AUTH_METHOD_PASSWORD)) {
        m_passwordSent = true;
        content = ask([this] {
            return ssh_userauth_password(m_link.get(), nullptr,
                                         m_credentials.password->text().c_str());
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
            return failAs(
                m_attempt,
                {ErrorCode::kDenied,
                 say("ssh.asks-for-more",
                     {{"prompt", lastLine(withoutEscapes(prompt == nullptr ? "" : prompt))}})});
        m_passwordSent = true;
        ssh_userauth_kbdint_setanswer(m_link.get(), static_cast<unsigned>(at),
                                      m_credentials.password->text().c_str());
    }
    return {};
}

/// The sentence for it, behind the problems of key files that could not be used.
std::string Login::noKeyAccepted() const {
    const Value problems{"problems", joined(problemsOf(m_keys))};
    const Value tried{"tried", joined(m_tried, ", ")};
    if (problems.text.empty())
        return m_tried.empty() ? say("ssh.no-key") : say("ssh.no-key-of", {tried});
    return m_tried.empty() ? say("ssh.no-other-key", {problems})
                           : say("ssh.no-other-key-of", {problems, tried});
}

ConnectFailure Login::refusalOfKeys() const {
    const bool hasProblems = !problemsOf(m_keys).empty();
    const Value why{"why", noKeyAccepted()};
    if (takes(SSH_AUTH_METHOD_PASSWORD) || takes(SSH_AUTH_METHOD_INTERACTIVE))
        return denied(say(hasProblems ? "ssh.needs-password-or-file" : "ssh.needs-password", {why}),
                      Need::kPassword);
    return denied(say(hasProblems ? "ssh.needs-key-or-file" : "ssh.needs-key", {why}),
                  Need::kNothing);
}

ConnectFailure Login::refusal() const {
    if (m_passwordRefused)
        return denied(say("ssh.wrong-password"), Need::kPassword);
    if (m_halfWay && !m_credentials.password)
        return denied(say("ssh.needs-both"), Need::kPassword);
    if (m_locked.empty())
        return refusalOfKeys();
    return denied(say(m_credentials.passphrase ? "ssh.wrong-passphrase" : "ssh.needs-passphrase",
                      {{"file", m_locked}}),
                  Need::kPassphrase);
}

Result<bool> Login::tryEachWay() {
    m_nextStage = false;
    // The keys that somebody named come first, as a server takes a few only.
    const bool areNamed = !m_keys.areUsual;
    const Way second = areNamed ? &Login::otherKeys : &Login::agent;
    const Way third = areNamed ? &Login::agent : &Login::otherKeys;
    for (const Way way : {Way{&Login::keyOfNode}, second, third, Way{&Login::password}}) {
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

tl::expected<void, ConnectFailure> authenticate(SshLink& link, const KeyFiles& keys,
                                                const Credentials& credentials,
                                                const Patience& patience) {
    return Login(link, keys, credentials, patience).run();
}

} // namespace rm
