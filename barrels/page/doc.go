// Package page is the codec of keyword pages: some tens of keyword records of one
// group with the anchors chosen for them. An Encoder writes a page, a Reader
// reads the keywords of one page after the other. Each page has a checksum.
//
// Non-goals: which keywords share a page (package barrels).
package page
