/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// exit: 5
// about: a program that finalizes and returns 5: the launcher's status must be the program's
#include "traffic.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    check_end();
    return 5;
}
