// Package ssh runs jobs over a real sshd: in each of a few network namespaces one of its own, with keys and a
// configuration that exist for the test only. See docs/use/ssh.md.
//
//ci:waits
package ssh
