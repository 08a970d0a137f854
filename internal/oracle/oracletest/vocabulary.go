package oracletest

// vocabulary has frequent words first and more than once.
var vocabulary = []string{
	"cable", "phone", "boty", "light", "cable", "boty", "usb", "lamp", "cafe", "cables", "phones", "bota",
	"caj", "lampa", "telefon", "café", "shoe", "shoes", "run", "running", "čaj", "telephone", "mobil",
	"kabel", "kabely", "kabelů", "kabelu", "běžecké", "bezecke", "běžecká", "botám", "runs", "telefony",
	"cafés", "čaje", "zelený", "zelené", "zelene", "lights", "lampy", "2", "10²", "102", "straße", "strasse",
	"æble", "aeble", "x", "keyboard", "wireless", "headphone",
	"手机", "手机", "手机壳", "手机壳", "壳", "机", "机壳", "壳手机", "ケース", "スマホ", "スマホケース", "らーめん", "めん", "รถ", "สามารถ",
}

// families are groups of words that may agree: spellings that differ only in diacritics, inflected forms in English
// or in Czech (some in only one of the languages), synonyms, letters that fold to two, runs and their parts.
var families = [][]string{
	{"cable", "cables"},
	{"boty", "bota", "botám", "boty"},
	{"kabel", "kabely", "kabelů", "kabelu"},
	{"běžecké", "bezecke", "běžecká", "boty"},
	{"shoe", "shoes", "running"},
	{"run", "running", "runs"},
	{"phone", "phones", "telephone"},
	{"mobil", "telefon", "telefony"},
	{"café", "cafe", "cafés", "caj"},
	{"čaj", "caj", "čaje"},
	{"zelený", "zelené", "zelene"},
	{"light", "lights", "lamp", "lampa"},
	{"lampa", "lampy", "light"},
	{"102", "10²"},
	{"strasse", "straße"},
	{"æble", "aeble"},
	{"手机", "手机壳", "壳手机", "手 机", "x手机壳", "机手"},
	{"手机壳", "手机 壳", "手机", "手机手机壳", "机壳"},
	{"スマホケース", "スマホ ケース", "スマホ", "スマホケース手机"},
	{"らーめん", "めん", "らー・めん"},
	{"รถ", "สามารถ", "รถรถ"},
}

// Pair is a pair of synonyms, as folded forms, in one language.
type Pair struct{ Language, A, B string }

// Synonyms returns pairs of words in the vocabulary, for a lexicon in tests.
func Synonyms() []Pair {
	return []Pair{
		{"en", "phone", "telephone"}, {"en", "light", "lamp"}, {"en", "lamp", "lights"}, {"en", "shoe", "running"}, {"en", "phone", "手机"},
		{"cs", "mobil", "telefon"}, {"cs", "boty", "bezecke"}, {"cs", "lampa", "light"}, {"cs", "caj", "cafe"},
	}
}
