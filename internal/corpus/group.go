package corpus

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

func hashOf(s string) uint64 { return xxhash.Sum64String(s) }

// qualities has the mix of quality scores; "" means the default.
var qualities = [...]string{"1", "2", "3", "3", "4", "4", "5", "5", "5", "6", "6", "6", "7", "7", "7", "8", "8", "9", "10", ""}

// groupMaker writes the rows of groups, one group after the other, and keeps the keywords of the newest group.
type groupMaker struct {
	seed     uint64
	perGroup int
	specific bool
	shape    shape
	sheet    *sheet
	keywords keywordMaker

	made              Group           // the newest group
	account, campaign string          // of the newest row
	names             map[string]bool // names of the groups of the newest campaign in this round
}

// write writes the group of an item in a round, with at most `limit` keywords. It returns the number of keywords, or
// 0 if nothing was written.
func (m *groupMaker) write(number, round int, limit int64) int64 {
	d := m.shape.dice
	d.reset(m.seed, round, number)
	it := &m.shape.items[number]
	title, tokens := m.shape.title(number, round)
	size := pick(d, groupSizes[:]) * m.perGroup / keywordsPerGroup
	keywords := m.keywords.make(d, it, tokens, int(min(limit, int64(max(1, size)))))
	if len(keywords) == 0 {
		return 0
	}
	account, campaign := advertiser(it, m.seed, round), it.campaign
	if m.shape.demo {
		account, campaign = it.demoNames(round)
	}
	if account != m.account || campaign != m.campaign {
		m.account, m.campaign = account, campaign
		m.names = make(map[string]bool)
		m.writeCampaign(it, round)
	}
	name := m.groupName(title, round)
	base := bidOf(d, it)
	m.made = Group{Advertiser: account, Campaign: campaign, Name: name, Bid: base, Keywords: m.made.Keywords[:0]}
	m.writeGroup(name, base)
	m.writeAds(it, name, title, number)
	for i := range keywords {
		m.writeKeyword(name, &keywords[i], base)
	}
	if d.chance(40) {
		other := m.shape.items[d.IntN(len(m.shape.items))].words
		if len(other) > 0 {
			m.writeNegative(name, m.shape.words.tokens[other[len(other)-1]], "Negative "+pick(d, matchTypes))
		}
	}
	return int64(len(keywords))
}

// groupName returns the title, with a number if the campaign already has a group of that name.
func (m *groupMaker) groupName(title string, round int) string {
	name := clip(title, 80)
	numbered := round > 0 && !m.shape.demo // there, each round has advertisers of its own
	if numbered {
		name = fmt.Sprintf("%s r%d", name, round)
	}
	for n := 2; m.names[name]; n++ {
		name = fmt.Sprintf("%s (%d)", clip(title, 80), n)
		if numbered {
			name = fmt.Sprintf("%s r%d", name, round)
		}
	}
	m.names[name] = true
	return name
}

// begin starts a row of the newest campaign.
func (m *groupMaker) begin(name string) *[cells]string {
	row := &m.sheet.row
	row[account], row[campaign], row[group] = m.account, m.campaign, name
	return row
}

func (m *groupMaker) writeCampaign(it *item, round int) {
	d := newDice()
	d.pcg.Seed(m.seed, mix(hashOf(m.account), hashOf(m.campaign)))
	row := m.begin("")
	row[budget] = fmt.Sprint(10 * d.uneven(10))
	row[languages] = it.languages
	row[campaignStatus] = pausedOf(d, 5)
	if d.chance(100) {
		row[rotation] = "Rotate evenly"
	}
	if d.chance(150) {
		row[mobile] = pick(d, modifiers[:])
	}
	if d.chance(50) {
		row[tablet] = pick(d, modifiers[:])
	}
	m.sheet.write()
	if first := round == 0 || m.account != it.advertiser; first && d.chance(200) {
		words := unwanted[:]
		if it.czech {
			words = unwantedCs[:]
		}
		for range 1 + d.IntN(3) {
			m.writeNegative("", pick(d, words), "Campaign Negative "+pick(d, matchTypes))
		}
	}
}

// modifiers has the mix of bid modifiers in per cent; −100 turns the device off.
var modifiers = [...]string{"-100", "-50", "-30", "-20", "-20", "-10", "-10", "-5", "0", "5", "10", "10", "15", "20", "20", "30", "50", "12.5"}

// unwanted has words for which shops do not want to be found.
var (
	unwanted   = [...]string{"free", "used", "jobs", "manual", "open source", "driver download", "repair", "second hand", "rental", "recall"}
	unwantedCs = [...]string{"zdarma", "bazar", "práce", "návod", "oprava", "půjčovna", "použité", "inzerce"}
)

func (m *groupMaker) writeGroup(name string, base int) {
	d := m.shape.dice
	row := m.begin(name)
	row[maxCPC] = money(base)
	row[groupStatus] = pausedOf(d, 10)
	if d.chance(100) {
		row[mobile] = pick(d, modifiers[:])
	}
	if d.chance(20) {
		row[desktop] = pick(d, modifiers[:])
	}
	m.sheet.write()
}

func (m *groupMaker) writeKeyword(name string, k *draftKeyword, base int) {
	d := m.shape.dice
	row := m.begin(name)
	row[keywordText], row[criterion] = k.text, k.match
	row[quality] = pick(d, qualities[:])
	if m.specific {
		row[quality] = strconv.Itoa(m.shape.quality(k.text))
	}
	row[status] = pausedOf(d, 20)
	made := Keyword{Text: k.text, Match: k.match}
	made.Quality, _ = strconv.Atoi(row[quality]) // "" is 0
	if d.chance(350) {
		made.Bid = d.uneven(base)
		if k.match == "Exact" {
			made.Bid += made.Bid / 4
		}
		row[maxCPC] = money(made.Bid)
	}
	m.made.Keywords = append(m.made.Keywords, made)
	m.sheet.write()
}

func (m *groupMaker) writeNegative(name, text, criterionType string) {
	if _, err := m.keywords.words.Keyword(text); err != nil || strings.ContainsAny(text[:1], `["`) {
		return
	}
	row := m.begin(name)
	row[keywordText], row[criterion], row[status] = text, criterionType, "Enabled"
	m.sheet.write()
}

// bidOf returns a group's default bid in cents. It grows with the square root of the price, and is about 30 without a
// price.
func bidOf(d dice, it *item) int {
	median := 30
	if it.cents > 0 {
		median = 10 + squareRoot(it.cents)
	}
	return min(d.uneven(median), 5000)
}

func squareRoot(n int) int {
	r := 0
	for (r+1)*(r+1) <= n {
		r++
	}
	return r
}

// money returns cents as an amount in units.
func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

func pausedOf(d dice, permille int) string {
	if d.chance(permille) {
		return "Paused"
	}
	return "Enabled"
}
