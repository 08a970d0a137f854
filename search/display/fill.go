package display

import (
	"adshard/search/placeholder"
)

// HasPlaceholders reports whether the displayed texts of the ad depend on the keyword.
func (a *Ad) HasPlaceholders() bool {
	return placeholder.Of(a.Path1) == placeholder.Keyword || placeholder.Of(a.Path2) == placeholder.Keyword ||
		anyFilled(a.Headlines) || anyFilled(a.Descriptions)
}

func anyFilled(list []string) bool {
	for _, s := range list {
		if placeholder.Of(s) == placeholder.Keyword {
			return true
		}
	}
	return false
}

// Filled returns the ad with its placeholders replaced by a keyword's text. defaults lists the
// filled texts that contain a default instead. Texts that would be blank are left out.
func (a *Ad) Filled(keyword string) (filled Ad, defaults []string) {
	f := filler{keyword: keyword}
	filled = *a
	filled.Headlines = f.list(a.Headlines, placeholder.MostHeadline)
	filled.Descriptions = f.list(a.Descriptions, placeholder.MostDescription)
	filled.Path1 = f.text(a.Path1, placeholder.MostPath)
	filled.Path2 = f.text(a.Path2, placeholder.MostPath)
	return filled, f.defaults
}

// filler fills the texts of one ad.
type filler struct {
	keyword  string
	defaults []string
}

func (f *filler) text(s string, most int) string {
	filled, standsIn := placeholder.Fill(s, f.keyword, most)
	if placeholder.Blank(filled) {
		return ""
	}
	if standsIn {
		f.defaults = append(f.defaults, filled)
	}
	return filled
}

func (f *filler) list(texts []string, most int) []string {
	out := make([]string, 0, len(texts))
	for _, s := range texts {
		if s = f.text(s, most); s != "" {
			out = append(out, s)
		}
	}
	return out
}
