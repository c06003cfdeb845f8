#include <stdio.h>

static int square(int n)
{
    int result = n * n;
    return result;
}

int main(void)
{
    int sum = 0;
    for (int n = 1; n <= 5; n++) {
        sum += square(n);
    }
    printf("%d\n", sum);
    return 0;
}
