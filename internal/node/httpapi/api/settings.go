package api

// Setting is a property of an item, in a form for people.
type Setting struct {
	Name, Label string // the name in JSON, and in words
	Value       string // as `adshard set` accepts it
	Number      bool
}
