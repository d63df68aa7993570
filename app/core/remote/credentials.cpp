// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host.h"

#include <openssl/crypto.h>

namespace rm {

Credentials::~Credentials() {
    for (auto* secret : {&password, &passphrase})
        if (*secret)
            OPENSSL_cleanse((*secret)->data(), (*secret)->size());
}

} // namespace rm
