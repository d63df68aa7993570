// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/messages.h"

#include "shared/io/flat.h"
#include "shared/return_if_error.h"
#include "shared/wire/limits.h"
#include "shared/wire/wire_generated.h"

#include <algorithm>

namespace rm {

namespace {

tl::unexpected<Error> corrupt(const std::string& cause) {
    return fail(ErrorCode::kCorrupt, "read message: " + cause);
}

tl::unexpected<Error> tooNew(const std::string& what, int value) {
    return fail(ErrorCode::kTooNew,
                "read message: " + what + " " + std::to_string(value) + " is of a newer release");
}

template <class T>
size_t sizeOf(const flatbuffers::Vector<T>* vector) {
    return vector ? vector->size() : 0;
}

Result<std::string> replicatedFile(const flatbuffers::String* file) {
    constexpr size_t kMaxFile = 80;
    if (!file || file->size() > kMaxFile || !isReplicatedFile(file->str()))
        return corrupt("a file that is not replicated");
    return file->str();
}

Result<Message> read(const fb::Hello& m) {
    return Hello{m.version(), textOf(m.release()), textOf(m.run_id()), m.node_index()};
}

Result<Message> read(const fb::Attach& m) {
    if (sizeOf(m.cursors()) > kMaxTables)
        return corrupt("too many cursors");
    Attach attach;
    for (size_t i = 0; i < sizeOf(m.cursors()); ++i) {
        const auto* cursor = m.cursors()->Get(flatbuffers::uoffset_t(i));
        RM_ASSIGN_OR_RETURN(auto file, replicatedFile(cursor->file()));
        attach.cursors.push_back({std::move(file), cursor->offset()});
    }
    return attach;
}

Result<Message> read(const fb::Slice& m) {
    if (sizeOf(m.bytes()) > kMaxSlice)
        return corrupt("too large a slice");
    if (m.offset() > uint64_t(INT64_MAX) - kMaxSlice)
        return corrupt("impossible offset of a slice");
    RM_ASSIGN_OR_RETURN(auto file, replicatedFile(m.file()));
    Slice slice{std::move(file), m.offset(), {}};
    if (m.bytes()) {
        const auto bytes = std::as_bytes(std::span(m.bytes()->data(), m.bytes()->size()));
        slice.bytes.assign(bytes.begin(), bytes.end());
    }
    if (sizeOf(m.stamps()) > kMaxStamps)
        return corrupt("too many stamps of a slice");
    uint64_t before = m.offset();
    for (size_t i = 0; i < sizeOf(m.stamps()); ++i) {
        const auto* stamp = m.stamps()->Get(flatbuffers::uoffset_t(i));
        if (stamp->end() <= before)
            return corrupt("stamps of a slice that are not in order");
        before = stamp->end();
        slice.stamps.push_back({stamp->end(), stamp->wall_ns()});
    }
    return slice;
}

Result<Message> read(const fb::Command& m) {
    if (!isKnown(CommandKind(m.kind())))
        return tooNew("command kind", m.kind());
    if (sizeOf(m.args()) > kMaxArguments)
        return corrupt("too many arguments of a command");
    Command command{textOf(m.id()), CommandKind(m.kind()), {}};
    for (size_t i = 0; i < sizeOf(m.args()); ++i) {
        const auto* arg = m.args()->Get(flatbuffers::uoffset_t(i));
        const auto tooLong = [](const auto* text) { return text && text->size() > kMaxArgument; };
        if (tooLong(arg->name()) || tooLong(arg->value()))
            return corrupt("too long an argument of a command");
        command.args.emplace_back(textOf(arg->name()), textOf(arg->value()));
    }
    return command;
}

Result<Message> read(const fb::CommandState& m) {
    if (m.progress() > uint8_t(CommandProgress::kRefused))
        return tooNew("command progress", m.progress());
    return CommandState{textOf(m.id()), CommandProgress(m.progress()), m.step(),
                        textOf(m.message())};
}

Result<Message> read(const fb::RunState& m) {
    if (sizeOf(m.ranks()) > kMaxTables)
        return corrupt("too many ranks");
    RunState state{m.attempt(),     m.supervised(),        m.ended(),
                   m.outcome(),     m.wall_ns(),           {},
                   m.has_no_room(), textOf(m.waits_for()), textOf(m.no_room())};
    for (size_t i = 0; i < sizeOf(m.ranks()); ++i) {
        const auto* r = m.ranks()->Get(flatbuffers::uoffset_t(i));
        state.ranks.push_back({r->rank(), r->pid(), r->step(), r->phase(), r->since_ms(),
                               r->exit_code(), r->signal(), r->is_stopped(), r->journal_problem(),
                               r->dropped_records(), r->is_waiting()});
    }
    return state;
}

Result<Message> read(const fb::Heartbeat& m) {
    return Heartbeat{m.sent_ns(), m.echo_ns()};
}

Result<Message> read(const fb::Refusal& m) {
    return Refusal{m.code(), textOf(m.message())};
}

} // namespace

Result<Message> decodeMessage(std::span<const std::byte> payload) {
    const AlignedPayload aligned(payload);
    const auto* root = aligned.root<fb::MessageRoot>();
    if (!root)
        return corrupt("not a FlatBuffers message");
    switch (root->body_type()) {
    case fb::MessageBody::NONE:
        return corrupt("no body");
    case fb::MessageBody::Hello:
        return read(*root->body_as_Hello());
    case fb::MessageBody::Attach:
        return read(*root->body_as_Attach());
    case fb::MessageBody::Slice:
        return read(*root->body_as_Slice());
    case fb::MessageBody::Command:
        return read(*root->body_as_Command());
    case fb::MessageBody::CommandState:
        return read(*root->body_as_CommandState());
    case fb::MessageBody::RunState:
        return read(*root->body_as_RunState());
    case fb::MessageBody::Heartbeat:
        return read(*root->body_as_Heartbeat());
    case fb::MessageBody::Refusal:
        return read(*root->body_as_Refusal());
    }
    return tooNew("type", int(root->body_type()));
}

bool isReplicatedFile(const std::string& file) {
    constexpr size_t kMaxName = 64;
    const auto named = [&](std::string_view folder, std::string_view suffix) {
        if (!file.starts_with(folder) || !file.ends_with(suffix) ||
            file.size() <= folder.size() + suffix.size())
            return false;
        const auto name = std::string_view(file).substr(folder.size(), file.size() - folder.size() -
                                                                           suffix.size());
        return name.size() <= kMaxName && std::ranges::all_of(name, [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
               });
    };
    return named("journal/", ".rmj") || named("log/", ".log");
}

} // namespace rm
