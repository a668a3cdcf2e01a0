//go:build !purego || amd64

package files

//pgas:symmetric
type A struct{ First int64 }
