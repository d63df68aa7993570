// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/language.h"

#include "app/core/settings/paths.h"

#include <QCoreApplication>
#include <QLocale>
#include <QTranslator>

#include <clocale>

namespace rm {

void speakPersonsLanguage() {
    std::setlocale(LC_NUMERIC, "C"); // Qt has set the person's
    auto* translator = new QTranslator(QCoreApplication::instance());
    for (const QString& language : QLocale().uiLanguages()) { // best first
        if (language.section('-', 0, 0) == "en")
            return; // it needs no file, and what stands behind it is not wanted
        const QString name = "ringmaster_" + QString(language).replace('-', '_');
        if (translator->load(name, resourceDir() + "/translations")) {
            QCoreApplication::installTranslator(translator);
            return;
        }
    }
}

} // namespace rm
