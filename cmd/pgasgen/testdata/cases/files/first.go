// Package files has marked structs in several files, one of them for Linux only.
package files

//pgas:symmetric
type B struct{ Second B2 }

//pgas:symmetric
type B2 struct{ Value int64 }
