package corpus

import (
	"strconv"
	"strings"
)

// maxTokens is the most tokens of a recombined title.
const maxTokens = 14

// shape makes titles for rounds after the first.
type shape struct {
	items []item
	words *lexicon
	dice  dice
	demo  bool // Options.Demo
}

// title returns an item's title and its tokens in a round.
func (s *shape) title(number, round int) (title string, tokens []string) {
	it := &s.items[number]
	if round == 0 || s.demo {
		return it.title, tokensOf(it.title)
	}
	ids := s.recombined(int32(number))
	tokens = make([]string, len(ids))
	for i, id := range ids {
		tokens[i] = s.words.tokens[id]
		if s.words.modelNumber(id) {
			tokens[i] = s.remodelled(tokens[i])
		}
	}
	return strings.Join(tokens, " "), tokens
}

// recombined returns the beginning of a title up to one of its words, followed by the rest of another title with that
// word.
func (s *shape) recombined(number int32) []int32 {
	ids := s.items[number].words
	if len(ids) == 0 {
		return ids
	}
	for range 4 {
		at := s.dice.IntN(len(ids))
		places := s.words.where[ids[at]]
		if len(places) < 2 {
			continue
		}
		p := pick(s.dice, places)
		if p.item == number || s.items[p.item].czech != s.items[number].czech {
			continue
		}
		tail := s.items[p.item].words[p.pos+1:]
		out := append(append(make([]int32, 0, at+1+len(tail)), ids[:at+1]...), tail...)
		if len(out) < 2 {
			continue
		}
		return out[:min(len(out), maxTokens)]
	}
	return ids[:min(len(ids), maxTokens)]
}

// remodelled returns another model number of the same form.
func (s *shape) remodelled(token string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return rune('0' + s.dice.IntN(10))
		case r >= 'A' && r <= 'Z':
			return rune('A' + s.dice.IntN(26))
		case r >= 'a' && r <= 'z':
			return rune('a' + s.dice.IntN(26))
		}
		return r
	}, token)
}

// advertiser returns the advertiser of an item in a round. In round 0 that is the item's own. In each later round 40 %
// of the advertisers keep their items; all items of each of the others go to one new advertiser.
func advertiser(it *item, seed uint64, round int) string {
	if round == 0 || mix(seed^hashOf(it.advertiser), uint64(round))%100 < 40 {
		return it.advertiser
	}
	return it.advertiser + " " + places[mix(seed, hashOf(it.advertiser)+uint64(round))%uint64(len(places))] +
		" " + strconv.Itoa(round)
}

// places has words for the names of new advertisers.
var places = []string{"Outlet", "Store", "Direct", "Online", "Market", "Shop", "Praha", "Brno", "London", "Berlin",
	"Partner", "Trade", "World", "Express", "Center", "Depot"}
