// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json_fields.h"
#include "shared/wire/dial.h"
#include "shared/wire/node_report.h"

// The members of what is told of a network both between agent and app and in the app's own file.

namespace rm {

template <Either<InterfaceReport> Report, class Visit>
void fields(Report& interface, Visit&& every) {
    const auto visit = optionally(every);
    visit("name", interface.name);
    visit("address", interface.address);
    visit("prefix", interface.prefix);
    visit("up", interface.up);
    visit("speed_mbit", interface.speedMbit);
}

template <Either<OpenPorts> T, class Visit>
void portFields(T& ports, Visit&& visit) {
    visit("port", ports.port, within(1, 65535));
    visit("samples", ports.samples, within(0, 65535));
    visit("range", Both{ports.rangeFirst, ports.rangeLast}, within(0, 65535));
}

template <Either<DialAnswer> T, class Visit>
void fields(T& answer, Visit&& visit) {
    visit("reach", answer.reach);
    visit("large_packets", answer.large);
    visit("interface", answer.interface);
    visit("microseconds", answer.microseconds);
    visit("mtu", answer.mtu);
    visit("error", answer.error);
    visit("answered_by", answer.answeredBy, kOptional); // earlier releases kept none
}

} // namespace rm
