// Package display is the format of what an answer shows of a hit: texts, encoded once as JSON when
// a slave reads them, and copied from there into the answer.
//
// Two pieces belong to a hit (Pieces). One is a JSON string, the keyword's text.
// The other is what all keywords of an ad group share, a JSON array of seven
// values:
//
//	["advertiser","campaign","ad group",["headline",…],["description",…],"path","final URL"]
//
// Both are without white space, and their strings are those that encoding/json
// writes without HTML escapes, byte for byte: bytes that are not UTF-8 become
// \ufffd, U+2028 and U+2029 are escaped.
//
// Goals: no text is decoded or encoded on the way from a slave's cache to the
// HTTP answer; a piece that is damaged or made up is recognised before it gets
// into one (Pieces.Values). Non-goals: JSON of any other form.
package display
