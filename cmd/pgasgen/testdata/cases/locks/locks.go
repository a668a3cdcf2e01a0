// Package locks has records with locks in them.
package locks

import "github.com/gopgas/gopgas/pgas"

// Account holds words that its locks protect.
//
//pgas:symmetric
type Account struct {
	Guard   pgas.Lock
	Balance int64
	Doors   [2][3]pgas.Lock
}
