package search

import (
	"strconv"
	"strings"

	"adshard/fault"
)

// Wanted names keywords to be explained, whether they match or not: one keyword, or those of an
// advertiser. The zero Wanted names none.
type Wanted struct {
	Keyword        uint64 // id
	Advertiser     uint64 // id
	AdvertiserName string
}

// advertiserPrefix is written before the id of an advertiser.
const advertiserPrefix = "advertiser:"

// ParseWanted reads the id of a keyword, "advertiser:" with the id of an advertiser, or else the
// name of an advertiser. It returns fault.Invalid with the given field if the text is none of
// these.
func ParseWanted(field, text string) (w Wanted, err error) {
	text = strings.TrimSpace(text)
	number, of := strings.CutPrefix(text, advertiserPrefix)
	id, err := strconv.ParseUint(number, 10, 64)
	switch {
	case text == "" || err == nil && id == 0:
		return w, fault.Field("search: explain", field, "name a keyword by its id, or an advertiser by its name or as %sID", advertiserPrefix)
	case err == nil && of:
		return Wanted{Advertiser: id}, nil
	case err == nil:
		return Wanted{Keyword: id}, nil
	}
	return Wanted{AdvertiserName: text}, nil
}

// Any reports whether any keywords are named.
func (w Wanted) Any() bool { return w != Wanted{} }

// Has reports whether an explained keyword is one of those named.
func (w Wanted) Has(e *Explained) bool {
	switch {
	case w.Keyword != 0:
		return e.Keyword == w.Keyword
	case w.Advertiser != 0:
		return e.Advertiser == w.Advertiser
	}
	return e.AdvertiserName == w.AdvertiserName
}
