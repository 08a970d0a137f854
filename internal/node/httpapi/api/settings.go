package api

// Setting is a property that an item has, for people.
type Setting struct {
	Name, Label string // in JSON, and in words
	Value       string // as `adshard set` takes it
	Number      bool
}
