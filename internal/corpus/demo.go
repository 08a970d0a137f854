package corpus

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nobodies are brands in catalogues that stand for none.
var nobodies = []string{"unknown", "generic", "unbranded", "none", "n/a", "na", "other", "various", "oem", "no brand"}

// nameless reports whether an item has no brand that could advertise.
func (it *item) nameless() bool {
	return slices.Contains(nobodies, strings.ToLower(it.advertiser)) || !strings.ContainsFunc(it.advertiser, unicode.IsLetter)
}

// trades are advertisers for divisions of the vocabulary of public procurement.
var trades = map[string]string{
	"03": "Farm Supplies", "09": "Fuel & Energy", "14": "Metals & Minerals", "15": "Food & Drink", "16": "Farm Machinery",
	"18": "Workwear", "19": "Textiles & Leather", "22": "Print Works", "24": "Chemicals Direct", "30": "Office Equipment",
	"31": "Electrical Supplies", "32": "Telecoms", "33": "Medical Supplies", "34": "Vehicles", "35": "Safety Equipment",
	"37": "Sports & Music", "38": "Laboratory Instruments", "39": "Furnishings", "41": "Water", "42": "Industrial Machinery",
	"43": "Mining Machinery", "44": "Building Materials", "45": "Construction Works", "48": "Software Packages",
	"50": "Repair & Maintenance", "51": "Installation Services", "55": "Hotels & Catering", "60": "Transport Services",
	"63": "Travel & Logistics", "64": "Post & Telephone", "65": "Utilities", "66": "Finance & Insurance", "70": "Property Agents",
	"71": "Architects & Engineers", "72": "IT Services", "73": "Research Services", "75": "Public Services", "76": "Oil & Gas Services",
	"77": "Gardens & Forests", "79": "Business Services", "80": "Training Centre", "85": "Health Care", "90": "Waste & Environment",
	"92": "Culture & Recreation", "98": "Community Services",
}

// demoNames returns the advertiser and the campaign of an item in a round of a demo. In each round after the first another advertiser
// sells the same titles.
func (it *item) demoNames(round int) (account, campaign string) {
	account, campaign = it.advertiser, it.campaign
	if division, ok := strings.CutPrefix(account, "cpv-"); ok {
		if account, ok = trades[division]; !ok {
			account = "Trade Supplies"
		}
		campaign = map[string]string{"cs": "Czech", "en": "English"}[campaign]
	}
	if round > 0 {
		at := hashOf(account) + uint64(round)
		account += " " + places[at%uint64(len(places))]
	}
	first, size := utf8.DecodeRuneInString(campaign)
	return account, string(unicode.ToUpper(first)) + campaign[size:]
}

// typed makes a query of a demo: the first words of a title, which name what it is. It returns "" for a title of other things than words.
func (m *queryMaker) typed(d dice) string {
	it := &m.corpus.items[pick(d, m.items)]
	tokens := tokensOf(it.title)
	tokens = tokens[:min(len(tokens), 2+d.IntN(3))]
	for len(tokens) > 0 && stopWord(tokens[len(tokens)-1]) {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 || it.nameless() {
		return ""
	}
	text := strings.ToLower(strings.Join(tokens, " "))
	if d.chance(100) {
		text = askedFor(d, it, text)
	}
	return text
}
