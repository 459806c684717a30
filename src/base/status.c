/* SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "reprise.h"

enum rp_status rp_fail(struct rp_problem *why, enum rp_status status, const char *format, ...)
{
    char text[sizeof why->text] = "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rp_text_escape(why->text, sizeof why->text, text, strlen(text), false);
    return status;
}

int rp_exit_status(enum rp_status status)
{
    switch (status) {
    case RP_OK:
        return 0;
    case RP_USAGE:
    case RP_BUSY:
        return REPRISE_EXIT_USAGE;
    case RP_DIVERGED:
        return REPRISE_EXIT_DIVERGED;
    case RP_DAMAGED:
        return REPRISE_EXIT_DAMAGED;
    case RP_UNSUPPORTED:
        return REPRISE_EXIT_UNSUPPORTED;
    case RP_SYSTEM:
    case RP_MEMORY:
        break;
    }
    return REPRISE_EXIT_INTERNAL;
}
