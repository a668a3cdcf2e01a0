// Package compare runs pgasbench and the programs of tests/peers in turn, several times in one run, and
// prints for each row of the table of goals: ours, theirs, the ratio, the goal, and whether it is
// reached.
//
// A machine is never quiet for long, so only ratios within a round count: in each round both sides of a
// row are measured one after the other, and the row's ratio is the median of the rounds'. No absolute
// time decides anything.
//
// rows.go is the table of goals; suites.go says which programs measure which rows; children.go starts
// them; hosts.go makes two hosts out of network namespaces; report.go judges and prints.
package compare
