// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/known_hosts.h"

#include "app/core/findings/text.h"
#include "app/core/remote/helper_program.h"
#include "app/core/settings/paths.h"
#include "app/core/settings/private_files.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QMessageAuthenticationCode>
#include <QRandomGenerator>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <iterator>
#include <span>
#include <sstream>
#include <utility>

namespace rm {

namespace {

constexpr const char* kCommand = "KnownHostsCommand";
constexpr size_t kLargestFile = 64u << 20;

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Takes the first word off the line.
std::string_view nextWord(std::string_view& line) {
    constexpr std::string_view kBlanks = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    line.remove_prefix(word.size());
    return word;
}

/// A file that takes no line, as of a person who keeps no keys.
bool keepsNothing(const std::string& file) {
    const QFileInfo info(QString::fromStdString(file));
    return file == "none" || (info.exists() && !info.isFile());
}

/// Or one on a disk that is read-only, where ssh goes on without having written.
bool takesNothing(const std::string& file) {
    return keepsNothing(file) || isOnReadOnlyDisk(file);
}

std::string ownFile() {
    return (Paths::fromEnvironment().config + "/known_hosts").toStdString();
}

/// As OpenSSH parts a command: by blanks outside of quotes of either kind. A backslash before a
/// quote, a backslash or, outside of quotes, a blank takes that as it is, and is a backslash
/// elsewhere.
std::vector<std::string> wordsOf(const std::string& command) {
    std::vector<std::string> words;
    char quote = 0;
    bool isOpen = false;
    for (size_t at = 0; at < command.size(); ++at) {
        const char c = command[at];
        const char next = at + 1 < command.size() ? command[at + 1] : char{0};
        const bool isEscape = c == '\\' && (next == '\'' || next == '"' || next == '\\' ||
                                            (quote == 0 && next == ' '));
        const bool isBlank = quote == 0 && (c == ' ' || c == '\t');
        if (isBlank) {
            isOpen = false;
            continue;
        }
        if (!std::exchange(isOpen, true))
            words.emplace_back();
        if (isEscape)
            words.back() += command[++at];
        else if (quote != 0 ? c == quote : c == '"' || c == '\'')
            quote = quote != 0 ? char{0} : c;
        else
            words.back() += c;
    }
    return words;
}

/// A token or variable of the command that is not known here; empty: there is none.
std::string unknownToken(const std::string& command, const SshTokens& tokens) {
    if (const size_t variable = command.find("${"); variable != std::string::npos)
        return command.substr(variable, command.find('}', variable) - variable + 1);
    for (size_t at = command.find('%'); at != std::string::npos; at = command.find('%', at + 2))
        if (at + 1 >= command.size() || !tokens.contains(command[at + 1]))
            return command.substr(at, 2);
    return {};
}

/// Whether the list of hosts of a line has the name: one of them, and no one behind '!'.
bool hasHost(std::string_view hosts, const std::string& name, const std::string& key,
             std::string& fingerprint) {
    bool has = false;
    while (!hosts.empty()) {
        std::string_view host = hosts.substr(0, hosts.find(','));
        hosts.remove_prefix(std::min(host.size() + 1, hosts.size()));
        const bool isExcluded = host.starts_with('!');
        host.remove_prefix(isExcluded ? 1 : 0);
        // libssh takes "[host]:22" for "host" as well, which OpenSSH does not write.
        if (host.empty() || (host.starts_with('[') && !name.starts_with('[')))
            continue;
        ssh_knownhosts_entry* entry = nullptr;
        const std::string line = std::string(host) + ' ' + key;
        if (ssh_known_hosts_parse_line(name.c_str(), line.c_str(), &entry) != SSH_OK)
            continue;
        fingerprint = fingerprintOf(entry->publickey);
        ssh_knownhosts_entry_free(entry);
        if (isExcluded)
            return false;
        has = true;
    }
    return has;
}

/// A file of which a person sees every line, with one more, or as it was.
Result<void> appendLine(const std::string& file, const std::string& line) {
    RM_RETURN_IF_ERROR(makeFolders(QFileInfo(QString::fromStdString(file)).path().toStdString()));
    RM_ASSIGN_OR_RETURN(const Descriptor out, openFile(file, O_RDWR | O_APPEND | O_CREAT, 0600));
    const off_t size = ::lseek(out.get(), 0, SEEK_END);
    char last = '\n';
    if (size > 0 && ::pread(out.get(), &last, 1, size - 1) != 1)
        return failErrno("read " + file, errno);
    const std::string text = (last == '\n' ? "" : "\n") + line + '\n';
    const auto written = writeAll(out.get(), std::as_bytes(std::span(text)), file);
    if (!written)
        static_cast<void>(::ftruncate(out.get(), size));
    return written;
}

/// The name as known_hosts keeps it for who wants no list of his hosts: "|1|SALT|HASH" (sshd(8)).
std::string hashed(const std::string& name) {
    QByteArray salt(20, '\0');
    QRandomGenerator::system()->fillRange(reinterpret_cast<quint32*>(salt.data()), 5);
    const QByteArray hash = QMessageAuthenticationCode::hash(QByteArray::fromStdString(name), salt,
                                                             QCryptographicHash::Sha1);
    return "|1|" + (salt.toBase64() + '|' + hash.toBase64()).toStdString();
}

} // namespace

std::string fingerprintOf(ssh_key key) {
    unsigned char* hash = nullptr;
    size_t length = 0;
    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != SSH_OK)
        return {};
    char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
    ssh_clean_pubkey_hash(&hash);
    std::string fingerprint = text == nullptr ? "" : text;
    ssh_string_free_char(text);
    return fingerprint;
}

