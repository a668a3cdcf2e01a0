# What a developer types. The README has the two commands of a user.

.PHONY: build test bench bench-peers bench-peers-debian13

# The programs, in bin/.
build:
	go build -o bin/ ./cmd/...

test:
	go vet ./...
	go test ./...

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
