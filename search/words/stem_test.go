package words

import "testing"

// TestStemCzech pins stems: if any of them changes, Version must change.
func TestStemCzech(t *testing.T) {
	for _, tt := range [][2]string{
		{"kolo", "kol"}, {"kola", "kol"}, {"kolu", "kol"}, {"kolem", "kol"}, {"kolech", "kol"}, {"koly", "kol"},
		{"kol", "kol"}, {"hracka", "hrack"}, {"hracky", "hrack"}, {"hracce", "hrack"}, {"hracek", "hrack"},
		{"hrackou", "hrack"}, {"hrackami", "hrack"}, {"okno", "okn"}, {"okna", "okn"}, {"oken", "okn"}, {"oknech", "okn"},
		{"oknum", "okn"}, {"plastova", "plastov"}, {"plastove", "plastov"}, {"plastovych", "plastov"},
		{"plastovymi", "plastov"}, {"plastoveho", "plastov"}, {"levny", "levn"}, {"levna", "levn"}, {"levne", "levn"},
		{"levnych", "levn"}, {"levnymi", "levn"}, {"levneho", "levn"}, {"levnemu", "levn"}, {"kniha", "knih"},
		{"knihy", "knih"}, {"knize", "knih"}, {"knih", "knih"}, {"knihou", "knih"}, {"ruka", "ruk"}, {"ruce", "ruk"},
		{"rukou", "ruk"}, {"rukama", "rukam"}, {"noha", "noh"}, {"noze", "noh"}, {"praha", "prah"}, {"praze", "prah"},
		{"prahu", "prah"}, {"telefon", "telefon"}, {"telefony", "telefon"}, {"telefonu", "telefon"},
		{"telefonem", "telefon"}, {"telefonech", "telefon"}, {"pocitac", "pocitak"}, {"pocitace", "pocitak"},
		{"pocitacu", "pocitak"}, {"pocitacem", "pocitak"}, {"pocitacich", "pocitak"}, {"boty", "bot"}, {"bot", "bot"},
		{"botach", "bot"}, {"detske", "detsk"}, {"detska", "detsk"}, {"detsky", "detsk"}, {"detskych", "detsk"},
		{"barva", "barv"}, {"barvy", "barv"}, {"barev", "barv"}, {"sluzba", "sluzb"}, {"sluzeb", "sluzb"},
		{"sluzbami", "sluzb"}, {"letadlo", "letadl"}, {"letadel", "letadl"}, {"automat", "automat"}, {"automaty", "automat"},
		{"adresa", "adres"}, {"adres", "adres"}, {"autobus", "autobus"}, {"autobusy", "autobus"}, {"internet", "internet"},
		{"kongres", "kongres"}, {"debata", "debat"}, {"bankomat", "bankomat"}, {"dreveny", "drevn"}, {"drevene", "drevn"},
		{"drevenych", "drevn"}, {"kozena", "kozn"}, {"kozenou", "kozn"}, {"panove", "panov"}, {"panovi", "pan"},
		{"panum", "pan"}, {"otcuv", "otk"}, {"chlapec", "chlapk"}, {"chlapce", "chlapk"}, {"vlk", "vlk"}, {"vlci", "vlk"},
		{"byt", "byt"}, {"byty", "byt"}, {"bytu", "byt"}, {"dum", "dum"}, {"domu", "dom"}, {"auto", "aut"}, {"auta", "aut"},
		{"aut", "aut"}, {"autem", "aut"}, {"nabytek", "nabytk"}, {"nabytku", "nabytk"}, {"zena", "zen"}, {"zen", "zen"},
		{"zeny", "zen"}, {"ruze", "ruh"}, {"ruzi", "ruh"}, {"more", "mor"}, {"mori", "mor"}, {"morem", "mor"},
		{"usb", "usb"}, {"k", "k"}, {"42", "42"}, {"a1", "a1"}, {"ze", "ze"}, {"led", "led"}, {"noc", "nok"},
		{"noci", "nok"}, {"한국", "한국"}, {"ось", "ось"},
		{"100a", "100a"}, {"2x4", "2x4"}, {"", ""},
	} {
		if got := stemCzech(tt[0]); got != tt[1] {
			t.Errorf("stemCzech(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}

// TestStemEnglish pins stems of the module's English stemmer.
func TestStemEnglish(t *testing.T) {
	for _, tt := range [][2]string{
		{"cables", "cabl"}, {"cable", "cabl"}, {"running", "run"}, {"runs", "run"}, {"shoes", "shoe"},
		{"batteries", "batteri"}, {"battery", "batteri"}, {"skis", "ski"}, {"skies", "sky"}, {"news", "news"},
		{"wireless", "wireless"}, {"headphones", "headphon"}, {"headphone", "headphon"}, {"cheaper", "cheaper"},
		{"generously", "generous"}, {"national", "nation"}, {"usb", "usb"}, {"4k", "4k"}, {"yes", "yes"},
		{"", ""}, {"a", "a"}, {"한국", "한국"},
	} {
		if got := stemmerOf("en").stem(tt[0]); got != tt[1] {
			t.Errorf("stem(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}

func TestStem(t *testing.T) {
	for _, tt := range []struct {
		language, word, stem string
		ok                   bool
	}{
		{"cs", "boty", "bot", true}, {"en", "boots", "boot", true},
		{"pl", "stiefel", "stiefel", false}, {"", "boots", "boots", false},
	} {
		if stem, ok := Stem(tt.language, tt.word); stem != tt.stem || ok != tt.ok {
			t.Errorf("Stem(%q, %q) = %q, %v; want %q, %v", tt.language, tt.word, stem, ok, tt.stem, tt.ok)
		}
	}
	for _, l := range Stemmed() {
		if _, ok := Stem(l, "x"); !ok || !HasStemmer(l) {
			t.Errorf("no stemmer for %q", l)
		}
	}
	if TermOf("pl", "boots") != Term("", "boots") || TermOf("en", "boots") != Term("en", "boot") {
		t.Error("TermOf is not the term of the stem")
	}
}
