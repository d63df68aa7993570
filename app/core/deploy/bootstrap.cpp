// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/bootstrap.h"

#include "app/core/findings/text.h"

#include <QRegularExpression>
#include <QSysInfo>

namespace rm {

// Exit codes are those of rm::ExitCode.
const char* const kBootstrapScript = R"sh(umask 077
login=$PATH
PATH=/usr/local/bin:/usr/bin:/bin
unset LD_LIBRARY_PATH LD_PRELOAD
command -v sha256sum >/dev/null 2>&1 || command -v shasum >/dev/null 2>&1 || PATH=$PATH:$login
export PATH
read -r sha release || exit 2
case $sha in *[!0-9a-f]*|"") echo "that is no SHA-256" >&2; exit 2;; esac
case ${XDG_DATA_HOME:-} in /*) data=$XDG_DATA_HOME;; *) data=${HOME:?}/.local/share;; esac
case ${RINGMASTER_HOME:-} in /*) home=$RINGMASTER_HOME;; *) home=$data/ringmaster;; esac
folder=$home/agents/$sha
file=$folder/ringmaster-agent
part=$folder/incoming.$$
sum() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi |
    { read -r word rest; echo "$word"; }
}
state() { stat -c "%i %s %Y %Z" "$file" 2>/dev/null; }
seen=$(state)
isUnchanged() {
  [ -n "$seen" ] && read -r known 2>/dev/null <"$folder/verified" && [ "$known" = "$seen" ]
}
isWhole() {
  [ "$(sum "$file")" = "$sha" ] || return 1
  # Another change within the second of the last one would not show.
  if [ -n "$seen" ] && [ "${seen##* }" -lt "$(($(date +%s) - 1))" ] && [ "$(state)" = "$seen" ]
  then echo "$seen" >"$folder/verified"; fi 2>/dev/null
  return 0
}
# Ends with what a program said, on one line, and by the code of a full disk if it says so.
end() {
  echo "$1$(printf "%s" "$2" | tr -s "\n" " ")" >&2
  case $2 in *"No space"*|*quota*) exit 8;; esac
  exit "$3"
}
have() {
  touch -c "$folder" 2>/dev/null
  label=$folder/.ringmaster-label
  case $release in *[!0-9A-Za-z.+-]*|"") ;;
    *) [ -f "$label" ] || printf %s "$release" >"$label";;
  esac 2>/dev/null
  echo "have $file"
  exit 0
}
[ -x "$file" ] && isUnchanged && "$file" --version >/dev/null 2>&1 && have
echo "platform $(uname -sm)"
echo "libc $(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)"
[ -x "$file" ] && isWhole && have
if command -v gzip >/dev/null 2>&1; then echo "need gzip"; else echo need; fi
read -r packing || exit 0
trap "exit 1" HUP INT TERM
said=$(LC_ALL=C mkdir -p "$folder" 2>&1) || end "" "$said" 5
[ -d "$file" ] && end "$file" " is a folder, and the agent is to lie there: move it away" 6
trap 'rm -f "$part"; rmdir "$folder" 2>/dev/null' EXIT
case $packing in gzip) unpack="gzip -dc";; *) unpack=cat;; esac
said=$(LC_ALL=C $unpack 2>&1 >"$part") || end "unpack the agent in $folder: " "$said" 6
if [ "$(sum "$part")" != "$sha" ]; then echo "the agent did not arrive whole" >&2; exit 6; fi
chmod 700 "$part" && mv -f "$part" "$file" || exit 5
have
)sh";

Result<void> checkPlatform(const std::string& node, const std::string& platform) {
    const std::string ours = "Linux " + QSysInfo::buildCpuArchitecture().toStdString();
    if (platform == ours)
        return {};
    return fail(ErrorCode::kInvalid, say("deploy.other-platform",
                                         {{"node", node}, {"platform", platform}, {"ours", ours}}));
}

Result<void> checkLibc(const std::string& node, const std::string& libc) {
    constexpr int kMajor = 2;
    constexpr int kMinor = 34;
    const Value of{"node", node};
    static const QRegularExpression version(QStringLiteral("(\\d+)\\.(\\d+)\\s*$"));
    const QString text = QString::fromStdString(libc);
    const auto match = version.match(text);
    if (text.contains("musl", Qt::CaseInsensitive))
        return fail(ErrorCode::kInvalid, say("deploy.musl", {of}));
    if (!match.hasMatch())
        return fail(ErrorCode::kInvalid, say("deploy.unknown-libc", {of, {"libc", libc}}));
    const int major = match.captured(1).toInt();
    const int minor = match.captured(2).toInt();
    if (major > kMajor || (major == kMajor && minor >= kMinor))
        return {};
    return fail(
        ErrorCode::kInvalid,
        say("deploy.old-glibc", {of, {"glibc", match.captured(0).trimmed().toStdString()}}));
}

} // namespace rm
