/* SPDX-License-Identifier: MIT */
/* The list of spawned jobs in a record that has the job 0.1 and nothing of others: any bytes are
 * read or refused. What is read names no other job, but for spawns that failed. */
#include "fuzz.h"
#include "log/jobs.h"

static char record[4096];

static void describe(const char *directory, const char *job)
{
    char *none[] = {NULL};
    struct rp_manifest manifest = {.run = 7,
                                   .ranks = 2,
                                   .job = (char *)job,
                                   .mpi = "openmpi",
                                   .mpi_version = "",
                                   .program = "/app",
                                   .build_id = "",
                                   .directory = "/",
                                   .host = "host",
                                   .started = "",
                                   .reprise = "",
                                   .command = none,
                                   .allowed = none,
                                   .environment = none,
                                   .codec = "",
                                   .clocks = "",
                                   .capture = "",
                                   .threads = "",
                                   .wrappers = "",
                                   .data = ""};
    struct rp_problem why = {""};

    FUZZ_CHECK(rp_manifest_write(directory, &manifest, &why) == RP_OK);
    FUZZ_CHECK(rp_manifest_complete(directory, &why) == RP_OK);
}

static void remove_record(void)
{
    static const char *const names[] = {"/job-0.1/manifest.json", "/job-0.1", "/manifest.json"};
    char path[8192];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s%s", record, names[i]);
        remove(path);
    }
}

static void begin(void)
{
    char path[8192];

    snprintf(record, sizeof record, "%s", fuzz_directory());
    atexit(remove_record); /* before the directory */
    describe(record, "");
    snprintf(path, sizeof path, "%s/job-0.1", record);
    FUZZ_CHECK(mkdir(path, 0700) == 0);
    describe(path, "0.1");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_jobs jobs;
    struct rp_problem why = {""};
    uint32_t rank;

    if (!*record)
        begin();
    fuzz_write("jobs", bytes, length);
    rp_job_failed(record, "0.2");
    enum rp_status status = rp_jobs_read(record, &jobs, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return 0;
    FUZZ_CHECK(jobs.count == 2 && strcmp(jobs.job[1].name, "0.1") == 0 && jobs.processes == 4);
    FUZZ_CHECK(rp_jobs_of(&jobs, 3, &rank) == &jobs.job[1] && rank == 1);
    FUZZ_CHECK(rp_jobs_find(&jobs, "0.1.1") == 3 && rp_jobs_find(&jobs, "0.2.0") == UINT32_MAX);
    rp_jobs_free(&jobs);
    return 0;
}
