// Package templates holds the projects that pgasgen init writes. Each folder is an annotated schema
// with its checked-in generated file, a main and a test: part of this module, so built and tested with
// it, and the generator's golden as well as the user's first program.
package templates

import "embed"

// Starter is the folder starter: the heat equation on a ring of PEs, and what runs it on a cluster: a job of Slurm, an
// image for Kubernetes.
//
//go:embed starter/*.go starter/job.sbatch starter/Containerfile
var Starter embed.FS

// GoVersion is the version of Go that a new project asks for.
const GoVersion = "1.26.0"
