// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/transfer_chain.h"
#include "app/core/deploy/tree_sender.h"
#include "app/core/findings/text.h"
#include "app/core/settings/paths.h"
#include "shared/return_if_error.h"

namespace rm {

namespace {

/// This computer needs no copy: the program already runs from its bundle.
bool isThereAlready(const HostSession& session, const LocalTree& tree) {
    return session.isLocal() && tree.isInPlace;
}

int64_t bytesOf(const HashedTree& tree) {
    int64_t bytes = 0;
    for (const Blob& blob : tree.blobs)
        bytes += blob.size;
    return bytes;
}

/// Brings one node what it lacks of a tree, over one conversation.
class Delivery {
public:
    Delivery(TreeSender& sender, const HashedTree& tree, std::string damage,
             const TransferProgress& progress, std::stop_token stop)
        : m_sender(sender)
        , m_tree(tree)
        , m_bytes(bytesOf(tree))
        , m_progress(progress)
        , m_stop(std::move(stop)) {
        m_transferred.repairs = std::move(damage);
    }

    Result<void> run(ChainPlace* place) {
        RM_RETURN_IF_ERROR(ask());
        m_transferred.total = m_lack.bytes;
        if (place && !m_lack.blobs.empty())
            RM_RETURN_IF_ERROR(fetchIn(*place));
        m_transferred.from = {};
        return m_sender.send(m_lack, m_tree, [&](int64_t bytes, int64_t packed) {
            report(m_transferred.done + bytes, m_transferred.sent + packed, place);
        });
    }

private:
    Result<void> ask() {
        const int64_t before = m_transferred.reused;
        RM_ASSIGN_OR_RETURN(m_lack, m_sender.offer(m_tree, false, [&](int64_t bytes) {
            m_transferred.reused = before + bytes;
            if (m_progress)
                m_progress(m_transferred);
        }));
        m_transferred.reused = before + m_lack.reused;
        return {};
    }

    void report(int64_t done, int64_t sent, ChainPlace* place) {
        m_transferred.done = done;
        m_transferred.sent = sent;
        if (place)
            place->chain().progress(place->node(), m_bytes - m_transferred.total + done);
        if (m_progress)
            m_progress(m_transferred);
    }

    /// From the other nodes of the chain, as long as one of them can give more.
    Result<void> fetchIn(ChainPlace& place) {
        TransferChain& chain = place.chain();
        RM_ASSIGN_OR_RETURN(const int port, m_sender.serve(chain.order()));
        chain.join(place.node(), port, m_bytes - m_lack.bytes, false);
        while (!m_lack.blobs.empty()) {
            const auto source = chain.sourceFor(place.node(), m_stop);
            if (!source)
                return {};
            RM_RETURN_IF_ERROR(fetchFrom(*source, place));
        }
        return {};
    }

    Result<void> fetchFrom(const TransferChain::Source& source, ChainPlace& place) {
        const Transferred before = m_transferred;
        m_transferred.from = source.name;
        const auto continues = [&](int64_t bytes, int64_t packed) {
            report(before.done + bytes, before.sent + packed, &place);
            return !place.chain().isSourceSlow(place.node());
        };
        RM_ASSIGN_OR_RETURN(const std::string why, m_sender.fetch(source.fetch, continues));
        const int64_t gained = m_transferred.done - before.done;
        if (!why.empty())
            place.chain().leaveSource(place.node(), gained);
        RM_RETURN_IF_ERROR(ask());
        report(m_transferred.total - m_lack.bytes, m_transferred.sent, &place);
        return {};
    }

    TreeSender& m_sender;
    const HashedTree& m_tree;
    const int64_t m_bytes;
    const TransferProgress& m_progress;
    std::stop_token m_stop;
    TreeSender::Lack m_lack;
    Transferred m_transferred;
};

/// As long as others of the chain may need what this node has. That it cannot serve is no reason to
/// fail: it has the tree itself.
void serveOthers(TreeSender& sender, ChainPlace& place, int64_t bytes,
                 const std::stop_token& stop) {
    TransferChain& chain = place.chain();
    while (chain.isToServe(place.node(), stop)) {
        const auto port = sender.serve(chain.order());
        if (!port)
            break;
        chain.join(place.node(), *port, bytes, true);
    }
    chain.leave(place.node());
}

Result<std::string> deliver(TreeSender& sender, const HashedTree& hashed,
                            const TransferProgress& progress, const std::stop_token& stop,
                            ChainPlace* place) {
    RM_ASSIGN_OR_RETURN(const auto placed, sender.publish(hashed.tree));
    if (!placed.path.empty()) {
        if (place)
            place->chain().join(place->node(), 0, bytesOf(hashed), true);
        return placed.path;
    }
    RM_RETURN_IF_ERROR(Delivery(sender, hashed, placed.damage, progress, stop).run(place));
    RM_ASSIGN_OR_RETURN(const auto published, sender.publish(hashed.tree));
    if (!published.path.empty())
        return published.path;
    const std::string why = published.damage.empty() ? say("deploy.lost-file") : published.damage;
    return failAs(say("deploy.send-files"), {ErrorCode::kCorrupt, why});
}

} // namespace

Result<std::string> deployTree(HostSession& session, const std::string& agent,
                               const LocalTree& tree, const TransferProgress& progress,
                               std::stop_token stop, ChainPlace* place) {
    if (isThereAlready(session, tree))
        return installPrefix().toStdString();
    RM_ASSIGN_OR_RETURN(const auto hashed, hashTree(tree, stop));
    RM_ASSIGN_OR_RETURN(auto sender, TreeSender::open(session, agent, stop));
    auto path = deliver(*sender, hashed, progress, stop, place);
    if (!path)
        return path;
    if (place) {
        place->finish();
        serveOthers(*sender, *place, bytesOf(hashed), stop);
    }
    return path;
}

Result<int64_t> missingBytes(HostSession& session, const std::string& agent, const LocalTree& tree,
                             std::stop_token stop) {
    if (isThereAlready(session, tree))
        return 0;
    RM_ASSIGN_OR_RETURN(const auto hashed, hashTree(tree, stop));
    RM_ASSIGN_OR_RETURN(auto sender, TreeSender::open(session, agent, stop));
    return sender->offer(hashed, true).map([](const TreeSender::Lack& lack) { return lack.bytes; });
}

} // namespace rm