KnownHosts::KnownHosts(const SshLink& link, const SshConfig& config, SshTokens tokens)
    : m_settings(config.hostKeys)
    , m_tokens(std::move(tokens))
    , m_shown("ringmaster-hosts") {
    const std::string host = lower(link.host());
    m_name = !m_settings.alias.empty() ? lower(m_settings.alias)
             : link.port() == 22       ? host
                                       : '[' + host + "]:" + std::to_string(link.port());
}

Result<void> KnownHosts::prepare(SshLink& link, const std::stop_token& stop) {
    for (const auto* files : {&m_settings.userFiles, &m_settings.globalFiles})
        for (const std::string& file : *files)
            read(underHome(file));
    if (keeper() == ownFile())
        read(ownFile());
    RM_RETURN_IF_ERROR(ask("ORDER", {{}, 0, "NONE", "NONE", "NONE"}, stop));
    return show(link);
}

Result<void> KnownHosts::askAbout(SshLink& link, const KnownKey& shown,
                                  const std::stop_token& stop) {
    RM_RETURN_IF_ERROR(ask("HOSTNAME", shown, stop));
    return show(link);
}

Result<void> KnownHosts::ask(const char* reason, const KnownKey& key, const std::stop_token& stop) {
    using End = HelperAnswer::End;
    const std::vector<std::string> parts = wordsOf(m_settings.command);
    if (parts.empty() || m_settings.command == "none")
        return {};
    SshTokens tokens = m_tokens;
    tokens.insert(
        {{'H', m_name}, {'I', reason}, {'t', key.type}, {'f', key.fingerprint}, {'K', key.base64}});
    const auto failed = [this](const std::string& said) {
        return failAs(say("ssh.ask-for-keys"),
                      {ErrorCode::kDenied, say("ssh.keys-not-reported",
                                               {{"command", m_settings.command}, {"said", said}})});
    };
    if (const std::string token = unknownToken(m_settings.command, tokens); !token.empty())
        return failed(say("ssh.unknown-token", {{"token", token}}));
    QStringList words;
    for (const std::string& word : parts)
        words << QString::fromStdString(expandTokens(word, tokens));
    const std::string program = underHome(words.takeFirst().toStdString());
    const HelperAnswer answer = runHelper(QString::fromStdString(program), words, stop);
    if (answer.end == End::kCancelled)
        return failCancelled(say("ssh.ask-for-keys"));
    if (answer.end == End::kTooLate)
        return failed(say("ssh.no-answer-in-10-s"));
    if (!answer.succeeded)
        return failed(answer.said.empty() ? say("ssh.said-nothing") : answer.said);
    take(kCommand, answer.output);
    return {};
}

void KnownHosts::read(const std::string& file) {
    if (keepsNothing(file))
        return;
    if (const auto text = readFile(file, kLargestFile))
        take(file, *text);
}

