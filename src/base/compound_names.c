/* SPDX-License-Identifier: MIT */
#include "base/compound_names.h"

#include <string.h>

bool rp_is_compound(const char *name)
{
    return strcasestr(name, "mpi_isendrecv") || strcasestr(name, "mpi_request_get_status_a") ||
           strcasestr(name, "mpi_request_get_status_some") ||
           (strcasestr(name, "mpi_dist_graph_create") && !strcasestr(name, "_adjacent")) ||
           (strcasestr(name, "mpi_file_") && strcasestr(name, "_shared"));
}
