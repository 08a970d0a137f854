package layouts

// Setup is what is asked while a layout is measured: one setup of an
// experiment.
type Setup struct {
	Name    string
	Queries []*Query
}
