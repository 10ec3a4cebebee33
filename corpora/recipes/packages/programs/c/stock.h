#ifndef STOCK_H
#define STOCK_H

struct item {
    const char *name;
    int count;
    double price;
};

int stock_total(const struct item *items, unsigned long length);
static int stock_unused(int a) { return a; }
#define STOCK_FIRST(items) ((items)[0].label)

#endif
