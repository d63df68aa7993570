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
    if (translator->load(QLocale(), "ringmaster", "_", resourceDir() + "/translations"))
        QCoreApplication::installTranslator(translator);
}

} // namespace rm
