// Package documents keeps documents of the database (backend.Document) in masters and slaves: the table of places and
// block lists. The balancer announces the versions of documents. Small documents come with the announcement; a [Follower]
// fetches others in parts. Meanwhile the old content is kept.
//
// A document is replaced as a whole: requests that use the old one continue with it. When the balancer is away, all
// documents stay as they are.
package documents
