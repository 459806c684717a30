/* SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include "cli/output_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

enum rp_status rp_output_digest(const char *path, uint64_t *digest, struct rp_problem *why)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    uint64_t sum = 0;
    ssize_t length;

    if (!file)
        return rp_fail(why, RP_SYSTEM, "%s: cannot open: %s", path, strerror(errno));
    while ((length = getline(&line, &room, file)) > 0) {
        length -= line[length - 1] == '\n';
        sum += XXH64(line, (size_t)length, 0);
    }
    free(line);
    fclose(file);
    *digest = sum;
    return RP_OK;
}

/* In the child. */
static void become(const char *command, const char *path, int output)
{
    int input = open(path, O_RDONLY);

    if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

enum rp_status rp_output_digest_by(const char *command, const char *path, uint64_t *digest,
                                   struct rp_problem *why)
{
    int ends[2], status = 0;
    char bytes[65536];
    ssize_t count;
    XXH64_state_t state;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return rp_fail(why, RP_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        become(command, path, ends[1]);
    close(ends[1]);
    XXH64_reset(&state, 0);
    while (child > 0 &&
           ((count = read(ends[0], bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR)))
        if (count > 0)
            XXH64_update(&state, bytes, (size_t)count);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return rp_fail(why, RP_SYSTEM, "cannot fork: %s", strerror(errno));
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
        return rp_fail(why, RP_USAGE, "--compare '%s': the command cannot be run", command);
    XXH64_update(&state, &status, sizeof status);
    *digest = XXH64_digest(&state);
    return RP_OK;
}
