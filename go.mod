module github.com/gopgas/gopgas

go 1.26.0

require (
	github.com/dave/jennifer v1.7.1
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50
	github.com/rogpeppe/go-internal v1.16.0 // tests only
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/mod v0.42.0
	golang.org/x/net v0.61.0 // tests only
	golang.org/x/sys v0.49.0
	golang.org/x/tools v0.52.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect; tests only
	golang.org/x/sync v0.24.0 // indirect
)

tool github.com/gopgas/gopgas/cmd/pgasgen
