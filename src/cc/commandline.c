/* SPDX-License-Identifier: MIT */
/* Words are options, values of the option before, or inputs. An input is a source by its suffix, or
 * by -x. Which stage ends the work is said by -E, -S, -c and their like. */
#include "cc/commandline.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/file.h"

enum { DEEPEST = 10 }; /* response files in response files */

struct reader {
    struct rp_commandline *out;
    bool preprocesses, stops, partial; /* -E; -c or -S; -r */
    bool shared, script;
    bool inputs, objects, headers;
    bool value;    /* the next word belongs to the option before it */
    bool language; /* the next word is the language of -x */
    enum { BY_SUFFIX, SOURCE, HEADER, OTHER } kind; /* of inputs to come */
};

static bool among(const char *word, const char *const list[])
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool takes_value(const char *option)
{
    static const char *const options[] = {"-o",
                                          "-I",
                                          "-D",
                                          "-U",
                                          "-L",
                                          "-B",
                                          "-A",
                                          "-T",
                                          "-u",
                                          "-z",
                                          "-e",
                                          "-J",
                                          "-G",
                                          "-include",
                                          "-imacros",
                                          "-isystem",
                                          "-iquote",
                                          "-idirafter",
                                          "-iprefix",
                                          "-iwithprefix",
                                          "-iwithprefixbefore",
                                          "-isysroot",
                                          "-imultilib",
                                          "-MF",
                                          "-MT",
                                          "-MQ",
                                          "-Xlinker",
                                          "-Xpreprocessor",
                                          "-Xassembler",
                                          "-Xclang",
                                          "-mllvm",
                                          "-aux-info",
                                          "-dumpbase",
                                          "-dumpbase-ext",
                                          "-dumpdir",
                                          "--param",
                                          "-wrapper",
                                          "-specs",
                                          "--sysroot",
                                          "-target",
                                          "--target",
                                          "-arch",
                                          "-framework",
                                          "-rpath",
                                          "-Ttext",
                                          "-Tdata",
                                          "-Tbss",
                                          "--entry",
                                          "--undefined",
                                          "-MJ",
                                          "-include-pch",
                                          "-ivfsoverlay",
                                          "-iframework",
                                          "-serialize-diagnostics",
                                          NULL};
    return among(option, options);
}

static int kind_of_language(const char *language)
{
    static const char *const other[] = {"assembler", "assembler-with-cpp", "ir", "ada", "d", "go",
                                        NULL};
    if (strcmp(language, "none") == 0)
        return BY_SUFFIX;
    if (strstr(language, "header"))
        return HEADER;
    return among(language, other) ? OTHER : SOURCE;
}

static int kind_of_input(const char *name)
{
    static const char *const sources[] = {"c",   "i",   "cc",  "cp",  "cxx", "cpp", "CPP", "c++",
                                          "C",   "ii",  "m",   "mi",  "mm",  "M",   "mii", "f",
                                          "for", "ftn", "fi",  "fii", "F",   "FOR", "fpp", "FPP",
                                          "FTN", "f90", "f95", "f03", "f08", "f18", "F90", "F95",
                                          "F03", "F08", "F18", "bc",  "ll",  NULL};
    static const char *const headers[] = {"h",   "H",   "hh",  "hp",  "hxx",
                                          "hpp", "HPP", "h++", "tcc", NULL};
    const char *suffix = strrchr(name, '.');
    if (!suffix || strchr(suffix, '/'))
        return OTHER;
    return among(suffix + 1, sources) ? SOURCE : among(suffix + 1, headers) ? HEADER : OTHER;
}

static void read_input(struct reader *r, const char *name)
{
    int kind = r->kind != BY_SUFFIX ? (int)r->kind : kind_of_input(name);
    r->inputs = true;
    r->out->compiles |= kind == SOURCE;
    r->headers |= kind == HEADER;
    r->objects |= kind != HEADER;
}

