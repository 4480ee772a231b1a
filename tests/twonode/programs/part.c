/* The annotated library that loader.c opens and closes. */
#include "placement.h"

OWN_SITE char *fast_in_library(size_t bytes) { return (char *)malloc(bytes); }
OWN_SITE char *slow_in_library(size_t bytes) { return (char *)malloc(bytes); }

char *library_block(int tier, size_t bytes);
char *library_block(int tier, size_t bytes) {
    char *block = tier ? slow_in_library(bytes) : fast_in_library(bytes);
    memset(block, 1, bytes);
    return block;
}
