// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What is said of connections to nodes, of programs there, and of what is sent to them.
struct SshTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr Phrase kPhrases[] = {
        // Titles of causes, in the row of a check.
        {"ssh.title-name", QT_TR_NOOP("Name not found")},
        {"ssh.title-jump-host", QT_TR_NOOP("Jump host")},
        {"ssh.title-route", QT_TR_NOOP("No route")},
        {"ssh.title-refused", QT_TR_NOOP("Connection refused")},
        {"ssh.title-no-answer", QT_TR_NOOP("No answer")},
        {"ssh.title-turned-away", QT_TR_NOOP("Turned away")},
        {"ssh.title-algorithms", QT_TR_NOOP("SSH algorithms")},
        {"ssh.title-host-key", QT_TR_NOOP("Host key")},
        {"ssh.title-login", QT_TR_NOOP("Authentication")},
        {"ssh.title-other", QT_TR_NOOP("Connection")},

        {"ssh.fix-name", QT_TR_NOOP("correct its address with Edit, or with {edit} --ssh; or join "
                                    "the network or VPN that knows the name")},
        {"ssh.fix-route",
         QT_TR_NOOP(
             "join its network or VPN, or name a jump host with Edit, or with {edit} --jump")},
        {"ssh.fix-jump-host",
         QT_TR_NOOP("log in to the jump host once with ssh in a terminal, trust its key there and "
                    "add yours to the SSH agent: ssh must get past it without a question; or name "
                    "another with Edit, or with {edit} --jump")},
        {"ssh.fix-refused",
         QT_TR_NOOP("start sshd there, or correct the port with Edit, or with {edit} --ssh")},
        {"ssh.fix-no-answer", QT_TR_NOOP("switch it on, or let its firewall admit this computer; "
                                         "then check again")},
        {"ssh.fix-turned-away", QT_TR_NOOP("look into its sshd's log: MaxStartups, or a guard such "
                                           "as fail2ban, hangs up")},
        {"ssh.fix-algorithms",
         QT_TR_NOOP("let its sshd offer such an algorithm, then check again")},
        {"ssh.fix-host-key",
         QT_TR_NOOP("compare the key with the machine's own before anything else")},
        {"ssh.fix-login", QT_TR_NOOP("name a user or a key file that it accepts with Edit, or with "
                                     "{edit} --ssh or --key")},
        {"ssh.fix-other", QT_TR_NOOP("mend what the message names, then check again")},

        // What was attempted: the part of an error's message before its ": ".
        {"ssh.prepare", QT_TR_NOOP("prepare the connection to {node}")},
        {"ssh.read-config", QT_TR_NOOP("read what ssh_config says of {host}")},
        {"ssh.reach", QT_TR_NOOP("reach {node}")},
        {"ssh.connect", QT_TR_NOOP("connect to {where}")},
        {"ssh.check-key", QT_TR_NOOP("check the key of {where}")},
        {"ssh.write-file", QT_TR_NOOP("write {file}")},
        {"ssh.log-in", QT_TR_NOOP("log in to {where}")},
        {"ssh.keep-password", QT_TR_NOOP("keep the password of {node} in the keyring")},
        {"ssh.start", QT_TR_NOOP("start {program} on {where}")},
        {"ssh.run", QT_TR_NOOP("run {program} on {where}")},
        {"ssh.write-to", QT_TR_NOOP("write to {program} on {where}")},
        {"ssh.end-input-of", QT_TR_NOOP("end the input of {program} on {where}")},
        {"ssh.read-from", QT_TR_NOOP("read from {program} on {where}")},
        {"ssh.script", QT_TR_NOOP("script")},
        {"ssh.this-computer", QT_TR_NOOP("this computer")},
        {"ssh.start-it", QT_TR_NOOP("start {program}")},
        {"ssh.write-to-it", QT_TR_NOOP("write to {program}")},
        {"ssh.wait-for-it", QT_TR_NOOP("wait for {program}")},

