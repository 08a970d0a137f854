// Package page is the codec of keyword pages. A page has some tens of keyword records of one group,
// with the anchors chosen for them, as a message (pb.KeywordPage) with a checksum. An Encoder
// writes a page. A Reader reads the keywords of one page after the other, field by field, since
// decoding the whole message would allocate each column.
//
// Non-goals: which keywords share a page (package barrels).
package page
