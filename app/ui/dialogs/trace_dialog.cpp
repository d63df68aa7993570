// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/trace_dialog.h"

#include "app/core/answer.h"
#include "app/core/runs/trace_file.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/export_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/trace_view.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "app/ui/widgets/toast.h"
#include "shared/io/clock.h"
#include "shared/wire/command_kind.h"

#include <QAbstractTableModel>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kTraceWidth = 980, kTraceHeight = 620;
constexpr int kTraceCell = 72, kMostTraceCell = 320; ///< width of the table's columns
constexpr int kLegendSquare = 10;

/// Every slice of every rank as numbers.
class SlicesModel : public QAbstractTableModel {
public:
    SlicesModel(std::shared_ptr<const AlignedTrace> trace, QObject* parent)
        : QAbstractTableModel(parent)
        , m_trace(std::move(trace)) {
        for (const AlignedRank& rank : m_trace->ranks)
            for (const TraceSlice& slice : rank.slices)
                m_rows.emplace_back(&rank, &slice);
    }

    int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }
    int columnCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : kColumns;
    }

    QVariant data(const QModelIndex& index, int role) const override {
        if (role != Qt::DisplayRole)
            return {};
        const auto& [rank, slice] = m_rows[static_cast<size_t>(index.row())];
        switch (index.column()) {
        case 0:
            return rank->rank;
        case 1:
            return QString::fromStdString(rank->node);
        case 2:
            return formatCount(slice->step);
        case 3:
            return traceKindWords(slice->kind);
        case 4:
            return formatNanoseconds(slice->beginNs);
        case 5:
            return formatNanoseconds(slice->durationNs);
        default:
            return isCollective(slice->kind) ? formatBytes(static_cast<double>(slice->bytes))
                                             : kAbsent;
        }
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
            return {};
        const QString titles[kColumns] = {TraceDialog::tr("Rank"),      TraceDialog::tr("Node"),
                                          TraceDialog::tr("Step"),      TraceDialog::tr("What"),
                                          TraceDialog::tr("Begins at"), TraceDialog::tr("Takes"),
                                          TraceDialog::tr("Bytes")};
        return titles[section];
    }

private:
    static constexpr int kColumns = 7;
    std::shared_ptr<const AlignedTrace> m_trace;
    std::vector<std::pair<const AlignedRank*, const TraceSlice*>> m_rows;
};

/// The squares with the colours of the phases.
class TraceLegend : public QWidget {
public:
    explicit TraceLegend(QWidget* parent = nullptr)
        : QWidget(parent) {
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(size::kGrid);
        for (const TraceKind kind : kTracePhases) {
            auto* square = new QLabel;
            square->setFixedSize(kLegendSquare, kLegendSquare);
            square->setAutoFillBackground(true);
            m_squares.emplace_back(kind, square);
            row->addWidget(square);
            row->addWidget(makeLabel(traceKindWords(kind), "secondary"));
            row->addSpacing(size::kGrid);
        }
        row->addStretch(1);
        connect(&Theme::instance(), &Theme::changed, this, [this] { paintSquares(); });
        paintSquares();
    }

private:
    void paintSquares() {
        for (const auto& [kind, square] : m_squares) {
            QPixmap filled(kLegendSquare, kLegendSquare);
            filled.fill(traceColour(kind));
            square->setPixmap(filled);
        }
    }

    std::vector<std::pair<TraceKind, QLabel*>> m_squares;
};

} // namespace

TraceDialog::TraceDialog(const AppContext& context, const RunSummary& run, QWidget* parent)
    : QDialog(parent)
    , m_context(context)
    , m_run(run)
    , m_puller(kPullMs, this)
    , m_choice(new QComboBox)
    , m_steps(new QSpinBox)
    , m_record(makeButton(tr("Record"), "primary", "recordTrace"))
    , m_stack(new QStackedWidget)
    , m_view(new TraceView)
    , m_waits(makeText({}, "body"))
    , m_clocks(makeText({}, "secondary"))
    , m_pointed(makeLabel({}, "secondary"))
    , m_export(makeButton(tr("Export for Perfetto"), "", "exportTrace"))
    , m_table(makeButton(tr("Show as table"), "", "traceTable")) {
    setObjectName("traceDialog");
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Traces of %1").arg(run.name));
    resize(kTraceWidth, kTraceHeight);
    buildUi();
    wire();
    m_choice->hide();
    m_record->setEnabled(false);
    showTrace();
    m_puller.request();
}

