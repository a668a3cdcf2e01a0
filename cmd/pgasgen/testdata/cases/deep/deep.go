// Package deep nests structs so deep that the compiler, which keeps nothing of what it has computed, would take years for their
// sizes.
package deep

//pgas:symmetric
type Deep struct {
	Count int64 `pgas:"atomic"`
	Level L0
}

type (
	L0 struct {
		N    int64
		Next L1
	}
	L1 struct {
		N    int64
		Next L2
	}
	L2 struct {
		N    int64
		Next L3
	}
	L3 struct {
		N    int64
		Next L4
	}
	L4 struct {
		N    int64
		Next L5
	}
	L5 struct {
		N    int64
		Next L6
	}
	L6 struct {
		N    int64
		Next L7
	}
	L7 struct {
		N    int64
		Next L8
	}
	L8 struct {
		N    int64
		Next L9
	}
	L9 struct {
		N    int64
		Next L10
	}
	L10 struct {
		N    int64
		Next L11
	}
	L11 struct {
		N    int64
		Next L12
	}
	L12 struct {
		N    int64
		Next L13
	}
	L13 struct {
		N    int64
		Next L14
	}
	L14 struct {
		N    int64
		Next L15
	}
	L15 struct {
		N    int64
		Next L16
	}
	L16 struct {
		N    int64
		Next L17
	}
	L17 struct {
		N    int64
		Next L18
	}
	L18 struct {
		N    int64
		Next L19
	}
	L19 struct {
		N    int64
		Next L20
	}
	L20 struct {
		N    int64
		Next L21
	}
	L21 struct {
		N    int64
		Next L22
	}
	L22 struct {
		N    int64
		Next L23
	}
	L23 struct {
		N    int64
		Next L24
	}
	L24 struct {
		N    int64
		Next L25
	}
	L25 struct {
		N    int64
		Next L26
	}
	L26 struct {
		N    int64
		Next L27
	}
	L27 struct {
		N    int64
		Next L28
	}
	L28 struct {
		N    int64
		Next L29
	}
	L29 struct {
		N    int64
		Next L30
	}
	L30 struct {
		N    int64
		Next L31
	}
	L31 struct {
		N    int64
		Next L32
	}
	L32 struct {
		N    int64
		Next L33
	}
	L33 struct {
		N    int64
		Next L34
	}
	L34 struct {
		N    int64
		Next L35
	}
	L35 struct {
		N    int64
		Next L36
	}
	L36 struct {
		N    int64
		Next L37
	}
	L37 struct {
		N    int64
		Next L38
	}
	L38 struct {
		N    int64
		Next L39
	}
	L39 struct {
		N    int64
		Next int64
	}
)