static void read_option(struct reader *r, const char *word)
{
    static const char *const ends[] = {"-c",         "-S",        "-fsyntax-only", "--compile",
                                       "--assemble", "-emit-ast", "--analyze",     NULL};
    static const char *const preprocessing[] = {
        "-E", "-M", "-MM", "--preprocess", "--dependencies", "--user-dependencies", NULL};
    static const char *const partial[] = {"-r", "-Wl,-r", "-Wl,--relocatable", "--relocatable",
                                          NULL};
    static const char *const shared[] = {"-shared", "--shared", "-Wl,-shared", NULL};
    static const char *const questions[] = {
        "--version",  "--help", "-dumpversion", "-dumpfullversion", "-dumpmachine",
        "-dumpspecs", NULL};

    r->preprocesses |= among(word, preprocessing);
    r->stops |= among(word, ends);
    r->partial |= among(word, partial);
    r->shared |= among(word, shared);
    r->out->asks |= among(word, questions) || starts_with(word, "-print-") ||
                    starts_with(word, "--print-") || starts_with(word, "--help=");
    r->out->adds |= (starts_with(word, "-fplugin=") || starts_with(word, "-fpass-plugin=") ||
                     starts_with(word, "-specs=")) &&
                    (strstr(word, "reprise-ticks-") || strstr(word, "reprise-track-"));
    r->out->sanitizes |= starts_with(word, "-fsanitize=");
    r->value = takes_value(word) || strcmp(word, "-l") == 0;
    r->language = strcmp(word, "-x") == 0;
    if (starts_with(word, "-x") && word[2])
        r->kind = kind_of_language(word + 2);
    if (starts_with(word, "-l"))
        r->inputs = r->objects = true;
}

static void read_file(struct reader *r, const char *path, int depth);

static void read_word(struct reader *r, const char *word, int depth)
{
    r->script |=
        strstr(word, "-version-script") != NULL; /* a word or a part of one, by -Wl or -Xlinker */
    r->out->strict |= strstr(word, "-no-undefined") || strstr(word, "-z,defs") ||
                      strstr(word, "-zdefs") || strcmp(word, "defs") == 0;
    if (r->language)
        r->kind = kind_of_language(word);
    else if (!r->value && word[0] == '@')
        return read_file(r, word + 1, depth);
    else if (!r->value && word[0] == '-' && word[1])
        return read_option(r, word);
    else if (!r->value)
        read_input(r, word);
    r->value = r->language = false;
}

/* The next word of a response file, unquoted in place: quotes hold words together, a backslash
 * takes the next character as it is. NULL at the end. */
static char *next_word(char **text)
{
    char *at = *text + strspn(*text, " \t\r\n\f\v"), *word = at, *to = at, quote = 0;
    if (!*at)
        return NULL;
    for (; *at && (quote || !strchr(" \t\r\n\f\v", *at)); at++) {
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '"' || *at == '\''))
            quote = *at;
        else
            *to++ = *at == '\\' && at[1] ? *++at : *at;
    }
    *text = *at ? at + 1 : at;
    *to = 0;
    return word;
}

static void read_file(struct reader *r, const char *path, int depth)
{
    struct rp_buffer text = {0};
    struct rp_problem why;
    if (depth < DEEPEST && rp_read_file(path, 1 << 24, &text, &why) == RP_OK && text.bytes) {
        char *at = (char *)text.bytes;
        for (char *word = next_word(&at); word; word = next_word(&at))
            read_word(r, word, depth + 1);
    }
    rp_buffer_free(&text);
}

void rp_commandline_read(int count, char *const words[], struct rp_commandline *out)
{
    struct reader r = {.out = out};
    *out = (struct rp_commandline){0};
    for (int i = 0; i < count; i++)
        read_word(&r, words[i], 0);
    out->asks |= !r.inputs;
    out->compiles &= !r.preprocesses;
    out->scripted = r.shared && r.script;
    out->links = r.objects && !r.preprocesses && !r.stops && !r.partial;
}
