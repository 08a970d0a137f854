package layouts

// Setup is a set of queries to be asked while a layout is measured: one setup
// of an experiment.
type Setup struct {
	Name    string
	Queries []*Query
}
