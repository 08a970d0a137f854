// Package display is the format of what an answer shows of a hit: texts, encoded once as JSON when
// a slave reads them, and copied from there into the answer.
//
// Each hit has two pieces (Pieces). One is the keyword's text, a JSON string. The other holds what
// all keywords of an ad group share, a JSON array of seven values:
//
//	["advertiser","campaign","ad group",["headline",…],["description",…],"path","final URL"]
//
// Both are without white space. Their strings are byte for byte what encoding/json writes without
// HTML escapes: bytes that are not UTF-8 become \ufffd, and U+2028 and U+2029 are escaped.
//
// Goals: no text is decoded or encoded on the way from a slave's cache to the HTTP answer; a
// damaged or forged piece is recognised before it gets into an answer (Pieces.Values). Non-goals:
// JSON of any other form.
package display