        // Why there is no connection. A check shows what stands before "; " alone where it has
        // advice of its own: for names, routes, jump hosts, refusals and no answer.
        {"ssh.not-installed", QT_TR_NOOP("start ssh: {why}; install OpenSSH's client "
                                         "(openssh-client), which reads ssh_config")},
        {"ssh.config-not-in-time",
         QT_TR_NOOP("ssh did not read it within 10 s; a `Match exec` in it may wait")},
        {"ssh.config-wrong",
         QT_TR_NOOP("{mistake}; mend it so that `ssh -G` takes it, then try again")},
        {"ssh.no-host-name",
         QT_TR_NOOP("\"{name}\" is no host name: it may hold letters, digits, '-', '_' and '.', "
                    "with 1 to 63 of them between dots; name the machine's address instead")},
        {"ssh.not-followed",
         QT_TR_NOOP("these lines of ssh_config are not followed here: {lines}; do without them "
                    "(a key of a token: add it with ssh-add), or let ssh connect: "
                    "ProxyCommand ssh -W %h:%p NAME")},
        {"ssh.other-logins", QT_TR_NOOP("other logins to it take too long; try again once they are "
                                        "through, or check fewer nodes at once")},
        {"ssh.address-not-found",
         QT_TR_NOOP(
             "find its address: {why}; check how the name is written, the network and the VPN")},
        {"ssh.address-not-in-time", QT_TR_NOOP("find its address: no answer in time; check the "
                                               "network, the VPN and the name servers")},
        {"ssh.no-such-name",
         QT_TR_NOOP("its name was not found; check how it is written, and the VPN")},
        {"ssh.no-route", QT_TR_NOOP("there is no route to it from this computer; check the "
                                    "address, the network and the VPN")},
        {"ssh.route-forbidden",
         QT_TR_NOOP("a route or firewall of this computer forbids it; allow it there")},
        {"ssh.jump-host-not-passed",
         QT_TR_NOOP("the jump host could not be passed: {said}; ssh must get to it without a "
                    "question, so log in there once with ssh and add your key to the SSH agent")},
        {"ssh.jump-host-not-reached",
         QT_TR_NOOP("the jump host could not be reached: {said}; check its address and port, and "
                    "that its sshd runs")},
        {"ssh.jump-host-reached-nothing",
         QT_TR_NOOP("the jump host let us in, but reached nothing there: {said}; check the address "
                    "and the port as the jump host sees them, and that sshd runs there")},
        {"ssh.jump-host-forwards-nothing",
         QT_TR_NOOP("the jump host let us in, but forwards nothing: {said}; its sshd has to allow "
                    "it (AllowTcpForwarding, PermitOpen)")},
        {"ssh.proxy-failed",
         QT_TR_NOOP("ProxyCommand `{command}` did not get there: {said}; run it in a terminal: it "
                    "has to show the banner of sshd")},
        {"ssh.proxy-said-nothing",
         QT_TR_NOOP("ProxyCommand `{command}` did not get there, and said nothing; run it in a "
                    "terminal: it has to show the banner of sshd")},
        {"ssh.refused", QT_TR_NOOP("nothing listens at that port, so it is refused; check the "
                                   "port, and that sshd runs there")},
        {"ssh.timed-out",
         QT_TR_NOOP(
             "no answer in time; the machine may be off, or a firewall is between: check both")},
        {"ssh.no-answer", QT_TR_NOOP("no answer in time; the machine may be off or overloaded, or "
                                     "a firewall is between: check that, then try again")},
        {"ssh.large-packets-lost",
         QT_TR_NOOP("it answered, and then nothing came while keys were exchanged: packets of full "
                    "size may be lost on the way (a VPN or tunnel whose MTU is smaller than this "
                    "computer's), or it is overloaded; set a smaller MTU here, such as `ip link "
                    "set dev INTERFACE mtu 1280`, then try again")},
        {"ssh.turned-away",
         QT_TR_NOOP(
             "the server ended the connection at once; it takes no more logins at the moment "
             "(MaxStartups of its sshd), or is no SSH server: try again, or check the port")},
        {"ssh.no-keys-agreed-on",
         QT_TR_NOOP("the server answered and ended the connection before keys were agreed on; it "
                    "may offer no AES-GCM cipher, which is required: add aes256-gcm@openssh.com to "
                    "the Ciphers of its sshd")},
        {"ssh.no-algorithm",
         QT_TR_NOOP("the server speaks no algorithm that is safe to use; its sshd must offer one, "
                    "such as aes256-gcm@openssh.com among its Ciphers (AES-GCM)")},
        {"ssh.lost", QT_TR_NOOP("the connection was lost; check that the machine runs and can be "
                                "reached, then try again")},
        {"ssh.silent",
         QT_TR_NOOP("the connection went silent, without an answer to a keep-alive request; check "
                    "that the machine runs and can be reached (network, VPN), then try again: what "
                    "was under way there may have been done")},
        {"ssh.verbose-says-more", QT_TR_NOOP("ssh -v to it may say more")},

