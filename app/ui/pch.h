// SPDX-License-Identifier: GPL-3.0-or-later
// Precompiled: what most files of the window include; see app/core/pch.h.
#pragma once

#include "app/core/pch.h"

#include <QtWidgets>
