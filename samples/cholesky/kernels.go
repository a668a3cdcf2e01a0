package main

// What a task does to a tile: LAPACK and BLAS, by gonum. Tiles are square, row after row.

import (
	"fmt"
	"math"
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

// trsm makes tile what it is in the factor, when all updates have been subtracted: tile · diagonal⁻ᵀ.
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

// kind is what a task does.
type kind int

const (
	ofPOTRF kind = iota
	ofTRSM
	ofSYRK
	ofGEMM
)

// flops is how many floating-point operations a task is.
func (k kind) flops(side int) float64 {
	cube := math.Pow(float64(side), 3)
	return [...]float64{ofPOTRF: cube / 3, ofTRSM: cube, ofSYRK: cube, ofGEMM: 2 * cube}[k]
}

// takes is what so many operations take, at so many nanoseconds each.
func takes(flops, nanoseconds float64) time.Duration {
	return time.Duration(math.Round(flops * nanoseconds))
}
