// Package placeholder reads the placeholders that Google defines for the texts of ads, and fills those of
// keywords (serving.md §5.5): {KeyWord:Default} becomes the text of the keyword that matches, in the capitals of
// its own spelling, or its default. A text with another placeholder is never shown, since what it stands for is
// not known here.
//
// Goals: a text without a brace costs one look at its bytes; which texts are shown, and so which ads there are,
// does not depend on the keyword. Non-goals: to fill URLs; to fill dates, places or conditions.
package placeholder
