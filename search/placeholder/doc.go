// Package placeholder reads the placeholders that Google defines for the texts of ads, and fills
// the keyword placeholders (serving.md §5.5): {KeyWord:Default} becomes the text of the matching
// keyword, capitalised as the word "KeyWord" is written, or its default. A text with any other
// placeholder is never shown, since the value is not known here.
//
// Goals: a text without a brace costs one scan of its bytes; the keyword does not change which
// texts are shown, and so which ads exist. Non-goals: filling URLs; dates, places or conditions.
package placeholder
