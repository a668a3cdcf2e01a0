//go:build !amd64 && !arm64

package sim

func prefetchLines(uintptr, int) {}

func prefetchEach(*uintptr, int) {}

func currentG() uintptr { return 0 }