        {"ssh.no-key-shown", QT_TR_NOOP("the host showed no key")},
        {"ssh.no-fingerprint", QT_TR_NOOP("the host's key has no fingerprint")},
        {"ssh.key-unknown",
         QT_TR_NOOP("its {type} key {fingerprint} is not known on this computer")},
        {"ssh.key-not-confirmed",
         QT_TR_NOOP("its {type} key {fingerprint} is not known on this computer, and it is not the "
                    "key that you confirmed ({confirmed})")},
        {"ssh.key-not-given",
         QT_TR_NOOP("its key {shown} is the one known for it, but not the one that you gave "
                    "({given}). Compare both with the machine's own; nothing was sent to it")},
        {"ssh.confirmed-once",
         QT_TR_NOOP("`StrictHostKeyChecking {value}` is not followed here: each key is confirmed "
                    "once")},
        {"ssh.no-authorities",
         QT_TR_NOOP("the authority for hosts in {where} is not asked: the key itself is confirmed "
                    "once")},
        {"ssh.key-revoked", QT_TR_NOOP("its key {shown} is revoked by {where}. Ask who runs it; "
                                       "nothing was sent to it")},
        {"ssh.look-for-revoked", QT_TR_NOOP("look for the host's key in RevokedHostKeys {file}")},
        {"ssh.ask-for-keys", QT_TR_NOOP("ask KnownHostsCommand for the keys of a host")},
        {"ssh.keys-not-reported",
         QT_TR_NOOP("{command} failed ({said}); mend it, or leave it out of ssh_config")},
        {"ssh.unknown-token", QT_TR_NOOP("{token} is not known here; leave it out")},
        {"ssh.said-nothing", QT_TR_NOOP("it said nothing")},
        {"ssh.odd-key-line", QT_TR_NOOP("\"{line}\" in it is no key; mend that line")},
        {"ssh.key-not-proven",
         QT_TR_NOOP(
             "the host did not prove that its key is its own, or its RSA key is shorter than "
             "RequiredRSASize of ssh_config demands; nothing was sent to it")},
        {"ssh.key-too-short",
         QT_TR_NOOP("your RSA key is shorter than RequiredRSASize of ssh_config "
                    "demands; make a longer one")},
        {"ssh.no-such-algorithms",
         QT_TR_NOOP(
             "none of the {key} that ssh_config demands ({wanted}) is used here: name one of "
             "{ours} as well")},
        {"ssh.no-answer-in-10-s", QT_TR_NOOP("no answer in 10 s")},
        {"ssh.key-changed",
         QT_TR_NOOP(
             "the host's key is not the one known for it. It shows {shown}; {file} line {line} has "
             "{known}. Either someone is between you and the host, or its key was changed. Ask who "
             "runs it; if the new key is right, remove the old one with: {command}")},
        {"ssh.key-changed-somewhere", QT_TR_NOOP("the host's key is not the one known for it. It "
                                                 "shows {shown}. Nothing was sent to it")},

