/* SPDX-License-Identifier: MIT */
/* usage: peak PROGRAM [ARGUMENT...]: runs it and says on stderr how much memory it had at most, in
 * KiB. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage usage;
    int status = 0;

    if (argc < 2)
        return 120;
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 125;
    fprintf(stderr, "peak %ld\n", usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