KnownLines knownLinesIn(std::string_view text, const std::string& name, const std::string& source) {
    KnownLines found;
    std::istringstream lines{std::string(text)};
    std::string whole;
    for (int number = 1; std::getline(lines, whole); ++number) {
        std::string_view line = whole;
        std::string marker;
        std::string_view hosts = nextWord(line);
        if (hosts.starts_with('@')) {
            marker = hosts;
            hosts = nextWord(line);
        }
        const std::string type(nextWord(line)), key(nextWord(line));
        if (hosts.empty() || hosts.starts_with('#') || key.empty())
            continue;
        std::string fingerprint;
        if (!hasHost(hosts, name, type + ' ' + key, fingerprint))
            continue;
        if (marker == "@cert-authority" && found.authority.empty())
            found.authority = source + " line " + std::to_string(number);
        else if (marker.empty() || marker == "@revoked")
            found.keys.push_back({source, number, type, key, fingerprint, !marker.empty()});
    }
    return found;
}

void KnownHosts::take(const std::string& source, std::string_view text) {
    KnownLines found = knownLinesIn(text, m_name, source);
    std::ranges::move(found.keys, std::back_inserter(m_keys));
    if (m_authority.empty())
        m_authority = found.authority;
}

Result<void> KnownHosts::show(SshLink& link) {
    std::string text;
    for (const KnownKey& key : m_keys)
        if (!key.isRevoked)
            text += "* " + key.type + ' ' + key.base64 + '\n';
    RM_RETURN_IF_ERROR(m_shown.write(text));
    ssh_options_set(link.get(), SSH_OPTIONS_KNOWNHOSTS, m_shown.path().c_str());
    ssh_options_set(link.get(), SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
    return {};
}

/// Whether RevokedHostKeys lists the key, one on a line; nullopt: it is a KRL, which ssh-keygen
/// reads.
Result<std::optional<bool>> KnownHosts::revokedInText(const KnownKey& shown) const {
    const std::string file = underHome(m_settings.revoked);
    const auto text = readFile(file, kLargestFile);
    if (!text)
        return failAs(say("ssh.look-for-revoked", {{"file", file}}),
                      {ErrorCode::kDenied, text.error().message});
    if (text->starts_with("SSHKRL"))
        return std::nullopt;
    bool isListed = false;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        std::string_view rest = line;
        const std::string type(nextWord(rest)), key(nextWord(rest));
        if (type.empty() || type.starts_with('#'))
            continue;
        ssh_key read = nullptr;
        const bool isKey = ssh_pki_import_pubkey_base64(
                               key.c_str(), ssh_key_type_from_name(type.c_str()), &read) == SSH_OK;
        ssh_key_free(read);
        if (!isKey) // as OpenSSH: what cannot be read may be the key
            return failAs(
                say("ssh.look-for-revoked", {{"file", file}}),
                {ErrorCode::kDenied, say("ssh.odd-key-line", {{"line", line.substr(0, 80)}})});
        isListed |= key == shown.base64;
    }
    return isListed;
}

Result<std::string> KnownHosts::revokedBy(const KnownKey& shown,
                                          const std::stop_token& stop) const {
    for (const KnownKey& key : m_keys)
        if (key.isRevoked && key.fingerprint == shown.fingerprint)
            return key.file + " line " + std::to_string(key.line);
    if (m_settings.revoked.empty() || m_settings.revoked == "none")
        return std::string();
    RM_ASSIGN_OR_RETURN(const auto listed, revokedInText(shown));
    if (listed)
        return *listed ? underHome(m_settings.revoked) : std::string();
    MemoryFile key("ringmaster-key");
    const std::string list = underHome(m_settings.revoked);
    RM_RETURN_IF_ERROR(key.write(shown.type + ' ' + shown.base64 + '\n'));
    const HelperAnswer answer = runHelper(
        "ssh-keygen",
        {"-Q", "-f", QString::fromStdString(list), QString::fromStdString(key.path())}, stop);
    if (answer.end == HelperAnswer::End::kDone && answer.succeeded)
        return std::string();
    if (answer.output.find("REVOKED") != std::string::npos)
        return list;
    return failAs(
        say("ssh.look-for-revoked", {{"file", list}}),
        {ErrorCode::kDenied, answer.said.empty() ? say("ssh.no-answer-in-10-s") : answer.said});
}

/// The file that takes new keys.
std::string KnownHosts::keeper() const {
    const std::string first =
        m_settings.userFiles.empty() ? "none" : underHome(m_settings.userFiles.front());
    return takesNothing(first) ? ownFile() : behindLinks(first);
}

Result<void> KnownHosts::add(const KnownKey& key) const {
    const std::string file = keeper();
    const std::string name = m_settings.areHashed ? hashed(m_name) : m_name;
    const auto written = appendLine(file, name + ' ' + key.type + ' ' + key.base64);
    return written ? written : failAs(say("ssh.write-file", {{"file", file}}), written.error());
}

} // namespace rm
