/* SPDX-License-Identifier: MIT */
/*
 * Files. When a rank is fed, an empty file that nobody else sees stands for the real one: nothing
 * is read from it or written to it, but it has views, infos and handlers.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "partial/partial_entries.h"
#include "partial/partial_files.h"
#include "reprise.h"
#include "hand.h"

int rp_partial_record_File_open(const struct rp_next *next, MPI_Comm comm, const char *name,
                                int amode, MPI_Info info, MPI_File *file)
{
    bool is_open = rp_real_begin();
    int rc = next->File_open(comm, name, amode, info, file);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_File_open, true, rp_check(0, amode), rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info,
                              MPI_File *file)
{
    int rc = rp_partial_feed_begin(&rp_f_File_open, true, rp_check(0, amode));
    char path[] = "/tmp/reprise-file.XXXXXX";
    int fd;

    (void)name, (void)info;
    rp_partial_feed_end();
    if (!rp_partial_feed_made(rc)) {
        *file = rp_partial.handle.file_null;
        rp_partial_feed_error_no_file(comm);
        return rc;
    }
    rp_data_off++;
    fd = mkstemp(path);
    if (fd < 0 || rp_pmpi.File_open(rp_constant.self, path, MPI_MODE_RDWR, rp_constant.info_null,
                                    file) != MPI_SUCCESS) {
        rp_error("MPI_File_open: no file in /tmp can stand for '%s'", name);
        rp_data_end_job(REPRISE_EXIT_INTERNAL);
    }
    close(fd);
    unlink(path);
    rp_data_off--;
    return rc;
}

int rp_partial_record_File_close(const struct rp_next *next, MPI_File *file)
{
    bool is_open = rp_real_begin();
    int rc = next->File_close(file);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_File_close, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_File_close(MPI_File *file)
{
    int rc = rp_partial_feed_begin(&rp_f_File_close, false, 0);

    rp_partial_feed_end();
    rp_data_off++;
    rp_pmpi.File_close(file);
    rp_data_off--;
    return rc;
}

struct split {
    MPI_File file;
    struct rp_areas areas;
    struct split *next;
};
static struct split *splits;

void rp_split_begin(MPI_File file, struct rp_areas *areas)
{
    struct split *s = calloc(1, sizeof *s);

    if (!s)
        rp_bug(__FILE__, __LINE__, "out of memory");
    *s = (struct split){file, *areas, splits};
    rp_areas_keep(&s->areas);
    splits = s;
}

static void end_split(MPI_File file, void (*use)(const struct rp_areas *, int64_t), int64_t bytes)
{
    static const struct rp_areas none;

    for (struct split **at = &splits; *at; at = &(*at)->next)
        if ((*at)->file == file) {
            struct split *s = *at;
            use(&s->areas, bytes);
            *at = s->next;
            rp_areas_free(&s->areas);
            free(s);
            return;
        }
    use(&none, bytes);
}

static void fill(const struct rp_areas *areas, int64_t bytes)
{
    (void)bytes;
    rp_areas_fill(areas);
}

void rp_split_put(MPI_File file, int64_t bytes)
{
    end_split(file, rp_areas_put, bytes);
}

void rp_split_fill(MPI_File file)
{
    end_split(file, fill, 0);
}
