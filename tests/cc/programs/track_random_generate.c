/* SPDX-License-Identifier: MIT */
/* Prints random functions that load and store; the argument is the seed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTIONS = 60 };
static const char *const types[] = {"signed char", "unsigned char", "short",
                                    "int",         "unsigned",      "long",
                                    "float",       "double",        "unsigned long"};
static const char *type_of[3]; /* of a, b, c */
static unsigned long state;
static unsigned chance(unsigned limit)
{
    return (unsigned)((state = state * 6364136223846793005 + 1442695040888963407) >> 33) % limit;
}

static void index_of(const char *v)
{
    switch (chance(12)) {
    case 0:
    case 1:
        printf("[%s+%u]", v, 1 + chance(3));
        break;
    case 2:
        printf("[2*%s+%u]", v, chance(2));
        break;
    case 3:
        printf("[%u]", chance(4));
        break;
    case 4:
        printf("[m]");
        break;
    case 5:
        printf("[60-%s]", v);
        break;
    default:
        printf("[%s]", v);
    }
}

static void element(const char *v)
{
    putchar("abc"[chance(3)]);
    index_of(v);
}

static void number(const char *v)
{
    printf("(unsigned long)(long)");
    element(v);
}

static void take(const char *v)
{
    unsigned choice = chance(10);
    printf(choice < 5   ? "s=s*31+"
           : choice < 7 ? "s+=3*"
           : choice < 8 ? "s^=table["
           : choice < 9 ? "s+=own["
                        : "s+=");
    number(v);
    printf(choice < 7 ? ";" : choice < 8 ? "&15];" : choice < 9 ? "&7];" : ">");
    if (choice == 9) {
        number(v);
        printf("?1:5;");
    }
}

static void give(const char *v)
{
    unsigned which = chance(3);
    putchar("abc"[which]);
    index_of(v);
    printf("=(%s)(int)(63&(", type_of[which]);
    if (chance(4) == 0)
        printf("%u", chance(64));
    else {
        printf("(int)");
        element(v);
        printf("^(int)");
        element(v);
    }
    printf("));");
}

static void statement(const char *v)
{
    switch (chance(13)) {
    case 12:
        printf("if(");
        element(v);
        printf(">20)s+=");
        number(v);
        printf(";");
        break;
    case 0:
        printf("if((%s^m)&1){", v);
        take(v);
        printf("}");
        break;
    case 1:
        printf("if((int)");
        element(v);
        printf("&1){");
        give(v);
        printf("}else t+=%s;", v);
        break;
    case 2:
        printf("own[(unsigned)(int)");
        element(v);
        printf("&7]++;");
        break;
    case 3:
        printf("t=(long)");
        element(v);
        printf(";");
        break;
    case 4:
        printf("if(%s>=n-2){", v);
        take(v);
        printf("}");
        break;
    case 5:
    case 6:
    case 7:
        give(v);
        break;
    default:
        take(v);
    }
}

static void loop(const char *v)
{
    static const char *const heads[] = {
        "for(int %s=0;%s<n;%s++)",          "for(int %s=n-1;%s>=0;%s--)",
        "for(long %s=0;%s<n;%s+=3)",        "for(unsigned %s=0;%s!=(unsigned)n;%s++)",
        "for(int %s=m;%s<n;%s+=2)",         "for(int %s=1;%s<=n;%s++)",
        "for(short %s=0;%s<n;%s++)",        "for(long %s=n;%s>m;%s-=2)",
        "for(unsigned char %s=0;%s<n;%s++)"};
    unsigned leaves = chance(20);
    printf(heads[chance(9)], v, v, v);
    printf("{");
    for (unsigned i = 0, count = 1 + chance(4); i < count; i++)
        statement(v);
    if (leaves < 2)
        printf("if(%s==m)break;", v);
    else if (leaves < 3)
        printf("if(%s>m+3){t+=7;break;}", v);
    else if (leaves < 4)
        printf("if(%s==m)goto out;", v);
    printf("}");
}

int main(int argc, char **argv)
{
    state = (unsigned long)atol(argv[argc - 1]);
    puts("static const unsigned long table[16]={3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3};");
    for (int f = 0; f < FUNCTIONS; f++) {
        type_of[0] = types[chance(9)];
        for (int i = 1; i < 3; i++)
            type_of[i] = chance(2) ? type_of[0] : types[chance(9)];
        const char *kind = chance(2) ? "" : "restrict";
        printf("static unsigned long f%d(%s*%s a,%s*%s b,%s*%s c,int n,int m){unsigned long "
               "s=0;long t=0;int own[8]={0};",
               f, type_of[0], kind, type_of[1], kind, type_of[2], kind);
        for (unsigned i = 0, count = 1 + chance(2); i < count; i++) {
            char v[16];
            snprintf(v, sizeof v, "i%u", i);
            if (chance(3) == 0) {
                printf("for(int o=0;o<3;o++){t+=o;");
                loop(v);
                printf("a+=o;}");
            } else
                loop(v);
        }
        puts("out:;for(int i=0;i<8;i++)s+=(unsigned long)own[i]*i;return s*7+t;}");
    }
    /* Vectors of which some elements are accessed, where there are such. */
    printf("static unsigned long f%d(int*restrict a,int*restrict b,int*restrict c,int n,int "
           "m){long t=m;for(int i=0;i<n;i++)if(a[i]>20)t+=b[i];for(int "
           "i=0;i<n;i++)if(a[i]>30)c[i]=b[i];return t;}\n",
           FUNCTIONS);
    printf("unsigned long (*all[])(void*,void*,void*,int,int)={");
    for (int f = 0; f <= FUNCTIONS; f++)
        printf("(void*)f%d,", f);
    printf("};int count=%d;\n", FUNCTIONS + 1);
    return 0;
}
