// Package documents keeps the documents of the database (backend.Document) in masters and slaves: the table of places and
// block lists. The balancer announces their versions; a [Follower] fetches what has changed, in parts, and keeps the
// old content meanwhile.
//
// A document is replaced whole: requests that have the old one continue with it. When the balancer is away,
// all stay as they are.
package documents
