package pgas

// What package dsm needs of a World beside the API: the environment's settings for coherent regions.

// CoherentSettings are the settings of the environment for coherent regions (package dsm).
type CoherentSettings struct {
	Mode  string // PGAS_DSM: auto, shared, paged or soft
	Stats bool   // PGAS_DSM_STATS: PE 0 prints the statistics of a region that closes
}

// CoherentSettings returns the settings of the environment for coherent regions. They are the same on every PE that a
// launcher has started.
func (w *World) CoherentSettings() CoherentSettings {
	w.mustBeOpen("World.CoherentSettings")
	s := &w.n.Job.Settings
	return CoherentSettings{Mode: s.DSM.String(), Stats: s.DSMStats}
}
