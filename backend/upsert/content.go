package upsert

import (
	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

// Phrase is the natural key of a keyword or negative within its owner: its normalised words and its match type.
type Phrase struct {
	Words string
	Match search.MatchType
}

const opWrite = "write" // the operation in errors

// Keyword is the value of a keyword.
type Keyword struct {
	Text string
	backend.KeywordSettings
}

// Negative is the value of a negative keyword.
type Negative struct {
	Text    string
	Enabled bool
}

// Content is the natural key of an ad: all of its content. Headlines and Descriptions are JSON arrays (EncodeTexts).
type Content struct {
	Headlines, Descriptions, Path1, Path2, FinalURL string
}

// Ad is the value of an ad.
type Ad struct {
	Enabled bool
}

// NewNegative returns the value of a new negative before its patch is applied.
func NewNegative() Negative { return Negative{Enabled: true} }

// NewAd returns the value of a new ad before its patch is applied.
func NewAd() Ad { return Ad{Enabled: true} }

// KeyOf returns a natural key, or fault.Invalid if there is no word or no such match type.
func KeyOf(words string, m search.MatchType) (Phrase, error) {
	if words == "" {
		return Phrase{}, fault.Field(opWrite, "words", "a keyword needs at least one word")
	}
	if m >= search.MatchTypes {
		return Phrase{}, fault.Field(opWrite, "type", "there is no match type %d", m)
	}
	return Phrase{words, m}, nil
}

// ContentOf returns the natural key of an ad, or fault.Invalid if its texts cannot be encoded.
func ContentOf(p backend.AdPatch) (k Content, err error) {
	k = Content{Path1: p.Path1, Path2: p.Path2, FinalURL: p.FinalURL}
	if k.Headlines, err = EncodeTexts(p.Headlines); err != nil {
		return Content{}, err
	}
	k.Descriptions, err = EncodeTexts(p.Descriptions)
	return k, err
}

// Apply applies a patch, whose Check has passed, to a keyword. words are the words of its key; if its text is equal, it shares
// their memory.
func (v *Keyword) Apply(p backend.KeywordPatch, words string) {
	if v.KeywordSettings.Apply(&p) == nil {
		v.Text = sameText(p.Text, words)
	}
}

// Apply applies a patch to a negative. words are the words of its key.
func (v *Negative) Apply(p backend.NegativePatch, words string) {
	v.Text = sameText(p.Text, words)
	v.Enabled = p.Status.Of(v.Enabled)
}

// Apply applies a patch to an ad.
func (v *Ad) Apply(p backend.AdPatch) { v.Enabled = p.Status.Of(v.Enabled) }

func sameText(text, words string) string {
	if text == words {
		return words
	}
	return text
}
