#include "textflag.h"

// func Lines(addr uintptr, n int)
TEXT ·Lines(SB), NOSPLIT, $0-16
	MOVQ addr+0(FP), AX
	MOVQ n+8(FP), CX

line:
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	DECQ       CX
	JGT        line
	RET

// func Each(list *uintptr, n int)
TEXT ·Each(SB), NOSPLIT, $0-16
	MOVQ list+0(FP), BX
	MOVQ n+8(FP), CX

each:
	MOVQ       (BX), AX
	PREFETCHT0 (AX)
	ADDQ       $8, BX
	DECQ       CX
	JGT        each
	RET

// func CurrentG() uintptr
TEXT ·CurrentG(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
