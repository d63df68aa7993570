// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/secret.h"

#include <openssl/crypto.h>

namespace rm {

// Copied, as the parameter would keep a short text that is moved out of it.
Secret::Secret(std::string text)
    : m_text(text) {
    cleanse(text);
}

Secret::Secret(const char* text)
    : m_text(text) {}

Secret::Secret(QString text) {
    QByteArray bytes = text.toUtf8();
    m_text.assign(bytes.constData(), static_cast<size_t>(bytes.size()));
    cleanse(bytes);
    cleanse(text);
}

Secret& Secret::operator=(const Secret& other) {
    if (this == &other)
        return *this;
    cleanse(m_text);
    m_text = other.m_text;
    return *this;
}

Secret::~Secret() {
    cleanse(m_text);
}

void cleanse(std::string& text) {
    OPENSSL_cleanse(text.data(), text.size());
}

void cleanse(QByteArray& bytes) {
    if (bytes.isDetached())
        OPENSSL_cleanse(bytes.data(), static_cast<size_t>(bytes.size()));
}

void cleanse(QString& text) {
    if (text.isDetached())
        OPENSSL_cleanse(text.data(), static_cast<size_t>(text.size()) * sizeof(QChar));
}

} // namespace rm
