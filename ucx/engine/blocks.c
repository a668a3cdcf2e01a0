// Copies of blocks that lie at regular distances.
#include "compute.h"

#define MOVE_ALL(BYTES)                                                                   \
    for (uint64_t i = 0; i < count; i++, to += to_step, from += from_step)                \
        memcpy(to, from, BYTES)

// move_blocks copies count blocks. Blocks of a word are what matters most: a copy of constant length is
// one load and one store.
void move_blocks(char *to, uint64_t to_step, const char *from, uint64_t from_step, uint64_t bytes, uint64_t count)
{
    switch (bytes) {
    case 1:
        MOVE_ALL(1);
        break;
    case 2:
        MOVE_ALL(2);
        break;
    case 4:
        MOVE_ALL(4);
        break;
    case 8:
        MOVE_ALL(8);
        break;
    case 16:
        MOVE_ALL(16);
        break;
    default:
        MOVE_ALL(bytes);
    }
}
