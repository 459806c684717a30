/* SPDX-License-Identifier: MIT */
#include "log/secret_names.h"

#include <ctype.h>
#include <string.h>

bool rp_secret_is_named(const char *name, size_t length)
{
    static const char *const words[] = {"TOKEN",  "SECRET", "PASSW",  "PASSPHRASE",   "CREDENTIAL",
                                        "APIKEY", "_KEY",   "COOKIE", "AUTHORIZATION"};
    char upper[256];

    if (length >= sizeof upper)
        return true;
    for (size_t i = 0; i < length; i++)
        upper[i] = (char)toupper((unsigned char)name[i]);
    upper[length] = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(upper, words[i]))
            return true;
    return false;
}
