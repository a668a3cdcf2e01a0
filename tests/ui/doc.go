// Package ui looks at the page of pgasrun -ui with a browser. It is a module of its own, so that nothing else depends
// on what drives one.
//
//	GOWORK=off go test .                 seconds; without Chromium it is skipped
//	GOWORK=off go test . -shots DIR      leaves pictures of the page in DIR
package ui
