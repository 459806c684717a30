/* SPDX-License-Identifier: MIT */
#include "cli/recorded_env.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/diagnostics.h"
#include "log/secret_names.h"
#include "job/settings.h"

/* A name, or the beginning of names if it ends with a star. */
static bool fits(const char *pattern, const char *name, size_t length)
{
    size_t most = strlen(pattern);

    if (most > 0 && pattern[most - 1] == '*')
        return length >= most - 1 && memcmp(pattern, name, most - 1) == 0;
    return length == most && memcmp(pattern, name, length) == 0;
}

/* Of the terminal, the login, the batch job or the launcher; or it is reprise's own. Temporary
 * files of a job have no place after it. */
static bool is_passing(const char *name, size_t length)
{
    static const char *const patterns[] = {
        "REPRISE_*",
        "LD_PRELOAD",
        "TERM",
        "COLORTERM",
        "COLUMNS",
        "LINES",
        "LS_COLORS",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "WINDOWID",
        "TMUX*",
        "STY",
        "SHLVL",
        "PWD",
        "OLDPWD",
        "_",
        "HOSTNAME",
        "SSH_*",
        "XDG_*",
        "DBUS_*",
        "GPG_*",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "TMPDIR",
        "TMP",
        "TEMP",
        "SLURM_*",
        "SBATCH_*",
        "SRUN_*",
        "SALLOC_*",
        "PBS_*",
        "LSB_*",
        "LSF_*",
        "SGE_*",
        "JOB_ID",
        "JOB_NAME",
        "PE_HOSTFILE",
        "COBALT_*",
        "FLUX_*",
        "PALS_*",
        "ALPS_*",
        "CUDA_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
        "PMI_*",
        "PMIX_*",
        "PRTE_*",
        "OMPI_COMM_*",
        "OMPI_UNIVERSE_SIZE",
        "OMPI_MCA_orte_tmpdir_base",
        "HYDRA_*",
        "HYDI_*",
        "MPI_LOCAL*",
    };

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits(patterns[i], name, length))
            return true;
    return false;
}

/* A shell's functions have other characters in their names. */
static bool is_plain(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length > 0;
}

static bool is_recorded(const char *variable, size_t *length)
{
    *length = strcspn(variable, "=");
    return variable[*length] == '=' && is_plain(variable, *length) &&
           !is_passing(variable, *length) && !rp_secret_is_named(variable, *length);
}

void rp_recorded_env_note(void)
{
    struct rp_buffer names = {0};
    size_t length;

    if (rp_setting("REPRISE_NO_ENVIRONMENT"))
        return;
    for (char **v = environ; *v; v++) {
        if (!is_recorded(*v, &length))
            continue;
        if (names.length > 0)
            rp_buffer_byte(&names, ' ');
        rp_buffer_put(&names, *v, length);
    }
    rp_buffer_byte(&names, 0);
    if (!names.failed)
        setenv("REPRISE_VARIABLES", (char *)names.bytes, 1);
    rp_buffer_free(&names);
}

/* What was no text when it was written is not what it was. */
static bool is_whole(const char *value)
{
    return !strstr(value, "\xef\xbf\xbd");
}

void rp_recorded_env_take(char *const *recorded)
{
    size_t length;

    for (char *const *v = recorded; v && *v; v++) {
        char *name = is_recorded(*v, &length) && is_whole(*v) ? strndup(*v, length) : NULL;
        if (name)
            setenv(name, *v + length + 1, 0);
        free(name);
    }
}

static const char *find(char *const *list, const char *name, size_t length)
{
    for (char *const *v = list; v && *v; v++)
        if (strncmp(*v, name, length) == 0 && (*v)[length] == '=')
            return *v + length + 1;
    return NULL;
}

void rp_recorded_env_say_others(char *const *recorded)
{
    enum { SHOWN = 8 };
    size_t count = 0, length;

    if (!recorded || !*recorded)
        return;
    for (char **v = environ; *v; v++) {
        const char *now = *v + strcspn(*v, "=") + 1, *then;
        if (!is_recorded(*v, &length))
            continue;
        then = find(recorded, *v, length);
        if (then && (strcmp(then, now) == 0 || !is_whole(then)))
            continue;
        if (count++ >= SHOWN)
            continue;
        if (then)
            rp_note(
                "the environment is another: %.*s is '%.200s', and was '%.200s' in the recording",
                (int)length, *v, now, then);
        else
            rp_note(
                "the environment is another: %.*s is '%.200s', and was not set in the recording",
                (int)length, *v, now);
    }
    if (count > SHOWN)
        rp_note("the environment is another: so are %zu more variables", count - SHOWN);
}
