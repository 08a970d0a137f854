package words

import "strings"

// czechVariant is a stemmer that was compared with the one in use.
type czechVariant struct {
	name string
	stem func(string) string
}

// publishedEndings are the endings of the published light stemmer. foldedEndings are the same ones,
// folded. chosenEndings are those of the stemmer in use.
const (
	publishedEndings = "atech ětem etem atům ech ich ích ého ěmi emi ému ete ěte ěti eti ího iho ími ímu imu " +
		"ách ata aty ých ama ami ové ovi ými em es ém ím ům at ám os us ým mi ou a e i o u ů y á é í ý ě"
	foldedEndings = "atech etem atum ech ich eho emi emu ete eti iho imi imu ach ata aty ych ama ami ove ovi ymi " +
		"em es im um at am os us ym mi ou a e i o u y"
	chosenEndings = "a e i o u y am em im um ym ou uv ach ech ich ych ami emi imi ymi ima yma eho iho emu imu ovi"
)

// czechVariants returns the steps from the published stemmer to the one in use.
func czechVariants() []czechVariant {
	folded, chosen := variant{endings: fields(foldedEndings)}, variant{endings: fields(chosenEndings)}
	with := func(v variant, change func(*variant)) func(string) string {
		change(&v)
		return v.stem
	}
	published := func(v *variant) { v.possessive, v.fleeting, v.soft = "ov in uv", "any", "published" }
	used := func(v *variant) { v.fleeting, v.soft = "bcklnrv", "cz" }
	return []czechVariant{
		{"no stemmer", func(w string) string { return w }},
		{"published, diacritics in its tables", variant{endings: fields(publishedEndings), possessive: "ov in", soft: "published, unfolded"}.stem},
		{"published, tables folded", with(folded, published)},
		{"published endings folded, nothing else", folded.stem},
		{"these endings, nothing else", chosen.stem},
		{"these endings, published rest", with(chosen, published)},
		{"this one", stemCzech},
		{"this one, put together", with(chosen, used)},
		{"this one with -ove", with(chosen, func(v *variant) { used(v); v.endings = fields(chosenEndings + " ove") })},
		{"this one with -at -ata -aty", with(chosen, func(v *variant) { used(v); v.endings = fields(chosenEndings + " at ata aty") })},
		{"this one with -es -os -us", with(chosen, func(v *variant) { used(v); v.endings = fields(chosenEndings + " es os us") })},
		{"this one without e, n", with(chosen, func(v *variant) { used(v); v.fleeting = "bcklrv" })},
		{"this one without fleeting e", with(chosen, func(v *variant) { used(v); v.fleeting = "" })},
		{"this one without z to h", with(chosen, func(v *variant) { used(v); v.soft = "c" })},
		{"this one with stems of 2", with(chosen, func(v *variant) { used(v); v.least = 2 })},
		{"this one with stems of 4", with(chosen, func(v *variant) { used(v); v.least = 4 })},
	}
}

// variant is a light stemmer whose parts can be chosen.
type variant struct {
	endings    map[string]bool
	possessive string // endings cut after the case ending
	fleeting   string // letters before which an e is dropped, or "any"
	soft       string // final letters that are levelled: c to k, z to h
	least      int    // smallest number of letters in a stem; 0 means 3
}

func fields(s string) map[string]bool {
	m := make(map[string]bool)
	for _, f := range strings.Fields(s) {
		m[f] = true
	}
	return m
}

func (v variant) stem(w string) string {
	least := v.least
	if least == 0 {
		least = 3
	}
	for i := least; i < len(w); i++ {
		if v.endings[w[i:]] {
			w = w[:i]
			break
		}
	}
	if len(w) >= 6 && v.possessive != "" && strings.Contains(v.possessive, w[len(w)-2:]) {
		w = w[:len(w)-2]
	}
	if strings.HasPrefix(v.soft, "published") {
		return publishedEnd(w, v.soft == "published")
	}
	n := len(w)
	if n > 3 && w[n-2] == 'e' && strings.IndexByte(v.fleeting, w[n-1]) >= 0 && strings.IndexByte("aeiouy", w[n-3]) < 0 {
		w = w[:n-2] + w[n-1:]
	}
	if n = len(w); n > 2 && strings.IndexByte(v.soft, w[n-1]) >= 0 {
		w = w[:n-1] + map[byte]string{'c': "k", 'z': "h"}[w[n-1]]
	}
	return w
}

// publishedEnd levels a stem's end as published. If folded, it treats ct and st like čt and št.
func publishedEnd(w string, folded bool) string {
	n := len(w)
	switch {
	case n < 2:
		return w
	case folded && strings.HasSuffix(w, "ct"):
		return w[:n-2] + "ck"
	case folded && strings.HasSuffix(w, "st"):
		return w[:n-2] + "sk"
	case w[n-1] == 'c':
		return w[:n-1] + "k"
	case w[n-1] == 'z':
		return w[:n-1] + "h"
	case w[n-2] == 'e':
		return w[:n-2] + w[n-1:]
	}
	return w
}
