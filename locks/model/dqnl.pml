/*
 * DQNL (dqnl.go): the queue of D-MCS, entered by comparing the tail with what is believed to be there, until
 * that is right. What is checked is what dmcs.pml says, and so are its planted bugs; one more is
 * BELIEVES_FIRST (goes behind whom it believed to be the last, though the compare-swap has failed).
 */

#define COMPARES
#include "dmcs.pml"
