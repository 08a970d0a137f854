package train

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"adshard/auction"
	"adshard/fault"
	"adshard/quality"
	"adshard/quality/countfile"
)

// MaxCells is the number of different counts that a Set can hold, about a gigabyte.
const MaxCells = 2 << 20

// Row is a count of an ad.
type Row struct {
	Keyword, Ad uint64
	Position    uint8 // from 1
	Day         int32 // since 1970-01-01
	quality.Count
	// Request has the values that Says marks. Its weekday is not used; that of the day is.
	Request auction.Situation
	Says    countfile.Says
}

// Keyword is what the database has about a keyword.
type Keyword struct {
	Group uint64
	auction.Features
}

// Set holds counts. The zero value is empty.
type Set struct {
	cells       map[cell]quality.Count
	sites       map[string]string
	says        countfile.Says // what all rows have
	first, last int32          // first and last day
	keywords    map[uint64]Keyword
}

// cell is the unit by which counts are kept.
type cell struct {
	keyword, ad uint64
	position    uint8
	request     auction.Situation
}

func (a cell) compare(b cell) int {
	x, y := &a.request, &b.request
	return cmp.Or(cmp.Compare(a.keyword, b.keyword), cmp.Compare(a.ad, b.ad), cmp.Compare(a.position, b.position),
		cmp.Compare(x.Device, y.Device), cmp.Compare(x.Hour, y.Hour), cmp.Compare(x.Weekday, y.Weekday), cmp.Compare(x.Words, y.Words),
		strings.Compare(x.Site, y.Site))
}

// Add adds a row, whose position must be 1 to quality.MaxPosition. It returns fault.Invalid if there are more than
// MaxCells cells.
func (s *Set) Add(r *Row) error {
	if s.cells == nil {
		*s = Set{cells: make(map[cell]quality.Count), sites: make(map[string]string), says: r.Says, first: r.Day, last: r.Day, keywords: make(map[uint64]Keyword)}
	}
	s.says = countfile.Says{
		Device: s.says.Device && r.Says.Device, Hour: s.says.Hour && r.Says.Hour,
		QueryWords: s.says.QueryWords && r.Says.QueryWords, Site: s.says.Site && r.Says.Site,
	}
	s.first, s.last = min(s.first, r.Day), max(s.last, r.Day)
	c := cell{r.Keyword, r.Ad, r.Position, r.Request}
	c.request.Weekday = weekday(r.Day)
	c.request.Site = s.site(r.Request.Site)
	n, known := s.cells[c]
	if !known && len(s.cells) == MaxCells {
		return fault.Newf(fault.Invalid, "train", "there are more than %d different counts: name fewer days, or files with fewer columns of requests", MaxCells)
	}
	s.cells[c] = quality.Count{Impressions: sum(n.Impressions, r.Impressions), Clicks: sum(n.Clicks, r.Clicks)}
	s.keywords[r.Keyword] = Keyword{}
	return nil
}

// site keeps one copy of a site, since the text may be a part of a line.
func (s *Set) site(text string) string {
	kept, known := s.sites[text]
	if !known {
		kept = strings.Clone(text)
		s.sites[kept] = kept
	}
	return kept
}

// sum adds two numbers. It saturates, so that sums are the same in any order.
func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// weekday returns the weekday of a day, with 0 for Sunday. 1970-01-01 was a Thursday.
func weekday(day int32) uint8 { return uint8((int64(day)%7 + 7 + 4) % 7) }

// Days returns the first and the last day.
func (s *Set) Days() (first, last int32) { return s.first, s.last }

// Wants reports whether the set has counts of a keyword.
func (s *Set) Wants(keyword uint64) bool {
	_, wanted := s.keywords[keyword]
	return wanted
}

// Know sets what the database has about a keyword of the set. Counts of other keywords are left out.
func (s *Set) Know(keyword uint64, k Keyword) { s.keywords[keyword] = k }

// unknown returns the number of keywords about which nothing is known.
func (s *Set) unknown() (n int) {
	for _, k := range s.keywords {
		if k == (Keyword{}) {
			n++
		}
	}
	return n
}

// known returns the cells of known keywords in a fixed order, and the same counts, without days, in the form of
// package quality. It leaves out ads with more clicks than impressions, and returns them as refused.
func (s *Set) known() (list []cell, counts *quality.Counts, refused []quality.Excess, err error) {
	counts = new(quality.Counts)
	for c, n := range s.cells {
		if s.keywords[c.keyword] == (Keyword{}) {
			continue
		}
		if err := counts.Add(s.place(c), n); err != nil {
			return nil, nil, nil, err
		}
		list = append(list, c)
	}
	refused = counts.Refuse()
	gone := make(map[quality.Cell]bool)
	for _, x := range refused {
		gone[quality.Cell{Key: x.Key, Position: x.Position}] = true
	}
	list = slices.DeleteFunc(list, func(c cell) bool { return gone[s.place(c)] })
	slices.SortFunc(list, cell.compare)
	return list, counts, refused, nil
}

// place returns where a cell was counted.
func (s *Set) place(c cell) quality.Cell {
	k := s.keywords[c.keyword]
	return quality.Cell{Key: quality.Key{Campaign: k.Campaign, Group: k.Group, Keyword: c.keyword, Ad: c.ad}, Position: c.position}
}
