// SPDX-License-Identifier: Apache-2.0
#include "shared/board/board.h"
#include "shared/board/page.h"
#include "shared/io/bytes.h"
#include "shared/io/frame.h"
#include "shared/journal/header.h"
#include "shared/journal/records_generated.h"
#include "shared/spec/toml_fields.h"
#include "shared/wire/wire_generated.h"
#include "tests/unit/shared/examples.h"

#include <algorithm>

namespace rm::example {

namespace {

template <class Root, class Body>
std::vector<std::byte> unknownBody() {
    flatbuffers::FlatBufferBuilder builder;
    const auto body = fb::CreateHeartbeat(builder, 1, 2).Union();
    typename Root::Builder root(builder);
    root.add_body_type(Body(200));
    root.add_body(body);
    builder.Finish(root.Finish());
    const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    return {bytes.begin(), bytes.end()};
}

std::string allowed(const SpecField& field, const SpecFieldRef& ref) {
    if (!field.choices.empty()) {
        std::string choices;
        for (const std::string_view choice : field.choices)
            choices += (choices.empty() ? "`\"" : ", `\"") + std::string(choice) + "\"`";
        return choices;
    }
    if (std::holds_alternative<int64_t*>(ref))
        return "whole, " + plainNumber(field.min) + " to " + plainNumber(field.max);
    if (std::holds_alternative<double*>(ref))
        return plainNumber(field.min) + " to " + plainNumber(field.max);
    if (std::holds_alternative<bool*>(ref))
        return "`true`, `false`";
    if (std::holds_alternative<std::vector<int64_t>*>(ref))
        return "list of whole, " + plainNumber(field.min) + " to " + plainNumber(field.max);
    return std::holds_alternative<std::string*>(ref) ? "text" : "list of texts";
}

std::string defaultText(std::string_view key) {
    const std::string toml = toToml(RunSpec{});
    const size_t dot = key.find('.');
    const std::string section =
        dot == key.npos ? "" : "[" + std::string(key.substr(0, dot)) + "]\n";
    const std::string line = "\n" + std::string(key.substr(dot == key.npos ? 0 : dot + 1)) + " = ";
    const size_t at = ("\n" + toml).find(line, section.empty() ? 0 : toml.find(section));
    const size_t begin = at + line.size() - 1;
    return toml.substr(begin, toml.find('\n', begin) - begin);
}

} // namespace

std::vector<std::byte> journalFile() {
    std::vector<std::byte> file = journalHeader();
    for (const Record& record : records())
        appendFrame(file, encodeRecord(record));
    return file;
}

std::vector<std::byte> wireStream() {
    std::vector<std::byte> stream;
    for (const Message& message : messages())
        appendFrame(stream, encodeMessage(message));
    return stream;
}

std::vector<std::byte> transferStream() {
    std::vector<std::byte> stream;
    for (const Transfer& transfer : transfers())
        appendFrame(stream, encodeTransfer(transfer));
    return stream;
}

std::vector<std::byte> boardPage() {
    BoardPage page;
    page.rank = 3;
    page.attempt = 2;
    page.pid = 4242;
    page.step = 501;
    page.phase = uint64_t(17) << 8 | uint64_t(Phase::kBackward);
    const auto bytes = encodeMessage(command());
    std::ranges::copy(bytes, page.command);
    page.commandSize = uint32_t(bytes.size());
    page.slot = kSlotFull;
    const auto image = std::as_bytes(std::span(&page, 1));
    return {image.begin(), image.end()};
}

std::vector<std::byte> safetensorsFile() {
    const std::string header =
        R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
        R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},)"
        R"("c":{"dtype":"I64","shape":[0,4],"data_offsets":[11,11]}})";
    std::vector<std::byte> file;
    appendInt(file, uint64_t(header.size()));
    file.insert(file.end(), bytesOf(header).begin(), bytesOf(header).end());
    appendInt(file, 1.5f);
    appendInt(file, -2.5f);
    for (const uint8_t byte : {1, 2, 3})
        appendInt(file, byte);
    return file;
}

std::vector<std::byte> futureRecord() {
    return unknownBody<fb::RecordRoot, fb::RecordBody>();
}

std::vector<std::byte> futureMessage() {
    return unknownBody<fb::MessageRoot, fb::MessageBody>();
}

std::string specTable() {
    RunSpec defaults;
    std::string table = "| Key | Allowed | Unit | Default | Meaning |\n|---|---|---|---|---|\n";
    for (const SpecField& field : specSchema())
        table += "| `" + std::string(field.key) + "` | " + allowed(field, field.ref(defaults)) +
                 " | " + std::string(field.unit) + " | `" + defaultText(field.key) + "` | " +
                 std::string(field.description) + " |\n";
    return table;
}

} // namespace rm::example