void TraceDialog::buildUi() {
    m_choice->setObjectName("traceChoice");
    m_choice->setAccessibleName(tr("Trace"));
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_steps->setObjectName("traceSteps");
    m_steps->setAccessibleName(tr("Steps to record"));
    m_steps->setRange(1, static_cast<int>(kMostTraceSteps));
    m_steps->setValue(static_cast<int>(kUsualTraceSteps));
    m_steps->setSuffix(tr(" steps"));
    m_record->setToolTip(tr("Every rank records what it does in its next steps"));
    m_waits->setObjectName("traceWaits");
    m_clocks->setObjectName("traceClocks");
    m_pointed->setObjectName("tracePointed");
    auto* top = new QHBoxLayout;
    top->addWidget(m_choice);
    top->addStretch(1);
    top->addWidget(m_steps);
    top->addWidget(m_record);
    auto* scroll = new QScrollArea;
    scroll->setObjectName("traceScroll");
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* inner = new QWidget;
    auto* innerColumn = new QVBoxLayout(inner);
    innerColumn->setContentsMargins(0, 0, 0, 0);
    innerColumn->addWidget(m_view);
    innerColumn->addStretch(1);
    scroll->setWidget(inner);
    m_stack->addWidget(scroll);
    m_stack->addWidget(new EmptyState(
        tr("No trace yet"), tr("A trace shows what every rank does in some steps, on one clock. "
                               "Record one while the run trains.")));
    m_stack->setCurrentIndex(1);
    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_pointed, 1);
    bottom->addWidget(m_table);
    bottom->addWidget(m_export);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageY, size::kPageY, size::kPageY, size::kPageY);
    column->setSpacing(2 * size::kGrid);
    column->addLayout(top);
    column->addWidget(m_waits);
    column->addWidget(new TraceLegend);
    column->addWidget(m_stack, 1);
    column->addWidget(m_clocks);
    column->addLayout(bottom);
}

void TraceDialog::wire() {
    connect(&m_puller, &Puller::pull, this, &TraceDialog::pull);
    connect(&m_context.engine, &Engine::runsChanged, &m_puller, &Puller::request);
    connect(&m_context.engine, &Engine::samplesAppended, this, [this](const QString& run) {
        if (run == m_run.id)
            m_puller.request();
    });
    connect(m_choice, &QComboBox::activated, this, [this](int row) {
        m_wanted = m_traces[static_cast<size_t>(row)].id;
        m_puller.restart();
    });
    connect(m_record, &QPushButton::clicked, this, &TraceDialog::record);
    connect(m_export, &QPushButton::clicked, this, &TraceDialog::askFile);
    connect(m_table, &QPushButton::clicked, this, &TraceDialog::showTable);
    connect(m_view, &TraceView::described, m_pointed, &QLabel::setText);
}

void TraceDialog::pull() {
    const std::optional<TraceId> shownId = m_trace ? std::optional(m_trace->id) : std::nullopt;
    const auto read = [run = m_run.id, wanted = m_wanted, before = m_traces,
                       shownId](StoreReader& reader) {
        Shown shown{reader.traces(run), nullptr, reader.run(run)};
        const auto found = wanted ? std::ranges::find(shown.traces, *wanted, &StoredTrace::id)
                                  : shown.traces.begin();
        const bool isThere = found != shown.traces.end();
        shown.isNews = shown.traces != before || (isThere && found->id != shownId);
        if (isThere && shown.isNews)
            shown.trace = std::make_shared<const AlignedTrace>(
                alignTrace(found->id, reader.trace(run, found->id)));
        return shown;
    };
    m_puller.await(m_context.store.ask(read), this, [this](const Shown& shown) { apply(shown); });
}

