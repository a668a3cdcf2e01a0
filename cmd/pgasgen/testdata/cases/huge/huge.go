// Package huge has a struct that no machine holds.
package huge

//pgas:symmetric
type Huge struct {
	Rows [1 << 21][1 << 20]byte
}
