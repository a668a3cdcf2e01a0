//go:build !amd64 && !arm64

package coll

import "unsafe"

func prefetchToWrite(unsafe.Pointer) {}
