/* SPDX-License-Identifier: MIT */
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

enum { MUCH = 1 << 18 };

enum rp_status rp_output_open(const char *path, struct rp_output *out, struct rp_problem *why)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, RP_PRIVATE_FILE) : -1;

    *out = (struct rp_output){.path = path, .file = path ? NULL : stdout};
    if (fd >= 0)
        out->file = fdopen(fd, "w");
    return out->file ? RP_OK
                     : rp_fail(why, RP_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
}

static void write_text(struct rp_output *out)
{
    if (out->text.failed && !out->error)
        out->error = ENOMEM;
    if (!out->error && !rp_text_print(out->file, out->text.bytes, out->text.length))
        out->error = errno ? errno : EIO;
    rp_buffer_clear(&out->text);
}

void rp_output_spill(struct rp_output *out)
{
    if (out->file && out->text.length >= MUCH)
        write_text(out);
}

enum rp_status rp_output_close(struct rp_output *out, enum rp_status status, struct rp_problem *why)
{
    if (status == RP_OK)
        write_text(out);
    if (fflush(out->file) != 0 && !out->error)
        out->error = errno;
    if (out->path && fclose(out->file) != 0 && !out->error)
        out->error = errno;
    rp_buffer_free(&out->text);
    if (out->path && status != RP_OK)
        unlink(out->path);
    if (status == RP_OK && out->error)
        return rp_fail(why, RP_SYSTEM, "%s: cannot write: %s",
                       out->path ? out->path : "standard output", strerror(out->error));
    return status;
}
