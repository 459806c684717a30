/* SPDX-License-Identifier: MIT */
/*
 * The start of MPI. When a rank is fed, the launcher's variables, which the program may look at,
 * would have MPI look for the launcher: so MPI does not see them while it starts.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/settings.h"
#include "partial/partial_state.h"
#include "hand.h"

static bool is_launchers(const char *variable)
{
    static const char *const beginnings[] = {
        "PMI",
        "OMPI_COMM_",
        "OMPI_UNIVERSE",
        "OMPI_MCA_orte_",
        "OMPI_MCA_ess",
        "OMPI_MCA_pmix",
        "OMPI_MCA_initial",
        "OMPI_FIRST_RANKS",
        "OMPI_APP_",
        "OMPI_NUM_APP",
        "OMPI_FILE",
        "OMPI_PARENT_PORT", /* Open MPI 4: of a spawned process */
        "ORTE_",
        "PRTE_",
        "HYD",
        "SLURM_",
        "MPI_LOCAL",
        "MPIR_CVAR_CH4_OFI",
        "OMPI_MCA_btl=",
        "OMPI_MCA_pml="};

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* What has Open MPI look for nothing outside the process. */
static const char *const singleton[][2] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                           {"OMPI_MCA_btl", "self"},
                                           {"OMPI_MCA_pml", "ob1"}};

static struct {
    char **variables;
    size_t count;
} hidden;

static void hide_launcher(void)
{
    size_t count = 0;

    if (!rp_setting("REPRISE_SOLO"))
        return;
    for (char **v = environ; *v; v++)
        count += is_launchers(*v);
    hidden.variables = calloc(count + 1, sizeof *hidden.variables);
    for (char **v = environ; hidden.variables && *v;)
        if (is_launchers(*v)) {
            char *name = strndup(*v, strcspn(*v, "="));
            hidden.variables[hidden.count++] = strdup(*v);
            unsetenv(name);
            free(name);
            v = environ;
        } else {
            v++;
        }
    for (size_t i = 0; i < sizeof singleton / sizeof *singleton; i++)
        setenv(singleton[i][0], singleton[i][1], 1);
    if (rp_setting(
            "REPRISE_OUTPUT")) /* which others that begin or end at the same time do not share */
        setenv("OMPI_MCA_orte_tmpdir_base", rp_setting("REPRISE_OUTPUT"), 1);
}

static void show_launcher(void)
{
    if (!rp_setting("REPRISE_SOLO"))
        return;
    for (size_t i = 0; i < sizeof singleton / sizeof *singleton; i++)
        unsetenv(singleton[i][0]);
    unsetenv("OMPI_MCA_orte_tmpdir_base");
    for (size_t i = 0; hidden.variables && i < hidden.count; i++)
        putenv(hidden.variables[i]); /* theirs now */
    free(hidden.variables);
    hidden.variables = NULL;
    hidden.count = 0;
}

#if RP_HAS_SESSIONS
int rp_partial_life_Session_init(const struct rp_next *next, MPI_Info info,
                                 MPI_Errhandler errhandler, MPI_Session *session)
{
    hide_launcher();
    int rc = next->Session_init(info, errhandler, session);
    show_launcher();
    return rc;
}
#endif

int rp_partial_life_Init(const struct rp_next *next, int *argc, char ***argv)
{
    hide_launcher();
    int rc = next->Init(argc, argv);
    show_launcher();
    return rc;
}

int rp_partial_life_Init_thread(const struct rp_next *next, int *argc, char ***argv, int required,
                                int *provided)
{
    hide_launcher();
    int rc = next->Init_thread(argc, argv, required, provided);
    show_launcher();
    return rc;
}
