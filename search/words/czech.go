package words

import "strings"

// czechVersion changes with every change of a Czech stem.
const czechVersion = "light 1"

// czechEnding is a group of endings that are cut from words of at least min
// letters; longer endings stand first.
type czechEnding struct {
	min     int
	endings []string
}

var czechCases = []czechEnding{
	{8, []string{"atech"}},
	{7, []string{"etem", "atum"}},
	{6, []string{"ech", "ich", "eho", "emi", "emu", "ete", "eti", "iho", "imi", "imu", "ach", "ata", "aty", "ych", "ama", "ami", "ove", "ovi", "ymi"}},
	{5, []string{"em", "es", "im", "um", "at", "am", "os", "us", "ym", "mi", "ou"}},
	{4, []string{"a", "e", "i", "o", "u", "y"}},
}

// stemCzech is the light stemmer of Dolamic and Savoy, "Indexing and stemming
// approaches for the Czech language" (Information Processing and Management
// 45, 2009), for folded text.
func stemCzech(w string) string {
	w = cutCzechCase(w)
	return w
}

func cutCzechCase(w string) string {
	for _, g := range czechCases {
		if len(w) < g.min {
			continue
		}
		for _, e := range g.endings {
			if strings.HasSuffix(w, e) {
				return w[:len(w)-len(e)]
			}
		}
	}
	return w
}
