module github.com/gopgas/gopgas/samples/cholesky

go 1.26.0

require (
	github.com/gopgas/gopgas v0.1.0
	gonum.org/v1/gonum v0.17.0
)

require golang.org/x/sys v0.49.0 // indirect
