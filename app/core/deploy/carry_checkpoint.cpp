// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/deploy.h"
#include "app/core/findings/text.h"
#include "shared/io/frame.h"
#include "shared/return_if_error.h"

#include <zstd.h>

namespace rm {

namespace {

using std::chrono::milliseconds;

/// The first bytes of a file, or the end of one that is synced, on a slow disk.
constexpr auto kSilence = std::chrono::seconds(180);
/// Every byte of a large checkpoint is read before it gets its name.
constexpr auto kVerifyPatience = std::chrono::hours(2);
constexpr auto kLook = milliseconds(200);
constexpr auto kEndTimeout = std::chrono::seconds(10);

/// Counts what passes, without unpacking it.
class Meter {
public:
    Meter(int64_t total, const TransferProgress& sink)
        : m_sink(sink) {
        m_so.total = total;
    }

    Result<void> count(std::span<const std::byte> bytes) {
        m_frames.feed(bytes);
        while (true) {
            RM_ASSIGN_OR_RETURN(const auto payload, m_frames.next());
            if (!payload)
                return {};
            const auto zstd = payload->subspan(std::min<size_t>(1, payload->size()));
            const auto size = ZSTD_getFrameContentSize(zstd.data(), zstd.size());
            if (size > kMaxChunk) // what is no chunk, or says nothing of its size
                continue;
            m_so.done += static_cast<int64_t>(size);
            m_so.sent += static_cast<int64_t>(payload->size());
            m_sink(m_so);
        }
    }

private:
    const TransferProgress& m_sink;
    Transferred m_so;
    FrameScanner m_frames;
};

/// One transfer from `send-checkpoint` of a node to `receive-checkpoint` of another.
class Carrier {
public:
    Carrier(const NodeSession& from, const NodeSession& to, std::stop_token stop)
        : m_from(from)
        , m_to(to)
        , m_attempt(say("deploy.copy-checkpoint",
                        {{"from", from.session->where()}, {"to", to.session->where()}}))
        , m_stop(std::move(stop))
        , m_wakeOnStop(m_stop, [this] { m_waker.wake(); }) {}

    Result<std::string> carry(const std::string& path, const CheckpointPlace& place, Meter& meter) {
        RM_RETURN_IF_ERROR(open(path, place));
        while (true) {
            RM_RETURN_IF_ERROR(checkStop());
            auto bytes = m_source->read(kSilence, &m_waker);
            if (!bytes)
                return failAs(m_attempt, bytes.error());
            if (bytes->ended)
                break;
            if (bytes->data.empty())
                return failed(ErrorCode::kUnavailable,
                              say("deploy.source-silent", {{"node", m_from.session->where()}}));
            if (const auto counted = meter.count(bytes->data); !counted)
                return failAs(m_attempt, counted.error());
            const auto written = m_sink->write(bytes->data);
            RM_ASSIGN_OR_RETURN(const auto early, answer(written ? milliseconds(0) : kLook));
            if (early)
                return *early;
            if (!written)
                return failAs(m_attempt, written.error());
        }
        RM_RETURN_IF_ERROR(checkEnd(*m_source, m_attempt, kEndTimeout));
        RM_RETURN_IF_ERROR(m_sink->closeWrite());
        return lastAnswer();
    }

private:
    Result<void> open(const std::string& path, const CheckpointPlace& place) {
        RM_ASSIGN_OR_RETURN(m_sink,
                            m_to.session->start(m_to.agent, {"receive-checkpoint"}, m_stop));
        RM_RETURN_IF_ERROR(m_sink->write(frameTransfer(place)));
        RM_ASSIGN_OR_RETURN(m_source,
                            m_from.session->start(m_from.agent, {"send-checkpoint"}, m_stop));
        RM_RETURN_IF_ERROR(m_source->write(std::as_bytes(std::span(path))));
        return m_source->closeWrite();
    }

    tl::unexpected<Error> failed(ErrorCode code, const std::string& why) const {
        return failAs(m_attempt, {code, why});
    }

    Result<void> checkStop() const {
        if (m_stop.stop_requested())
            return failCancelled(m_attempt);
        return {};
    }

    /// Where it lies; nullopt: the receiver has said nothing yet.
    Result<std::optional<std::string>> answer(milliseconds timeout) {
        const auto bytes = m_sink->read(timeout, &m_waker);
        if (!bytes)
            return failAs(m_attempt, bytes.error());
        m_answers.feed(bytes->data);
        const auto payload = m_answers.next();
        if (!payload)
            return failAs(m_attempt, payload.error());
        if (!*payload && bytes->ended) {
            RM_RETURN_IF_ERROR(checkEnd(*m_sink, m_attempt, kEndTimeout));
            return failed(ErrorCode::kUnavailable, say("deploy.receiver-ended"));
        }
        if (!*payload)
            return std::nullopt;
        const auto transfer = decodeTransfer(**payload);
        if (!transfer)
            return failAs(m_attempt, transfer.error());
        if (const auto* refusal = std::get_if<Failed>(&*transfer))
            return failed(static_cast<ErrorCode>(refusal->code), refusal->message);
        if (const auto* ready = std::get_if<TreeReady>(&*transfer))
            return ready->path;
        return failed(ErrorCode::kCorrupt, say("deploy.odd-answer"));
    }

    Result<std::string> lastAnswer() {
        const auto until = std::chrono::steady_clock::now() + kVerifyPatience;
        while (std::chrono::steady_clock::now() < until) {
            RM_RETURN_IF_ERROR(checkStop());
            RM_ASSIGN_OR_RETURN(const auto path, answer(kLook));
            if (path)
                return *path;
        }
        return failed(ErrorCode::kUnavailable, say("deploy.no-answer"));
    }

    const NodeSession& m_from;
    const NodeSession& m_to;
    std::string m_attempt;
    std::stop_token m_stop;
    Waker m_waker;
    std::stop_callback<std::function<void()>> m_wakeOnStop;
    std::unique_ptr<HostProcess> m_source, m_sink;
    FrameScanner m_answers;
};

} // namespace

Result<std::string> carryCheckpoint(const NodeSession& from, const std::string& path,
                                    const NodeSession& to, const CheckpointPlace& place,
                                    int64_t bytes, const TransferProgress& progress,
                                    std::stop_token stop) {
    Meter meter(bytes, progress);
    return Carrier(from, to, std::move(stop)).carry(path, place, meter);
}

} // namespace rm
