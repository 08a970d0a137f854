// Package places is the table of places that targeting names: countries, regions, cities. Its rows are
// those of Google's geotargets; the 249 countries of ISO 3166-1 are built in ([Countries]).
//
// A [Table] does not change: [Table.With] returns another one. [Table.Resolve] turns the places of a request into all
// that contain them, with their depths; [Names] finds a place by its name, as files name it, and [Table.Find] by words,
// as people do. A table is written as text ([Table.Text]), of which its version is a hash; [Parse] reads it.
//
// Goals: exact, and small in memory (a table of 270,000 places needs some 30 MB). Non-goals: coordinates and borders.
package places