        {"ssh.file-unreadable", QT_TR_NOOP("{file} cannot be read: {why}")},
        {"ssh.file-no-key", QT_TR_NOOP("{file} is no private key")},
        {"ssh.keys-in-agent", QT_TR_NOOP("their keys in the SSH agent")},
        {"ssh.agent", QT_TR_NOOP("the SSH agent")},
        {"ssh.key-files-in", QT_TR_NOOP("the key files in {folder}")},
        {"ssh.no-key", QT_TR_NOOP("no key was accepted")},
        {"ssh.no-key-of", QT_TR_NOOP("no key was accepted (tried {tried})")},
        {"ssh.no-other-key", QT_TR_NOOP("{problems}; no other key was accepted")},
        {"ssh.no-other-key-of",
         QT_TR_NOOP("{problems}; no other key was accepted (tried {tried})")},
        {"ssh.needs-password", QT_TR_NOOP("{why}; a password is needed")},
        {"ssh.needs-password-or-file",
         QT_TR_NOOP("{why}; a password is needed, or that file mended")},
        {"ssh.needs-key",
         QT_TR_NOOP("{why}; the host takes only keys: add yours with ssh-copy-id")},
        {"ssh.needs-key-or-file",
         QT_TR_NOOP(
             "{why}; the host takes only keys: mend that file, or add yours with ssh-copy-id")},
        {"ssh.needs-passphrase",
         QT_TR_NOOP("{file} is protected by a passphrase, which is needed unless the key is added "
                    "to the SSH agent with ssh-add")},
        {"ssh.wrong-passphrase", QT_TR_NOOP("the passphrase does not open {file}")},
        {"ssh.needs-both", QT_TR_NOOP("the host accepted the key and asks for a password too")},
        {"ssh.wrong-password", QT_TR_NOOP("wrong password")},
        {"ssh.asks-for-more", QT_TR_NOOP("the host asks for more than a password: \"{prompt}\"; "
                                         "log in there once with ssh and answer it, or use a key")},
        {"ssh.too-many-keys",
         QT_TR_NOOP("the server closed after too many keys were offered; name the right key file "
                    "for this node, or set IdentitiesOnly in ssh_config")},
        {"ssh.password-not-kept",
         QT_TR_NOOP("it gave no reason, perhaps as none runs on this desktop; Ringmaster keeps it "
                    "until it is closed, and then asks for it")},
        {"ssh.password-not-kept-as",
         QT_TR_NOOP("{why}; Ringmaster keeps it until it is closed, and then asks for it")},

        // Why a program did not start, or how it ended.
        {"ssh.odd-program",
         QT_TR_NOOP("run '{program}': a program is an absolute path, or a name of letters, digits "
                    "and ._:,@%+- only")},
        {"ssh.odd-argument", QT_TR_NOOP("run {program}: argument '{argument}' holds more than "
                                        "letters, digits and ._:/=,@%+-")},
        {"ssh.starts-nothing",
         QT_TR_NOOP("its SSH server takes the login and starts no program for it; let its "
                    "sshd_config do so (it may say MaxSessions 0), or log in as a user who may")},
        {"ssh.shell-prints-too-much",
         QT_TR_NOOP("the login shell prints more than 64 KiB before the program begins; make its "
                    "startup files (~/.bashrc) print nothing where there is no terminal")},
        {"ssh.shell-ended",
         QT_TR_NOOP("the login shell ended before it; log in there with ssh to see why")},
        {"ssh.shell-ended-saying", QT_TR_NOOP("the login shell ended before it; the last it said: "
                                              "{said}; log in there with ssh to see why")},
        {"ssh.shell-waits",
         QT_TR_NOOP("the login shell has not come to it in {seconds} s; its "
                    "startup files (~/.bashrc) may wait for something, such as input")},
        {"ssh.shell-waits-saying",
         QT_TR_NOOP("the login shell has not come to it in {seconds} s; its startup files "
                    "(~/.bashrc) may wait for something; the last it said: {said}")},
        {"ssh.input-unread", QT_TR_NOOP("the program no longer reads its input")},
        {"ssh.takes-nothing", QT_TR_NOOP("the host took nothing for 60 s; check that it runs and "
                                         "can be reached, then try again")},
        {"ssh.prints-more-than-it-reads", QT_TR_NOOP("it prints more than it reads")},
        {"ssh.prints-too-much", QT_TR_NOOP("it prints more than 16 MiB")},
        {"ssh.program-silent",
         QT_TR_NOOP("no answer in time; look there for what it waits for, such as a slow drive")},
        {"ssh.no-lines", QT_TR_NOOP("the host does not answer in lines")},
        {"ssh.ended-early", QT_TR_NOOP("the program ended early")},
        {"ssh.not-ended",
         QT_TR_NOOP(
             "it did not end in time; look there for what it waits for, such as a slow drive")},
        {"ssh.not-ended-here", QT_TR_NOOP("it did not end in time")},
        {"ssh.killed", QT_TR_NOOP("killed by {signal}; look there for who ended it, such as the "
                                  "kernel for want of memory (dmesg)")},
        {"ssh.killed-here", QT_TR_NOOP("killed by signal {signal}")},
        {"ssh.no-exit-code",
         QT_TR_NOOP(
             "it ended without exit code; sshd there ended the session, so look into its log")},
        {"ssh.exit-code", QT_TR_NOOP("exit code {code}")},

