# What a developer types. The README has the two commands of a user.

.PHONY: build test bench bench-peers

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
