package quality

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"adshard/fault"
)

// MaxPosition is the highest position of an ad (serving.md §8).
const MaxPosition = 20

// Key names a displayed ad by ids. Ad 0 means that the ad was not recorded. In the key of an estimate,
// trailing ids of 0 mean everything below the last id that is not 0.
type Key struct{ Campaign, Group, Keyword, Ad uint64 }

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Group, b.Group),
		cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Ad, b.Ad))
}

// Cell is the unit by which counts are kept. Day is a number that rises by one per day.
type Cell struct {
	Key
	Position uint8 // from 1
	Day      int32
}

// Count is how often something was shown and clicked. Until all counts are merged there may be more
// clicks than impressions (Refuse): one collector may see a click whose impression was seen by
// another.
type Count struct{ Impressions, Clicks uint64 }

// plus adds counts. It saturates, so that sums are the same in any order.
func (c Count) plus(d Count) Count {
	return Count{sum(c.Impressions, d.Impressions), sum(c.Clicks, d.Clicks)}
}

func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// Counts are what one or more collectors counted. The zero value is empty.
type Counts struct{ places map[place][]daily }

// place is a cell without its day.
type place struct {
	Key
	position uint8
}

func comparePlaces(a, b place) int {
	return cmp.Or(compareKeys(a.Key, b.Key), cmp.Compare(a.position, b.position))
}

// daily is the count of a day.
type daily struct {
	day int32
	Count
}

// Validate returns fault.Invalid if the position is not 1 to MaxPosition, or an id other than the ad's
// is 0.
func (at Cell) Validate() error {
	const op = "quality: add"
	switch {
	case at.Campaign == 0:
		return fault.Field(op, "campaign", "the campaign's id is missing")
	case at.Group == 0:
		return fault.Field(op, "group", "the group's id is missing")
	case at.Keyword == 0:
		return fault.Field(op, "keyword", "the keyword's id is missing")
	case at.Position < 1 || at.Position > MaxPosition:
		return fault.Field(op, "position", "position %d: 1 to %d", at.Position, MaxPosition)
	}
	return nil
}

// Add adds a count to a cell. If it returns an error, which is that of Cell.Validate, nothing has
// changed.
func (c *Counts) Add(at Cell, n Count) error {
	if err := at.Validate(); err != nil {
		return err
	}
	if n != (Count{}) {
		c.add(place{at.Key, at.Position}, daily{at.Day, n})
	}
	return nil
}

func (c *Counts) add(p place, d daily) {
	if c.places == nil {
		c.places = make(map[place][]daily)
	}
	days := c.places[p]
	i, found := slices.BinarySearchFunc(days, d.day, func(d daily, day int32) int { return cmp.Compare(d.day, day) })
	if found {
		days[i].Count = days[i].plus(d.Count)
		return
	}
	c.places[p] = slices.Insert(days, i, d)
}

// Merge adds the counts of another collector.
func (c *Counts) Merge(other *Counts) {
	for p, days := range other.places {
		for _, d := range days {
			c.add(p, d)
		}
	}
}

// Drop removes the days before the given one, so that counts do not grow for ever. After ten
// half-lives a day weighs less than a thousandth.
func (c *Counts) Drop(before int32) {
	maps.DeleteFunc(c.places, func(p place, days []daily) bool {
		i, _ := slices.BinarySearchFunc(days, before, func(d daily, day int32) int { return cmp.Compare(d.day, day) })
		c.places[p] = slices.Delete(days, 0, i)
		return i == len(days)
	})
}

// All yields all cells with counts, in ascending order of key, position and day.
func (c *Counts) All() iter.Seq2[Cell, Count] {
	return func(yield func(Cell, Count) bool) {
		for _, p := range c.sorted() {
			for _, d := range c.places[p] {
				if !yield(Cell{p.Key, p.position, d.day}, d.Count) {
					return
				}
			}
		}
	}
}

func (c *Counts) sorted() []place { return slices.SortedFunc(maps.Keys(c.places), comparePlaces) }

// Excess is an ad in a position with more clicks than impressions.
type Excess struct {
	Key
	Position uint8
	Count
}

// Refuse removes and returns the ads with more clicks than impressions in a position over all days. A
// click may be counted on a different day than its impression, but cannot happen without one. So columns
// must have been swapped or impressions lost. The order is that of All.
func (c *Counts) Refuse() (list []Excess) {
	for _, p := range c.sorted() {
		var all Count
		for _, d := range c.places[p] {
			all = all.plus(d.Count)
		}
		if all.Clicks > all.Impressions {
			list = append(list, Excess{p.Key, p.position, all})
			delete(c.places, p)
		}
	}
	return list
}
