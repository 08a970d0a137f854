package oracletest

// vocabulary: frequent words first and more than once; spellings that differ
// in diacritics only; inflected forms in English and in Czech; words that are
// forms in one of the languages only; synonyms; numbers; letters that fold to
// two.
var vocabulary = []string{
	"usb", "usb", "usb", "cable", "cable", "cables", "boty", "boty", "bota", "botám",
	"kabel", "kabely", "kabelů", "kabelu", "běžecké", "bezecke", "běžecká", "shoe", "shoes",
	"run", "running", "runs", "phone", "phones", "telephone", "mobil", "telefon", "telefony",
	"café", "cafe", "cafés", "čaj", "caj", "čaje", "zelený", "zelené", "zelene",
	"light", "lights", "lamp", "lampa", "lampy", "2", "10²", "102", "straße", "strasse", "æble", "aeble", "x",
}

// Pair is a pair of synonyms, as folded forms, in one language.
type Pair struct{ Language, A, B string }

// Synonyms are pairs among the vocabulary for a lexicon in tests.
func Synonyms() []Pair {
	return []Pair{
		{"en", "phone", "telephone"}, {"en", "light", "lamp"}, {"en", "lamp", "lights"}, {"en", "shoe", "running"},
		{"cs", "mobil", "telefon"}, {"cs", "boty", "bezecke"}, {"cs", "lampa", "light"}, {"cs", "caj", "cafe"},
	}
}
