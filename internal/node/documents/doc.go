// Package documents keeps the documents of the database (backend.Document) in masters and slaves: the table of places and
// block lists. The balancer announces their versions; small documents come with that, and a [Follower]
// fetches others in parts. The old content is kept meanwhile.
//
// A document is replaced whole: requests that have the old one continue with it. When the balancer is away,
// all stay as they are.
package documents
