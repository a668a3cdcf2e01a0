package containers

import (
	"bytes"
	"fmt"
	"io"
)

// NPYHead describes the head at the start of a file, and returns how many bytes the head has. again is the same head as
// SaveNPY would write it.
func NPYHead(file []byte) (text string, n int64, again []byte, err error) {
	h, n, err := readNPYHead(bytes.NewReader(file))
	if err != nil {
		return "", 0, nil, err
	}
	return fmt.Sprintf("%v, Fortran order %t", &h, h.fortran), n, h.encode(), nil
}

// ReadNPYHead reads a head.
func ReadNPYHead(r io.Reader) error {
	_, _, err := readNPYHead(r)
	return err
}
