// Package raw has not been generated for; it is no case of its own.
package raw

//pgas:symmetric
type Lock struct {
	Tail int64 `pgas:"atomic"`
}
