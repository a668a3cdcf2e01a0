//go:build race && (amd64 || arm64)

#include "textflag.h"

// func record() unsafe.Pointer
TEXT ·record(SB), NOSPLIT, $0-8
#ifdef GOARCH_amd64
	MOVQ	(TLS), AX
	MOVQ	AX, ret+0(FP)
	RET
#endif
#ifdef GOARCH_arm64
	MOVD	g, ret+0(FP)
	RET
#endif

// func framePointer() unsafe.Pointer
TEXT ·framePointer(SB), NOSPLIT, $0-8
#ifdef GOARCH_amd64
	MOVQ	BP, ret+0(FP)
	RET
#endif
#ifdef GOARCH_arm64
	MOVD	R29, ret+0(FP)
	RET
#endif
