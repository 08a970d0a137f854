// Package placeholder reads the placeholders that Google defines for the texts of ads, and fills
// the keyword placeholders (serving.md §5.5): {KeyWord:Default} becomes the text of the matching
// keyword, capitalised like its own spelling, or its default. A text with any other placeholder is
// never shown, since its value is not known here.
//
// Goals: a text without a brace costs one scan of its bytes; which texts are shown, and so which
// ads exist, does not depend on the keyword. Non-goals: filling URLs; dates, places or conditions.
package placeholder
