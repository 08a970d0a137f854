package corpus

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a responsive search ad's texts, in characters.
const (
	headlineRunes    = 30
	descriptionRunes = 90
	pathRunes        = 15
)

var (
	claims = [...]string{"Free delivery from $50", "In stock, ships today", "30-day returns", "Official store",
		"Save up to 20 %", "Compare prices", "Trusted since 1998", "New season, new offers"}
	claimsCs = [...]string{"Doprava zdarma od 999 Kč", "Skladem, ihned k odeslání", "Vrácení do 30 dnů", "Oficiální prodejce",
		"Ušetřete až 20 %", "Porovnejte ceny", "Na trhu od roku 1998", "Nová sezóna, nové nabídky"}
	offers = [...]string{"Order today and get it tomorrow.", "See the whole range and reviews of customers.",
		"Ask our experts, we answer within an hour.", "Low prices, large stock, safe payment."}
	offersCs = [...]string{"Objednejte dnes, zítra máte doma.", "Celá nabídka a recenze zákazníků.",
		"Poradíme vám do hodiny.", "Nízké ceny, velký sklad, bezpečná platba."}
)

// writeAds writes one responsive search ad, or two for a third of the groups.
func (m *groupMaker) writeAds(it *item, name, title string, number int) {
	d := m.shape.dice
	ads := 1
	if d.chance(300) {
		ads = 2
	}
	claim, offer := claims[:], offers[:]
	if it.czech {
		claim, offer = claimsCs[:], offersCs[:]
	}
	for ad := range ads {
		row := m.begin(name)
		row[adType] = "Responsive search ad"
		row[headline1] = clip(title, headlineRunes)
		row[headline2] = clip(m.account, headlineRunes)
		first := d.IntN(len(claim))
		for i := range 1 + d.IntN(3) {
			row[headline3+cellOf(i)] = clip(claim[(first+i)%len(claim)], headlineRunes)
		}
		row[description1] = clip(title, descriptionRunes)
		if it.text != "" && ad == 0 {
			row[description1] = clip(it.text, descriptionRunes)
		}
		row[description2] = pick(d, offer)
		row[path1] = clip(slug(it.campaign), pathRunes)
		if d.chance(500) {
			row[path2] = clip(slug(title), pathRunes)
		}
		row[finalURL] = fmt.Sprintf("https://%s.example/%s/%d", slug(m.account), slug(it.campaign), number)
		row[status] = pausedOf(d, 20)
		m.sheet.write()
	}
}

// clip shortens a text to n characters, at a space if there is one.
func clip(text string, n int) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := string([]rune(text)[:n])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimSpace(cut)
}

// slug returns a text in a form for a host or path.
func slug(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(unicode.ToLower(r))
		case b.Len() > 0 && b.String()[b.Len()-1] != '-':
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "shop"
}
