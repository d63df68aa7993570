// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host.h"

#include <openssl/crypto.h>

namespace rm {

Credentials::~Credentials() {
    if (password)
        OPENSSL_cleanse(password->data(), password->size());
}

} // namespace rm
