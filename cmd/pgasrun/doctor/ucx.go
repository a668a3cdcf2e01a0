package doctor

// AskUCX is the argument that makes pgasdoctor print which UCX it has, as a UCX in JSON, and nothing else: pgasrun
// links none.
const AskUCX = "ucx"

// UCX says which release of UCX a program has. Both are empty without cgo.
type UCX struct {
	Built   string `json:"built"`   // the release of the headers
	Running string `json:"running"` // the version of the library that runs
}
