// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/spec_tab.h"

#include "app/core/fleet/fleet.h"
#include "app/core/runs/live_spec.h"
#include "app/core/runs/run_cost.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "shared/io/clock.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QVBoxLayout>

namespace rm {

SpecTab::SpecTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
    buildUi();
    connect(&m_puller, &Puller::pull, this, &SpecTab::pull);
}

void SpecTab::buildUi() {
    auto* card = new Card;
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("What this run was asked to do"), "cardTitle"));
    head->addStretch(1);
    QPushButton* copy = makeButton(tr("Copy"), "", "copySpec");
    head->addWidget(copy);
    card->body()->addLayout(head);
    m_settings = makeLabel({}, "secondary");
    m_settings->setObjectName("settingsNow");
    m_settings->setWordWrap(true);
    m_settings->hide();
    card->body()->addWidget(m_settings);
    m_runtime = makeLabel({}, "secondary");
    m_runtime->setObjectName("runtimeUsed");
    m_runtime->hide();
    card->body()->addWidget(m_runtime);
    m_used = makeLabel({}, "secondary");
    m_used->setObjectName("runUsed");
    m_used->setWordWrap(true);
    m_used->setToolTip(
        tr("By all its attempts, also for steps that were set aside. Energy is that of GPUs while "
           "they trained; the price is that of its nodes, which Edit of a node has."));
    m_used->hide();
    card->body()->addWidget(m_used);
    m_text = new QPlainTextEdit;
    m_text->setProperty("role", "bare");
    m_text->setObjectName("specText");
    m_text->setAccessibleName(tr("Run spec as TOML"));
    m_text->setReadOnly(true);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    card->body()->addWidget(m_text, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(card);
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(m_text->toPlainText()); });
}

void SpecTab::setRun(const QString& run) {
    m_run = run;
    m_text->clear();
    m_settings->hide();
    m_runtime->hide();
    m_used->hide();
    m_puller.restart();
}

void SpecTab::refresh(const LiveSettings& settings, const std::string& runtime) {
    m_runtime->setText(runtime == "cpu" ? tr("Run on CPUs")
                                        : tr("Run on GPUs by the runtime %1, see launch.runtime")
                                              .arg(QString::fromStdString(runtime)));
    m_runtime->setVisible(!runtime.empty());
    m_settings->setText(
        tr("Set otherwise since: %1").arg(QString::fromStdString(settingsWords(settings))));
    m_settings->setVisible(!settings.empty());
    if (m_text->document()->isEmpty() || (isVisible() && m_sinceRead.hasExpired(kReadEveryMs)))
        m_puller.request();
}

QString SpecTab::toml() const {
    return m_text->toPlainText();
}

void SpecTab::pull() {
    if (m_run.isEmpty())
        return;
    m_sinceRead.start();
    using Answer = std::pair<std::string, std::string>;
    m_puller.await(
        m_context.store.ask([id = m_run, nodes = m_context.fleet.nodes()](StoreReader& reader) {
            const auto run = reader.run(id);
            return Answer(reader.specToml(id),
                          run ? costWords(readCost(reader, *run, nodes, wallNowNs())) : "");
        }),
        this, [this](const Answer& answer) {
            const QString toml = QString::fromStdString(answer.first);
            if (m_text->toPlainText() != toml) // what a person has chosen there stays
                m_text->setPlainText(toml);
            m_used->setText(tr("Used: %1").arg(QString::fromStdString(answer.second)));
            m_used->setVisible(!answer.second.empty());
        });
}

void SpecTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_puller.request();
}

} // namespace rm