void TraceDialog::apply(const Shown& shown) {
    if (shown.run)
        m_run = *shown.run;
    offerRecording();
    if (!shown.isNews)
        return; // the engine tells of every run, many times a second
    m_traces = shown.traces;
    m_trace = shown.trace;
    m_choice->clear();
    for (const StoredTrace& trace : m_traces)
        m_choice->addItem(titleOf(trace));
    m_choice->setVisible(!m_traces.empty());
    if (m_trace)
        m_choice->setCurrentIndex(static_cast<int>(
            std::ranges::find(m_traces, m_trace->id, &StoredTrace::id) - m_traces.begin()));
    showTrace();
}

void TraceDialog::showTrace() {
    const bool isThere = m_trace && !m_trace->isEmpty();
    m_stack->setCurrentIndex(isThere ? 0 : 1);
    m_export->setEnabled(isThere);
    m_table->setEnabled(isThere);
    m_waits->setVisible(isThere);
    m_clocks->setVisible(isThere);
    if (!isThere)
        return;
    const auto waited = waitedFor(waitsOf(*m_trace));
    m_waits->setText(waited ? capitalized(waitedForWords(*waited))
                            : tr("One rank, which waits for no other"));
    m_clocks->setText(capitalized(clockWords(*m_trace)));
    m_view->show(m_trace);
}

QString TraceDialog::titleOf(const StoredTrace& trace) const {
    const int64_t recorded = std::max<int64_t>(0, trace.lastStep - trace.id.firstStep + 1);
    const QString when = formatRelative(trace.wallNs, wallNowNs());
    return recorded < trace.steps
               ? tr("from step %1 on, %2 of %3 steps, %4")
                     .arg(formatCount(trace.id.firstStep), formatCount(recorded),
                          formatCount(trace.steps), when)
               : tr("steps %1 to %2, %3")
                     .arg(formatCount(trace.id.firstStep), formatCount(trace.lastStep), when);
}

void TraceDialog::offerRecording() {
    m_record->setEnabled(m_run.state == RunStateKind::kRunning && !m_isRecording);
    m_steps->setEnabled(m_record->isEnabled());
}

void TraceDialog::record() {
    const CommandRequest request{
        m_run.id, CommandKind::kTrace, {{"steps", std::to_string(m_steps->value())}}};
    m_isRecording = true;
    offerRecording();
    whenAnswered(m_context.engine.ask(request), this, [this](const Result<CommandState>& answer) {
        m_isRecording = false;
        offerRecording();
        if (!answer)
            return m_context.toast.say(QString::fromStdString(answer.error().message));
        if (answer->progress == CommandProgress::kRefused)
            return m_context.toast.say(
                tr("The trace was refused: %1").arg(QString::fromStdString(answer->message)));
        m_wanted.reset();
        m_puller.request();
    });
}

void TraceDialog::askFile() {
    const QString name =
        QStringLiteral("%1-trace-%2.json").arg(m_run.id).arg(m_trace->id.firstStep);
    askExport(m_context, this,
              {tr("Export the trace"), "traceExportDialog", name,
               [run = m_run, trace = m_trace](StoreReader&, const QString& path) {
                   return writeTrace(run, *trace, path);
               },
               [](int64_t events) { return counted(events, tr("1 event"), tr("%1 events")); }});
}

void TraceDialog::showTable() {
    auto* dialog = new QDialog(this);
    dialog->setObjectName("traceTableDialog");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(windowTitle());
    dialog->resize(size::kTableDialogWidth, size::kReadingWidth);
    auto* table = new Table("traceTableTwin", windowTitle(), dialog);
    table->setModel(new SlicesModel(m_trace, table));
    auto* column = new QVBoxLayout(dialog);
    column->addWidget(makeText(tr("Times count from the begin of the trace, by the clock of rank "
                                  "%1.")
                                   .arg(m_trace->ranks.front().rank),
                               "bodySecondary"));
    column->addWidget(table);
    table->showWhole(kTraceCell, kMostTraceCell);
    dialog->show();
}

} // namespace rm
