/* One array is written again and again, one read, one left alone; until the profile so far tells
   of enough looks at them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { bytes = 4 << 20, wanted = 2 };

static int looks(const char *name) {
    static char path[64], line[4096];
    char label[64];
    int found = 0;
    snprintf(path, sizeof path, "/job/pages.%d.profile", (int)getpid());
    snprintf(label, sizeof label, " \"%s\": %%d", name);
    FILE *profile = fopen(path, "r");
    while (profile && fgets(line, sizeof line, profile) && sscanf(line, label, &found) != 1)
        ;
    if (profile)
        fclose(profile);
    return found;
}

int main(void) {
    volatile char *written = malloc(bytes);
    volatile char *read = malloc(bytes);
    volatile char *idle = malloc(bytes);
    memset((char *)written, 1, bytes);
    memset((char *)read, 1, bytes);
    memset((char *)idle, 1, bytes);
    for (int round = 0; round < 50000; round++) {
        for (int at = 0; at < bytes; at += 4096)
            written[at] = read[at];
        usleep(1000);
        if (round % 100 == 99 && looks("looks_written") >= wanted &&
            looks("looks_accessed") >= wanted)
            break;
    }
    printf("%d\n", written[0] + idle[0]);
    return 0;
}