        // Sending the agent, bundles, data and checkpoints.
        {"deploy.find-agent", QT_TR_NOOP("find the agent of this installation")},
        {"deploy.send-agent", QT_TR_NOOP("send the agent to {node}")},
        {"deploy.odd-line", QT_TR_NOOP("the host answered '{line}'")},
        {"deploy.other-platform",
         QT_TR_NOOP("{node} runs {platform}; this release of Ringmaster trains on {ours} only")},
        {"deploy.musl", QT_TR_NOOP("{node} has musl instead of glibc; Ringmaster's trainer needs "
                                   "glibc 2.34 or later (Debian 12, Ubuntu 22.04 or newer)")},
        {"deploy.starts-no-programs",
         QT_TR_NOOP("{node} lets its user start no more programs ({said}): its limit of processes "
                    "is reached; raise it (ulimit -u, nproc in limits.conf, pids.max), or end what "
                    "runs there, then check again")},
        {"deploy.unknown-libc",
         QT_TR_NOOP("{node} does not tell its C library ({libc}); Ringmaster's trainer needs glibc "
                    "2.34 or later (Debian 12, Ubuntu 22.04 or newer)")},
        {"deploy.old-glibc", QT_TR_NOOP("{node} has glibc {glibc}; Ringmaster's trainer needs "
                                        "glibc 2.34 or later (Debian 12, Ubuntu 22.04 or newer)")},
        {"deploy.fix-full",
         QT_TR_NOOP("make room there (see df -h and quota), or name a folder on another disk as "
                    "RINGMASTER_HOME in that machine's /etc/environment, then check again")},
        {"deploy.fix-closed",
         QT_TR_NOOP(
             "let its user write there (see ls -ld and mount), or name a folder of that user as "
             "RINGMASTER_HOME in that machine's /etc/environment, then check again")},
        {"deploy.fix-noexec",
         QT_TR_NOOP("mount the disk of that folder without noexec (see findmnt), or name a folder "
                    "on another disk as RINGMASTER_HOME in that machine's /etc/environment, then "
                    "check again")},
        {"deploy.fix-system",
         QT_TR_NOOP("leave it out, or give it a system that this release trains on: Linux "
                    "{machine} with glibc 2.34 or later (Debian 12, Ubuntu 22.04, RHEL 9), as in a "
                    "container with an sshd of its own")},
        {"deploy.fix-unanswered",
         QT_TR_NOOP("check again; if it stays so, log in there and look for what does not answer, "
                    "such as a network drive")},

        {"deploy.find-trainer", QT_TR_NOOP("find the trainer of this installation")},
        {"deploy.find-gpu-trainer",
         QT_TR_NOOP("find the trainer for GPUs of the runtime {runtime}")},
        {"deploy.no-gpu-trainer",
         QT_TR_NOOP("this installation came without it ({file}); set it up with {command}")},
        {"deploy.make-bundle", QT_TR_NOOP("make the trainer's bundle")},
        {"deploy.file-missing", QT_TR_NOOP("{file} is not there; build or install again")},
        {"deploy.file-empty", QT_TR_NOOP("{file} is empty")},
        {"deploy.stage", QT_TR_NOOP("stage {path}")},
        {"deploy.odd-name", QT_TR_NOOP("its name is too long or not plain UTF-8")},
        {"deploy.no-file-or-folder", QT_TR_NOOP("it is neither a file nor a folder")},
        {"deploy.nothing-in-it", QT_TR_NOOP("there is no file in it")},
        {"deploy.open", QT_TR_NOOP("open {file}")},
        {"deploy.read", QT_TR_NOOP("read {file}")},
        {"deploy.no-file", QT_TR_NOOP("it is not a file")},
        {"deploy.send-files", QT_TR_NOOP("send files to the node")},
        {"deploy.send-files-to", QT_TR_NOOP("send files to {where}")},
        {"deploy.lost-file", QT_TR_NOOP("the node lost a file that it had confirmed")},
        {"deploy.copy-checkpoint", QT_TR_NOOP("copy a checkpoint from {from} to {to}")},
        {"deploy.source-silent", QT_TR_NOOP("{node} sends nothing any more")},
        {"deploy.receiver-ended", QT_TR_NOOP("the receiver ended early")},
        {"deploy.odd-answer", QT_TR_NOOP("the agent gave an unexpected answer")},
        {"deploy.no-answer", QT_TR_NOOP("no answer in time")},
    };
};

} // namespace

TextTable sshTexts() {
    return {{}, SshTexts::kPhrases};
}

} // namespace rm
