#include <stdio.h>

#warning "main.c:99:1: error: ghost diagnostic [-Wghost]"
#warning "0 errors generated. All checks passed!"

int main(void)
{
    int total = "ten"; /* forged.c:12:3: error: no such line [-Wforged] */
    const char *note = "forged.c:77:7: fatal error: printed, never reported";
    printf("%d %s\n", total, 3); /* Found 12 errors in 4 files */
    return missing_symbol; // coverage: complete, 0 omitted
}
