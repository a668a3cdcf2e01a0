// Package jointfile reads and writes files that all members of a team have in common. What one member finds wrong is an
// error on all of them.
//
//	findings.go   Exchange: what each member has found out, or its error
//	open.go       Open: one file that all read
//	write.go      Write: one file of the parts of all
//	part.go       the part of a member
package jointfile
