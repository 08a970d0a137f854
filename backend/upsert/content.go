package upsert

import (
	"math"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

// Phrase is the natural key of a keyword or negative within its owner: its
// normalised words and its match type.
type Phrase struct {
	Words string
	Match search.MatchType
}

// Keyword is the value of a keyword. Bid is in micros.
type Keyword struct {
	Text    string
	Enabled bool
	Bid     Optional
	Quality uint8
	Learned backend.Learned
}

// Negative is the value of a negative keyword.
type Negative struct {
	Text    string
	Enabled bool
}

// Content is the natural key of an ad: all of it. Headlines and Descriptions are
// JSON arrays (EncodeTexts).
type Content struct {
	Headlines, Descriptions, Path1, Path2, FinalURL string
}

// Ad is the value of an ad.
type Ad struct {
	Enabled bool
}

// NewKeyword returns the value of a keyword before the patch that creates it.
func NewKeyword() Keyword { return Keyword{Enabled: true, Quality: backend.DefaultQuality} }

// NewNegative is NewKeyword for a negative.
func NewNegative() Negative { return Negative{Enabled: true} }

// NewAd is NewKeyword for an ad.
func NewAd() Ad { return Ad{Enabled: true} }

// KeyOf returns a natural key. Errors: fault.Invalid.
func KeyOf(words string, m search.MatchType) (Phrase, error) {
	if words == "" {
		return Phrase{}, fault.Field(opWrite, "words", "a keyword needs at least one word")
	}
	if m >= search.MatchTypes {
		return Phrase{}, fault.Field(opWrite, "type", "there is no match type %d", m)
	}
	return Phrase{words, m}, nil
}

// ContentOf returns the natural key of an ad. Errors: fault.Invalid.
func ContentOf(p backend.AdPatch) (k Content, err error) {
	k = Content{Path1: p.Path1, Path2: p.Path2, FinalURL: p.FinalURL}
	if k.Headlines, err = EncodeTexts(p.Headlines); err != nil {
		return Content{}, err
	}
	k.Descriptions, err = EncodeTexts(p.Descriptions)
	return k, err
}

// CheckKeyword returns what is wrong with a patch, fault.Invalid.
func CheckKeyword(p backend.KeywordPatch) error {
	if p.Bid.Op == backend.Set && p.Bid.Value > math.MaxInt64 {
		return fault.Field(opWrite, "bid", "a bid of %d micros is too high", p.Bid.Value)
	}
	if p.Quality.Op == backend.Set && (p.Quality.Value < 1 || p.Quality.Value > 10) {
		return fault.Field(opWrite, "quality", "a quality is 1 to 10, not %d", p.Quality.Value)
	}
	if p.Learned.Op == backend.Set && (p.Learned.Value == 0 || !p.Learned.Value.Sound()) {
		return fault.Field(opWrite, "learned", "%d is no learned quality (backend.Learned)", p.Learned.Value)
	}
	return nil
}

// Apply changes a keyword as a patch says that CheckKeyword has passed. words are
// those of its key, whose memory an equal text shares.
func (v *Keyword) Apply(p backend.KeywordPatch, words string) {
	v.Text = sameText(p.Text, words)
	v.Enabled = Enabled(v.Enabled, p.Status)
	v.Bid = applyOptional(v.Bid, p.Bid)
	v.Quality = apply(v.Quality, p.Quality, backend.DefaultQuality)
	v.Learned = apply(v.Learned, p.Learned, 0)
}

// Apply changes a negative as a patch says; words are those of its key.
func (v *Negative) Apply(p backend.NegativePatch, words string) {
	v.Text = sameText(p.Text, words)
	v.Enabled = Enabled(v.Enabled, p.Status)
}

// Apply changes an ad as a patch says.
func (v *Ad) Apply(p backend.AdPatch) { v.Enabled = Enabled(v.Enabled, p.Status) }

func sameText(text, words string) string {
	if text == words {
		return words
	}
	return text
}
