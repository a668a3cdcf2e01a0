package dsm

// What accessors call that pgasgen writes for structs under //pgas:coherent: one field of one element is stored without
// a load of the others.

import "unsafe"

// GeneratedFor1 is the version of the calls of generated code: a file that was generated for another does not compile.
const GeneratedFor1 = 1

// SetField stores v in the field of element i that is at that offset and has type F. It is for generated code, which
// knows both. The next release of this PE publishes it. It panics as View does.
func SetField[T, F any](a Array[T], i int, field uintptr, v F) {
	if a.checks != nil && a.checks.r.memory.soft != nil {
		setFieldSoft(a, i, field, v)
		return
	}
	*(*F)(unsafe.Add(unsafe.Pointer(a.Write(i)), field)) = v
}

// setFieldSoft stores v while no fence of another goroutine can take the block from it.
func setFieldSoft[T, F any](a Array[T], i int, field uintptr, v F) {
	for {
		p := unsafe.Pointer(a.Write(i))
		a.checks.r.memory.soft.mu.Lock()
		ok := a.writable(i)
		if ok {
			*(*F)(unsafe.Add(p, field)) = v
		}
		a.checks.r.memory.soft.mu.Unlock()
		if ok {
			return
		}
	}
}
