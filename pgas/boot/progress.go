package boot

// How the progress of a job is shown: a setting that the launcher makes where it has a terminal, and the line by which
// PE 0 tells the launcher what the bar shows.

// Progress is how package progress shows how far the PEs are.
type Progress uint8

// The ways.
const (
	ProgressAuto  Progress = iota // a bar on a terminal, lines elsewhere
	ProgressBar                   // a bar: of the launcher, where standard error is no terminal
	ProgressLines                 // lines now and then
	ProgressOff                   // not at all
)

var progressNames = []string{"auto", "bar", "lines", "off"}

// BarMark begins a line of standard error that says what the launcher's bar shows. On a terminal it clears the line.
const BarMark = "\r\x1b[K"
