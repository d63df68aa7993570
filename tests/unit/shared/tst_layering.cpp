// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/shared/shared_test.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QLibraryInfo>
#include <QRegularExpression>

#include <algorithm>
#include <functional>

namespace {

// What an include names, as one word.
bool isQt(const QString& include) {
    return QRegularExpression("^(Q[A-Z]|Qt|qt)").match(include).hasMatch() ||
           include == "qcustomplot.h";
}

bool isTorch(const QString& include) {
    return QRegularExpression("^(torch|ATen|c10|c10d|caffe2)/").match(include).hasMatch();
}

bool isWidgets(const QString& include) {
    static const QString folder =
        QLibraryInfo::path(QLibraryInfo::HeadersPath) + QStringLiteral("/QtWidgets/");
    return include.startsWith("QtWidgets") || QFile::exists(folder + include);
}

bool isLibraryOfOthers(const QString& include) {
    return QRegularExpression("^(asio|libssh|SQLiteCpp|sqlite3|zstd|archive|spdlog|gloo|cuda|nccl|"
                              "sentencepiece|turbojpeg|oniguruma|utf8proc|CLI/)")
        .match(include)
        .hasMatch();
}

struct Rule {
    const char* folder;
    std::function<bool(const QString&)> forbids;
    const char* why;
};

auto below(const char* prefix) {
    return [prefix](const QString& include) { return include.startsWith(prefix); };
}

bool isTrainerBeyondDevice(const QString& include) {
    return QRegularExpression("^trainer/train/(?!device/|model/)").match(include).hasMatch();
}

const std::vector<Rule>& rules() {
    static const std::vector<Rule> all = {
        {"shared/", isQt, "shared has no Qt"},
        {"shared/", isTorch, "shared has no torch"},
        {"shared/", isLibraryOfOthers, "shared has std and header-only libraries"},
        {"shared/", below("app/"), "shared knows no app"},
        {"shared/", below("trainer/"), "shared knows no trainer"},
        {"trainer/", isQt, "the trainer has no Qt"},
        {"trainer/", below("app/"), "app and trainer meet in shared"},
        {"trainer/agent/", isTorch, "the agent has no torch"},
        {"trainer/agent/", below("trainer/train/"), "the agent knows no trainer"},
        {"trainer/agent/", below("trainer/cuda/"), "the agent knows no plugin"},
        {"trainer/train/", below("trainer/agent/"), "the trainer knows no agent"},
        {"trainer/train/", below("trainer/cuda/"), "the plugin is loaded, not included"},
        {"trainer/cuda/", below("trainer/agent/"), "the plugin knows no agent"},
        {"trainer/cuda/", isTrainerBeyondDevice, "the plugin knows device and model alone"},
        {"app/", below("trainer/"), "app and trainer meet in shared"},
        {"app/", isTorch, "the app has no torch"},
        {"app/core/", isWidgets, "app/core has no Widgets"},
        {"app/core/", below("app/ui/"), "app/core knows no window"},
        {"app/core/", below("app/cli/"), "app/core knows no terminal"},
        {"app/cli/", below("app/ui/"), "the terminal knows no window"},
        {"app/cli/", isWidgets, "the terminal has no Widgets"},
        {"app/core/remote/", below("app/core/store/"), "remote and store do not know each other"},
        {"app/core/store/", below("app/core/remote/"), "remote and store do not know each other"},
    };
    return all;
}

/// Folders below one, each of which may include those before it and none behind it; "." is what
/// lies in the parent itself.
struct Order {
    const char* parent;
    QStringList folders;
};

const std::vector<Order>& orders() {
    static const std::vector<Order> all = {
        {"shared/", {".", "io", "metrics", "spec", "journal", "wire", "checkpoint", "board"}},
        {"shared/spec/", {".", "families"}},
        {"app/core/",
         {".",     "settings", "manual",  "findings", "node",        "network", "remote",
          "agent", "deploy",   "fleet",   "launch",   "machines",    "store",   "ingest",
          "runs",  "queue",    "compare", "follow",   "checkpoints", "engine"}},
        {"app/cli/", {".", "watch"}},
        {"app/ui/",
         {"look", "widgets", "data", "plot", "models", "dialogs", "nodes", "machines", "runs",
          "run", "new_run", "compare", "."}},
        {"trainer/agent/",
         {"posix", "net", "run_dir", "peers", "probe", "machine", "receive", "slurm", "supervisor",
          "prune", "attach", "."}},
        {"trainer/train/",
         {"device", "telemetry", "text_metrics", "model", "dist", "session", "control", "optim",
          "checkpoint", "formats", "data", "prepare", "workloads", "interchange", "measure",
          "memory", "loop", "self_test", "."}},
        {"trainer/train/data/", {".", "text"}},
        {"trainer/train/model/", {"cpu", "."}},
        {"trainer/train/workloads/llama/", {"cpu", "."}},
        {"trainer/train/workloads/translation/", {"pairs", "."}},
    };
    return all;
}

/// The folder of `order` in which a file is; empty: it is in none.
QString folderIn(const Order& order, const QString& file) {
    if (!file.startsWith(order.parent))
        return {};
    const QString below = file.mid(static_cast<int>(qstrlen(order.parent)));
    return below.contains('/') ? below.section('/', 0, 0) : ".";
}

/// Empty, or the rule that `file` breaks by including `include`.
QString orderFault(const QString& file, const QString& include) {
    for (const Order& order : orders()) {
        const QString from = folderIn(order, file), to = folderIn(order, include);
        if (from.isEmpty() || to.isEmpty() || from == to)
            continue;
        for (const QString& folder : {from, to})
            if (!order.folders.contains(folder))
                return QString("%1%2 has no place in the order of folders")
                    .arg(order.parent, folder);
        if (order.folders.indexOf(to) > order.folders.indexOf(from))
            return QString("in %1 a folder includes those before it: %2")
                .arg(order.parent, order.folders.join(", "));
    }
    return {};
}

/// The workload in whose folder a file is; empty: in none.
QString workloadOf(const QString& file) {
    static const QRegularExpression pattern("^trainer/train/workloads/([^/]+)/");
    return pattern.match(file).captured(1);
}

QStringList violations(const QString& file, const QString& text) {
    static const QRegularExpression pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]",
                                            QRegularExpression::MultilineOption);
    QStringList found;
    for (auto it = pattern.globalMatch(text); it.hasNext();) {
        const QString include = it.next().captured(1);
        for (const Rule& rule : rules())
            if (file.startsWith(rule.folder) && rule.forbids(include))
                found << file + " includes " + include + ": " + rule.why;
        if (const QString fault = orderFault(file, include); !fault.isEmpty())
            found << file + " includes " + include + ": " + fault;
        if (const QString workload = workloadOf(include); file.startsWith("trainer/train/") &&
                                                          !workload.isEmpty() &&
                                                          workload != workloadOf(file))
            found << file + " includes " + include +
                         ": a workload is reached by workloads/registry.h";
        if (include.startsWith("ncurses") && file != "app/cli/watch/screen.cpp")
            found << file + " includes " + include + ": ncurses stays in app/cli/watch/screen.cpp";
        if (include == "qcustomplot.h" && !file.startsWith("app/ui/plot/"))
            found << file + " includes " + include + ": QCustomPlot stays in app/ui/plot";
    }
    return found;
}

