package ckpt

import "github.com/gopgas/gopgas/internal/cuts"

// A Store keeps files by name, such as those of a directory or the objects of a bucket. All PEs use a Store at the same
// time, each on its host, and all must see the same files. A name has parts of letters, digits and "-._", with a slash
// between two parts. The methods may be called by any number of goroutines. Their errors are those of what keeps the
// files.
type Store = cuts.Store

// A Writer writes a file of a Store.
type Writer = cuts.Writer

// A Reader reads a file of a Store.
type Reader = cuts.Reader

// A Cut is a moment between two barriers, at which all PEs have saved. The zero Cut is none.
type Cut = cuts.Cut

// Dir returns a Store that keeps files in a directory, which all hosts must have in common. The directory is made if it
// is missing, and nobody but its owner may read the files.
//
// A file is written under another name, flushed to the disk and renamed, and then its folder is flushed.
func Dir(path string) Store { return cuts.Dir(path) }
