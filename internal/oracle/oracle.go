package oracle

import (
	"fmt"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
)

// Thesaurus provides synonyms; *words.Lexicon is one.
type Thesaurus interface {
	// Synonyms returns the folded forms of the synonyms of a folded form.
	Synonyms(language, folded string) []string
}

// Oracle holds all data, analysed. Only one goroutine may use it at a time.
type Oracle struct {
	keywords []keyword
	// words are the distinct words of all keywords.
	words []*word
	in    []string // codes of the languages in which words have stems
}

// Request is a search with all its parameters.
type Request struct {
	Text      string
	Profile   search.Profile // not capped at Variants
	Device    search.Device
	Slots     int
	Variants  search.Level
	Reserve   uint64 // micros
	RequestID string
	Context   *Context // nil if targeting is ignored
	Scorer    *Model   // needs a Context; nil if there is none
	// Vocabulary is the number of keywords that have a word, by folded form, with which Variants of search.Misspelt
	// correct words (Count).
	Vocabulary map[string]int
	// Languages are those in which words have stems: the same for all requests to an oracle.
	Languages words.Languages
}

// keyword is a keyword with everything that its verdict depends on.
type keyword struct {
	*backend.Keyword
	words      []*word
	item       *backend.Item
	campaign   *backend.Campaign
	advertiser *backend.Advertiser
	languages  []int // indexes of word.agree
	// negatives are the enabled negatives of the group, then of the campaign, then of the advertiser.
	negatives []*negative
}

// negative is a negative keyword as the units of its words.
type negative struct {
	*backend.Negative
	words [][]string
}

// New analyses the data; words have stems in the default languages. A nil thesaurus means no synonyms. It returns an
// error if words.Keyword rejects a text or a parent is missing.
func New(advertisers []*backend.Advertiser, campaigns []*backend.Campaign, items []*backend.Item, thesaurus Thesaurus) (*Oracle, error) {
	return NewIn(words.Default, advertisers, campaigns, items, thesaurus)
}

// NewIn is New for words that have stems in some languages.
func NewIn(in words.Languages, advertisers []*backend.Advertiser, campaigns []*backend.Campaign, items []*backend.Item, thesaurus Thesaurus) (*Oracle, error) {
	b := builder{
		oracle:      Oracle{in: in.Codes()},
		thesaurus:   thesaurus,
		words:       map[string]*word{},
		advertisers: map[uint64]*backend.Advertiser{},
		campaigns:   map[uint64]*backend.Campaign{},
		inherited:   map[uint64][]*negative{},
	}
	ofAdvertisers := map[uint64][]*negative{}
	for _, a := range advertisers {
		b.advertisers[a.ID] = a
		list, err := analyseNegatives(a.Negatives)
		if err != nil {
			return nil, err
		}
		ofAdvertisers[a.ID] = list
	}
	for _, c := range campaigns {
		b.campaigns[c.ID] = c
		list, err := analyseNegatives(c.Negatives)
		if err != nil {
			return nil, err
		}
		b.inherited[c.ID] = append(list, ofAdvertisers[c.AdvertiserID]...)
	}
	for _, it := range items {
		if err := b.add(it); err != nil {
			return nil, fmt.Errorf("oracle: group %d: %w", it.Group.ID, err)
		}
	}
	return &b.oracle, nil
}

// builder analyses data into an Oracle.
type builder struct {
	oracle      Oracle
	thesaurus   Thesaurus
	words       map[string]*word // by normalised word
	advertisers map[uint64]*backend.Advertiser
	campaigns   map[uint64]*backend.Campaign
	inherited   map[uint64][]*negative // by campaign id: the campaign's own negatives, then its advertiser's
}

func (b *builder) add(it *backend.Item) error {
	c := b.campaigns[it.Group.CampaignID]
	if c == nil {
		return fmt.Errorf("no campaign %d", it.Group.CampaignID)
	}
	a := b.advertisers[c.AdvertiserID]
	if a == nil {
		return fmt.Errorf("no advertiser %d", c.AdvertiserID)
	}
	own, err := analyseNegatives(it.Negatives)
	if err != nil {
		return err
	}
	negatives := append(own, b.inherited[c.ID]...)
	languages := languagesOf(c, b.oracle.in)
	for i := range it.Keywords {
		k := keyword{Keyword: &it.Keywords[i], item: it, campaign: c, advertiser: a, negatives: negatives, languages: languages}
		split, err := words.Keyword(k.Text)
		if err != nil {
			return fmt.Errorf("keyword %d: %w", k.ID, err)
		}
		for _, w := range split {
			k.words = append(k.words, b.word(w))
		}
		b.oracle.keywords = append(b.oracle.keywords, k)
	}
	return nil
}

// word returns the only record of a word.
func (b *builder) word(w words.Word) *word {
	if seen := b.words[w.Normalised]; seen != nil {
		return seen
	}
	n := analyse(w, b.oracle.in, b.thesaurus)
	b.words[w.Normalised] = n
	b.oracle.words = append(b.oracle.words, n)
	return n
}

func analyseNegatives(list []backend.Negative) ([]*negative, error) {
	var out []*negative
	for i := range list {
		if !list[i].Enabled {
			continue
		}
		split, err := words.Keyword(list[i].Text)
		if err != nil {
			return nil, fmt.Errorf("negative %d: %w", list[i].ID, err)
		}
		n := &negative{Negative: &list[i]}
		for _, w := range split {
			n.words = append(n.words, words.AppendUnits(nil, w.Normalised))
		}
		out = append(out, n)
	}
	return out, nil
}
