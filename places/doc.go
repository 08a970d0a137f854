// Package places is the table of places that targeting names: countries, regions, cities. Its rows have the form of
// Google's geotargets. The 249 countries of ISO 3166-1 are built in ([Countries]).
//
// A [Table] does not change: [Table.With] returns a new one. [Table.Resolve] returns the places of a request and all
// places that contain them, with their depths. [Names] finds a place by its name as files write it, and [Table.Find] by
// words, as people do. A table is written as text ([Table.Text]), and its version is a hash of the text. [Parse] reads
// the text.
//
// Goals: exact, and small in memory (a table of 270,000 places needs some 30 MB). Non-goals: coordinates and borders.
package places