/// What asks for a family of models by its type, where it is not that family's own: everybody else
/// asks modelFamilies() and workloads().
bool decidesByType(const QString& file, const QString& text) {
    static const QRegularExpression pattern(
        R"(model\.type\s*(==|!=|\.starts_with|\.find|\.compare))");
    const bool product = file.startsWith("app/") || file.startsWith("trainer/") ||
                         (file.startsWith("shared/") && !file.startsWith("shared/spec/families/"));
    return product && workloadOf(file).isEmpty() && pattern.match(text).hasMatch();
}

bool isSource(const QString& name) {
    static const QStringList suffixes = {"h",     "cpp", "cu", "in", "cmake", "fbs",
                                         "proto", "sql", "py", "sh", "toml",  "md"};
    return name == "CMakeLists.txt" || suffixes.contains(QFileInfo(name).suffix());
}

// Data files have no comments, and other tools own the form of these.
bool needsLicence(const QString& file, const QString& text) {
    if (file.startsWith("tests/data/") || file.startsWith("tests/fuzz/corpus/") ||
        file.endsWith(".md") || file.endsWith(".toml") || text.trimmed().isEmpty())
        return false;
    return isSource(QFileInfo(file).fileName()) || text.startsWith("#!");
}

QString licenceFault(const QString& file, const QString& text) {
    static const QRegularExpression pattern("SPDX-License-Identifier: (\\S+)");
    const auto match = pattern.match(text.section('\n', 0, 3));
    if (!match.hasMatch())
        return file + " has no SPDX line at its top";
    const bool app = file.startsWith("app/");
    const bool other = file.startsWith("shared/") || file.startsWith("trainer/");
    const QString expected = app ? "GPL-3.0-or-later" : other ? "Apache-2.0" : match.captured(1);
    return match.captured(1) == expected ? QString() : file + " must be " + expected;
}

