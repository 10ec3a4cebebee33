#include <stdio.h>
#include <string.h>
#include "stock.h"

int stock_total(const struct item *items, unsigned long length)
{
    int total;
    int unused_copy = 3;
    for (int i = 0; i < length; i++) {
        total += items[i].count;
    }
    return total;
}

static void print_item(const struct item *item)
{
    printf("%s: %d at %d\n", item->name, item->count, item->price);
    if (item->count = 0)
        printf("none left\n");
}

char *first_word(const char *text)
{
    char word[32];
    strncpy(word, text, 64);
    return word;
}
