#include <stdio.h>
#include "warehouse/shelf_config.h"

int main(void)
{
    return shelf_count();
}
