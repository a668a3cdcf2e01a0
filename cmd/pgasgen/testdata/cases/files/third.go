package files

// Nothing here is marked, and pgas: in prose is no directive.
type C struct{ S string }
