#include "textflag.h"

// func Lines(addr uintptr, n int)
TEXT ·Lines(SB), NOSPLIT, $0-16
	MOVD addr+0(FP), R0
	MOVD n+8(FP), R1

line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	SUBS $1, R1
	BGT  line
	RET

// func Each(list *uintptr, n int)
TEXT ·Each(SB), NOSPLIT, $0-16
	MOVD list+0(FP), R2
	MOVD n+8(FP), R1

each:
	MOVD.P 8(R2), R0
	PRFM   (R0), PLDL1KEEP
	SUBS   $1, R1
	BGT    each
	RET

// func CurrentG() uintptr
TEXT ·CurrentG(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
