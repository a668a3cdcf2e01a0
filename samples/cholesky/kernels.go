package main

// What a task does to a tile: LAPACK and BLAS, by gonum. Tiles are square, row after row.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

func general(tile []float64, side int) blas64.General {
	return blas64.General{Rows: side, Cols: side, Stride: side, Data: tile}
}

func lower(tile []float64, side int) blas64.Symmetric {
	return blas64.Symmetric{N: side, Stride: side, Data: tile, Uplo: blas.Lower}
}

func triangle(tile []float64, side int) blas64.Triangular {
	return blas64.Triangular{N: side, Stride: side, Data: tile, Uplo: blas.Lower, Diag: blas.NonUnit}
}

// potrf factors a tile of the diagonal.
func potrf(tile []float64, side int) error {
	if _, ok := lapack64.Potrf(lower(tile, side)); !ok {
		return fmt.Errorf("the matrix is not positive definite")
	}
	return nil
}

// trsm computes the tile of the factor, when all updates have been subtracted: tile · diagonal⁻ᵀ.
func trsm(tile, diagonal []float64, side int) {
	blas64.Trsm(blas.Right, blas.Trans, 1, triangle(diagonal, side), general(tile, side))
}

// syrk subtracts a · aᵀ from a tile of the diagonal.
func syrk(tile, a []float64, side int) {
	blas64.Syrk(blas.NoTrans, -1, general(a, side), 1, lower(tile, side))
}

// gemm subtracts a · bᵀ from tile.
func gemm(tile, a, b []float64, side int) {
	blas64.Gemm(blas.NoTrans, blas.Trans, -1, general(a, side), general(b, side), 1, general(tile, side))
}

// kind is the kind of a task.
type kind int

const (
	ofPOTRF kind = iota
	ofTRSM
	ofSYRK
	ofGEMM
)

// flops returns the number of floating-point operations of a task.
func (k kind) flops(side int) float64 {
	cube := math.Pow(float64(side), 3)
	return [...]float64{ofPOTRF: cube / 3, ofTRSM: cube, ofSYRK: cube, ofGEMM: 2 * cube}[k]
}

// costs are nanoseconds of a floating-point operation, by the kind of task that it is of.
type costs [ofGEMM + 1]float64

// takes returns the time of a task.
func (c costs) takes(k kind, side int) time.Duration {
	return time.Duration(math.Round(k.flops(side) * c[k]))
}

// String returns c as Set reads it.
func (c *costs) String() string {
	words := make([]string, len(c))
	for i, cost := range c {
		words[i] = strconv.FormatFloat(cost, 'g', -1, 64)
	}
	return strings.Join(words, ",")
}

// Set reads the costs of a flag: one for all kinds of tasks, or one for each.
func (c *costs) Set(text string) error {
	words := strings.Split(text, ",")
	if len(words) != 1 && len(words) != len(c) {
		return fmt.Errorf("give one number, or %d divided by commas", len(c))
	}
	for i := range c {
		cost, err := strconv.ParseFloat(words[i%len(words)], 64)
		if err != nil || !(cost >= 0 && cost <= 1e6) {
			return fmt.Errorf("%q: give nanoseconds from 0 to 1e6", words[i%len(words)])
		}
		c[i] = cost
	}
	return nil
}