/// RINGMASTER_REQUIRE has no power over a bare skip.
bool skipsSilently(const QString& file, const QString& text) {
    static const QRegularExpression pattern("\\b[Q]SKIP\\b");
    return file.startsWith("tests/") && file != "tests/support/requirement.h" &&
           pattern.match(text).hasMatch();
}

} // namespace

class TestLayering : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        m_root = QDir(qEnvironmentVariable("RINGMASTER_SOURCE"));
        for (const char* tree :
             {"app", "shared", "trainer", "tests", "resources", "packaging", ".ci"})
            collect(tree);
        collectFile("CMakeLists.txt");
        QVERIFY(m_files.size() > 50);
    }

    void noIncludePointsBack() {
        QStringList found;
        for (const auto& [file, text] : m_files)
            found += violations(file, text);
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    }

    void noOneElseDecidesByTheTypeOfAModel() {
        QStringList found;
        for (const auto& [file, text] : m_files)
            if (decidesByType(file, text))
                found << file + " compares model.type; ask its ModelFamily or Workload";
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
        const QString question = "if (spec.model.type == \"gpt\")";
        QVERIFY(decidesByType("trainer/train/session/session.cpp", question));
        QVERIFY(!decidesByType("trainer/train/workloads/gpt/gpt.cpp", question));
    }

    void everyFileNamesItsLicence() {
        QStringList found;
        for (const auto& [file, text] : m_files)
            if (needsLicence(file, text))
                if (const QString fault = licenceFault(file, text); !fault.isEmpty())
                    found << fault;
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    }

    void everySkipCanBeForbidden() {
        QStringList found;
        for (const auto& [file, text] : m_files)
            if (skipsSilently(file, text))
                found << file + " skips without RM_NEEDS of tests/support/requirement.h";
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    }

    void silentSkipsAreSeen() {
        const QString skip = QString("        Q%1(\"not today\");\n").arg("SKIP");
        QVERIFY(skipsSilently("tests/unit/x.cpp", skip));
        QVERIFY(!skipsSilently("tests/support/requirement.h", skip));
        QVERIFY(!skipsSilently("tests/unit/x.cpp", "RM_NEEDS(\"root\", can, why);\n"));
    }

    void forbiddenIncludesAreSeen_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("include");
        const auto row = [](const char* file, const char* include) {
            QTest::newRow(include) << file << include;
        };
        row("shared/io/x.cpp", "#include <QString>");
        row("shared/io/x.cpp", "#include <torch/torch.h>");
        row("shared/io/x.cpp", "  #  include \"app/core/x.h\"");
        row("shared/io/x.cpp", "#include <zstd.h>");
        row("trainer/train/x.cpp", "#include <QtCore/QString>");
        row("trainer/train/x.cpp", "#include \"app/core/node/node.h\"");
        row("trainer/agent/x.cpp", "#include <ATen/ATen.h>");
        row("trainer/agent/x.cpp", "#include \"trainer/train/x.h\"");
        row("trainer/cuda/x.cpp", "#include \"trainer/train/loop/step.h\"");
        row("trainer/train/x.cpp", "#include \"trainer/train/workloads/gpt/gpt.h\"");
        row("trainer/train/workloads/gpt/x.cpp",
            "#include \"trainer/train/workloads/resnet/resnet.h\"");
        row("app/core/x.cpp", "#include <QWidget>");
        row("app/core/x.cpp", "#include <QtWidgets/QLabel>");
        row("app/core/x.cpp", "#include \"app/ui/x.h\"");
        row("app/ui/x.cpp", "#include \"trainer/agent/x.h\"");
        row("app/core/remote/x.cpp", "#include \"app/core/store/store.h\"");
        row("app/core/store/x.cpp", "#include \"app/core/remote/host.h\"");
        row("app/ui/run/x.cpp", "#include <qcustomplot.h>");
        row("app/core/remote/x.cpp", "#include \"app/core/fleet/fleet.h\"");
        row("app/ui/widgets/x.cpp", "#include \"app/ui/run/run_page.h\"");
        row("app/core/unheard_of/x.cpp", "#include \"app/core/node/node.h\"");
        row("trainer/agent/probe/x.cpp", "#include \"trainer/agent/supervisor/stop.h\"");
        row("trainer/train/loop/x.cpp", "#include \"trainer/train/subcommands.h\"");
        row("trainer/train/dist/x.cpp", "#include \"trainer/train/optim/optimizer.h\"");
        row("trainer/train/data/x.cpp", "#include \"trainer/train/data/text/corpus.h\"");
        row("trainer/train/model/cpu/x.cpp", "#include \"trainer/train/model/model.h\"");
        row("shared/spec/x.h", "#include \"shared/spec/families/x.h\"");
    }
    void forbiddenIncludesAreSeen() {
        QFETCH(QString, file);
        QFETCH(QString, include);
        QCOMPARE(violations(file, "// SPDX\n" + include + "\n").isEmpty(), false);
    }

    void usualIncludesAreFine() {
        QVERIFY(violations("app/ui/plot/x.cpp", "#include <qcustomplot.h>\n").isEmpty());
        QVERIFY(violations("app/core/x.cpp", "#include <QString>\n").isEmpty());
        QVERIFY(violations("trainer/cuda/x.cpp", "#include \"trainer/train/model/x.h\"").isEmpty());
        QVERIFY(violations("trainer/train/workloads/gpt/x.cpp",
                           "#include \"trainer/train/workloads/gpt/gpt.h\"")
                    .isEmpty());
        QVERIFY(violations("app/core/runs/x.cpp", "#include \"app/core/store/store.h\"").isEmpty());
        QVERIFY(violations("shared/x.cpp", "#include <queue>\n#include <quuid>").isEmpty());
        QVERIFY(violations("shared/x.cpp", "// #include <QString>\n").isEmpty());
    }

    void wrongLicencesAreSeen() {
        QVERIFY(
            licenceFault("app/x.h", "// SPDX-License-Identifier: GPL-3.0-or-later\n").isEmpty());
        QVERIFY(!licenceFault("app/x.h", "// SPDX-License-Identifier: Apache-2.0\n").isEmpty());
        QVERIFY(
            !licenceFault("shared/x.h", "// SPDX-License-Identifier: GPL-3.0-or-later").isEmpty());
        QVERIFY(!licenceFault("tests/x.h", "#pragma once\n").isEmpty());
    }

private:
    void collect(const char* tree) {
        QDirIterator it(m_root.filePath(tree), QDir::Files | QDir::Hidden,
                        QDirIterator::Subdirectories);
        while (it.hasNext())
            collectFile(m_root.relativeFilePath(it.next()));
    }

    void collectFile(const QString& name) {
        QFile file(m_root.filePath(name));
        if (!file.open(QIODevice::ReadOnly))
            return;
        const QByteArray content = file.read(1 << 20);
        if (isSource(QFileInfo(name).fileName()) || content.startsWith("#!"))
            m_files.emplace_back(name, QString::fromUtf8(content));
    }

    QDir m_root;
    std::vector<std::pair<QString, QString>> m_files;
};

QTEST_GUILESS_MAIN(TestLayering)
#include "tst_layering.moc"
