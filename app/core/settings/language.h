// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace rm {

/// Lets this process speak the person's language, where resourceDir() has it as
/// translations/ringmaster_LANGUAGE.qm; else it speaks English. To be called once, when there is an
/// application. Numbers stay those of the C locale: texts, tables and JSON agree about them.
void speakPersonsLanguage();

} // namespace rm
