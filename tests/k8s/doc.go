// Package k8s compares what `pgasrun k8s` prints with Kubernetes' own types and checks. It is a module of its
// own, so that nothing else depends on Kubernetes.
//
//	GOWORK=off go test .                     the fields and their types, as k8s.io/api has them: seconds
//	GOWORK=off go test -tags apiserver .     what the API server checks before it creates an object, too: a minute to compile
package k8s
