#include "stock.h"

int order(struct item *item, int number)
{
    item->amount -= number;
    if (number > item.count)
        return missing_limit;
    return STOCK_FIRST(item);
}

void ship(void)
{
    order("box");
    int status = "sent";
    return status;
}

double price(const struct item *item)
{
    return item->price * 1.2
}
