// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/key_file.h"

#include "app/core/findings/text.h"

#include <QFile>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace rm {

namespace {

/// The passphrase for protected key files, and whether one was needed.
struct KeyLock {
    const std::optional<Secret>& passphrase;
    bool isMet = false;

    /// libssh's callback for the passphrase of a key file; `lock` is a KeyLock.
    static int answer(const char*, char* buffer, size_t size, int, int, void* lock) {
        auto& self = *static_cast<KeyLock*>(lock);
        self.isMet = true;
        if (!self.passphrase || self.passphrase->text().size() >= size)
            return -1;
        const std::string& text = self.passphrase->text();
        std::memcpy(buffer, text.c_str(), text.size() + 1);
        return 0;
    }
};

SshKey privateKeyIn(const std::string& path, KeyLock& lock) {
    ssh_key key = nullptr;
    ssh_pki_import_privkey_file(path.c_str(), nullptr, &KeyLock::answer, &lock, &key);
    return {key, &ssh_key_free};
}

/// A key file of OpenSSH has its public half in clear; an older one has it in the file beside it.
SshKey publicHalfOf(const std::string& path, const SshKey& whole) {
    ssh_key key = nullptr;
    if (whole)
        ssh_pki_export_privkey_to_pubkey(whole.get(), &key);
    else if (ssh_pki_import_pubkey_file((path + ".pub").c_str(), &key) != SSH_OK)
        ssh_pki_import_pubkey_file(path.c_str(), &key);
    return {key, &ssh_key_free};
}

/// Why a file holds no key that could be used, locked or not; empty: a public one, which stands for
/// a key of the SSH agent.
std::string whyNoKey(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly))
        return say("ssh.file-unreadable",
                   {{"file", path}, {"why", file.errorString().toStdString()}});
    ssh_key key = nullptr;
    const bool isPublic = !file.peek(5).startsWith("-----") &&
                          ssh_pki_import_pubkey_file(path.c_str(), &key) == SSH_OK;
    ssh_key_free(key);
    return isPublic ? std::string() : say("ssh.file-no-key", {{"file", path}});
}

/// The key is in a FIDO token, which the SSH agent can ask and libssh 0.10 cannot.
bool isOfToken(const SshKey& publicHalf) {
    const auto type = ssh_key_type(publicHalf.get());
    return type == SSH_KEYTYPE_SK_ED25519 || type == SSH_KEYTYPE_SK_ECDSA;
}

SshKey certificateBeside(const std::string& path) {
    ssh_key certificate = nullptr;
    ssh_pki_import_cert_file((path + "-cert.pub").c_str(), &certificate);
    return {certificate, &ssh_key_free};
}

SshKey certifiedKey(const std::string& path, const SshKey& certificate, KeyLock& lock) {
    SshKey key = privateKeyIn(path, lock);
    if (key && ssh_pki_copy_cert_to_privkey(certificate.get(), key.get()) != SSH_OK)
        key.reset();
    return key;
}

/// "${HOME}/key" as ssh reads it. A variable that is not set stays as it is written.
std::string withVariables(std::string text) {
    for (size_t begin = text.find("${"); begin != std::string::npos;
         begin = text.find("${", begin)) {
        const size_t end = text.find('}', begin);
        const char* value = end == std::string::npos
                                ? nullptr
                                : std::getenv(text.substr(begin + 2, end - begin - 2).c_str());
        if (value == nullptr)
            return text; // as it is written: then the file is not found, and named
        text.replace(begin, end - begin + 1, value);
        begin += std::strlen(value);
    }
    return text;
}

KeyFile loadKeyFile(const std::string& path, const Credentials& credentials) {
    KeyLock lock{credentials.passphrase};
    KeyFile file;
    file.path = path;
    file.key = privateKeyIn(path, lock);
    file.publicHalf = publicHalfOf(path, file.key);
    file.certificate = certificateBeside(path);
    if (file.key && file.certificate)
        file.certified = certifiedKey(path, file.certificate, lock);
    file.isLocked = !file.key && lock.isMet;
    if (!file.key && !file.isLocked && !isOfToken(file.publicHalf))
        file.problem = whyNoKey(path);
    return file;
}

std::vector<KeyFile> usualKeyFiles(const Credentials& credentials) {
    std::vector<KeyFile> files;
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
        const std::string path = underHome(std::string("~/.ssh/") + name);
        if (QFile::exists(QString::fromStdString(path)))
            files.push_back(loadKeyFile(path, credentials));
    }
    return files;
}

std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

} // namespace

std::string agentSocket(const SshConfig& config) {
    const std::string& said = config.identityAgent;
    if (said.empty() || said == "SSH_AUTH_SOCK")
        return variable("SSH_AUTH_SOCK");
    if (said == "none")
        return {};
    if (said.starts_with("${") && said.ends_with('}'))
        return variable(said.substr(2, said.size() - 3));
    return said.starts_with('$') ? variable(said.substr(1)) : underHome(said);
}

KeyFiles loadKeyFiles(const SshConfig& config, const Node& node, const SshTokens& tokens,
                      const Credentials& credentials) {
    KeyFiles files;
    if (!config.offersKeys && node.identityFile.empty())
        return files;
    if (!node.identityFile.empty())
        files.ofNode = loadKeyFile(underHome(node.identityFile), credentials);
    files.areUsual = config.identityFiles.empty();
    if (files.areUsual)
        files.others = usualKeyFiles(credentials);
    for (const std::string& path : config.identityFiles)
        files.others.push_back(
            loadKeyFile(underHome(withVariables(expandTokens(path, tokens))), credentials));
    files.agentSocket = agentSocket(config);
    files.isAgentLimited = config.identitiesOnly;
    return files;
}

std::vector<std::string> problemsOf(const KeyFiles& files) {
    std::vector<std::string> problems;
    if (files.ofNode && !files.ofNode->problem.empty())
        problems.push_back(files.ofNode->problem);
    for (const KeyFile& file : files.others)
        if (!file.problem.empty())
            problems.push_back(file.problem);
    return problems;
}

std::vector<std::string> problemsAtLogin(const KeyFiles& files) {
    std::vector<std::string> problems;
    const auto add = [&](const KeyFile& file) {
        if (!file.problem.empty() && !file.publicHalf)
            problems.push_back(file.problem);
    };
    if (files.ofNode)
        add(*files.ofNode);
    std::ranges::for_each(files.others, add);
    return problems;
}

} // namespace rm
