# What a developer types. The README has the two commands of a user.

MODULES = cmd/pgasbench pgas/metrics/collector samples/bucket samples/cholesky

.PHONY: build test tidy bench bench-peers bench-peers-debian13

# The programs, in bin/.
build:
	go build -o bin/ ./cmd/... ./cmd/pgasbench

# work: the packages of all modules of go.work.
test:
	go vet work
	go test work

# The go.mod files of the modules that require this one, whose version is that of the next release.
tidy:
	GOWORK=off go mod tidy
	for m in $(MODULES); do (cd $$m && top=$$(git rev-parse --show-cdup) && go mod edit -replace github.com/gopgas/gopgas=$$top && \
		GOWORK=off go mod tidy; go mod edit -dropreplace github.com/gopgas/gopgas) || exit; done

# Every operation between two PEs of this host: ARGS='-bench put -sizes 8'
bench: build
	bin/pgasrun -n 2 bin/pgasbench $(ARGS)

# Ours against OSHMEM, UCX and the machine's floor, alternating in one run: ARGS="-rows '^two hosts'"
bench-peers: build
	bin/pgasbench compare -source . $(ARGS)

# The same in a Debian 13, whose peers are newer, as root: it is made in the cache of the user the first time.
bench-peers-debian13:
	go build -o bin/ci ./tests/ci
	bin/ci debian13 go run ./cmd/pgasbench compare -source . $(ARGS)
