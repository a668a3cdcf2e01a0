#include "textflag.h"

// func prefetchToWrite(p unsafe.Pointer)
TEXT ·prefetchToWrite(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	// PREFETCHW (AX), which the assembler does not know; a CPU without it does nothing
	BYTE $0x0f; BYTE $0x0d; BYTE $0x08
	RET
