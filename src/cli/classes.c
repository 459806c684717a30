/* SPDX-License-Identifier: MIT */
#include "cli/classes.h"

#include <stddef.h>
#include <string.h>

static const char *const refused[] = {
#include "refused.inc"
};

bool rp_class_is_refused(const char *function)
{
    const char *name = function[0] == 'P' ? function + 1 : function;

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i], name) == 0)
            return true;
    return false;
}
